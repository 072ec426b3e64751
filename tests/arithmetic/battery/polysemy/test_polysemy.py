"""Polysemy: planted heads of one family serve one branch, the MLP they share serves all.

Where all families share their fetching heads, most nodes serve several branches; else most serve one. Insertion is
tested with plants put into plants.
"""

from __future__ import annotations

from dataclasses import replace

from arithmetic.battery.plants import SMALL, arithmetic_map, outcome_of, planted_subject, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.fresh_outcomes import full_settings
from carrylens.arithmetic.battery.polysemy.measure import inserted_node
from carrylens.arithmetic.battery.polysemy.served_branches import shuffled_several
from carrylens.arithmetic.battery.polysemy.summarise import FROM_SCRATCH, INSERTED_SERVE, judge_several
from carrylens.arithmetic.battery.registry import experiments_called
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import InsertedModel, Subject
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.planted.dials import Dials
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.rates import Rate
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node


def test_planted_heads_serve_one_branch_and_shared_ones_all() -> None:
    apart = outcome_of("polysemy", planted_subject(Operation.MIX, 2))
    shared = outcome_of("polysemy", planted_subject(Operation.MIX, 2, Dials(polysemy=True)))
    serves = [{row[0]: row[1] for row in outcome.rows} for outcome in (apart, shared)]
    assert [serves[0][f"P7L0H{head}"] for head in range(3)] == ["S", "M", "N"]
    assert serves[0]["P7L0MLP"] == serves[0]["P7L1MLP"] == "SMN"
    assert serves[1]["P7L0H0"] == "SMN"
    assert apart.verdict is not Verdict.SUPPORTED
    assert not any(INSERTED_SERVE in fact.about for fact in apart.facts)


def test_most_nodes_serve_several_branches_where_heads_are_shared_and_one_where_they_are_not() -> None:
    shared = outcome_of("polysemy", planted_subject(Operation.MIX, 4, Dials(polysemy=True, sharing=True)))
    assert shared.verdict is Verdict.SUPPORTED
    assert outcome_of("polysemy", planted_subject(Operation.MIX, 4)).verdict is Verdict.REFUTED


def test_nodes_that_nobody_reads_serve_nothing() -> None:
    outcome = outcome_of("polysemy", planted_subject(Operation.MIX, 2))
    assert not any(row[0].startswith(("P0", "P1L", "P2")) for row in outcome.rows)


def test_the_verdict_is_right_on_counts() -> None:
    assert judge_several(Rate(36, 40), Rate(80, 400)) is Verdict.SUPPORTED
    assert judge_several(Rate(36, 40), Rate(360, 400)) is Verdict.INCONCLUSIVE
    assert judge_several(Rate(4, 40), Rate(10, 400)) is Verdict.REFUTED
    assert judge_several(Rate(0, 0), Rate(0, 0)) is Verdict.UNTESTED


def test_shuffling_parts_what_came_together() -> None:
    subject = planted_subject(Operation.MIX, 2)
    heads = [node for node in subject.nodes if node.layer == 0 and not node.is_mlp and node.position < 5][:3]
    together = dict.fromkeys(heads, frozenset(Branch))
    assert shuffled_several(together, ExperimentContext(subject, replace(SMALL, n_draws=50))).value < 0.7


def test_an_inserted_plant_serves_what_it_served_and_stands_beside_one_from_scratch() -> None:
    mixed, adds = planted_subject(Operation.MIX, 2), planted_subject(Operation.ADD, 2)
    scratch = planted_subject(Operation.MIX, 2, Dials(polysemy=True))
    put = InsertedModel("add", adds.model, scratch=scratch)
    outcome = outcome_of("polysemy", Subject("ins", mixed.model, Operation.MIX, None, put))
    found = {
        (fact.about[INSERTED_SERVE], str(fact.about["null"]).endswith(FROM_SCRATCH)): fact
        for fact in outcome.facts
        if INSERTED_SERVE in fact.about
    }
    assert found["add", True].effect.value > 0.9
    assert found["add", False].null.value > 0.9  # the addition model itself
    assert found["negative", True].effect.value < 0.7
    # In the model from scratch the same nodes fetch for all families.
    assert found["negative", True].null.value > found["negative", True].effect.value
    assert ("negative", False) not in found
    assert scratch.name in str(found["negative", True].about["null"])
    assert [each.agrees for each in outcome.beside_paper] == [None] * 6  # the paper's table is of 6 digits


def test_without_a_model_from_scratch_only_the_addition_model_stands_beside() -> None:
    mixed, adds = planted_subject(Operation.MIX, 2), planted_subject(Operation.ADD, 2)
    outcome = outcome_of("polysemy", Subject("ins", mixed.model, Operation.MIX, None, InsertedModel("add", adds.model)))
    branches = [fact.about[key] for fact in outcome.facts for key in fact.about if key == INSERTED_SERVE]
    assert branches == ["add"]


def test_a_model_put_in_late_has_its_nodes_moved() -> None:
    big, small = (Transformer(config_of_width(2, n, n + 1, width=24, seed=1)) for n in (3, 2))
    early, late = (
        Subject("ins", big, Operation.MIX, None, InsertedModel("add", small, late)) for late in (False, True)
    )
    assert inserted_node(Node(4, 1, 2), early) == Node(4, 1, 2)
    assert inserted_node(Node(4, 1, 2), late) == Node(4, 2, 3)
    assert inserted_node(Node(4, 0, None), late) == Node(4, 1, None)


def test_the_map_is_not_read_so_a_new_one_leaves_the_outcome_as_it_is() -> None:
    (experiment,) = experiments_called("polysemy")
    subject = untrained_subject(Operation.MIX)
    mapped = replace(subject, map=arithmetic_map("untrained", Operation.MIX, (3, 2, 3)))
    assert full_settings(experiment, ExperimentContext(mapped, SMALL)) == full_settings(
        experiment, ExperimentContext(subject, SMALL)
    )


def test_untrained_weights_and_models_that_only_add_are_not_tested() -> None:
    assert outcome_of("polysemy", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED
    assert outcome_of("polysemy", planted_subject(Operation.ADD, 2)).verdict is Verdict.UNTESTED


def test_in_untrained_weights_no_node_serves_anything() -> None:
    outcome = outcome_of("polysemy", ungated_subject(Operation.MIX))
    assert not outcome.rows
    assert not any(fact.effect.hits for fact in outcome.facts)
