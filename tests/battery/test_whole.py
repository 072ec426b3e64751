"""The whole algorithm: exact on planted circuits, beaten by the rival where the rival was planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from battery.plants import SMALL, outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import MB, SGN, ST, SV, Variable
from carrylens.battery.alignment import Moved, predict, random_pairs, sites_of
from carrylens.battery.outcome import Outcome
from carrylens.battery.scrubbing import agreeing, claimed_circuit, claimed_sites, freedom
from carrylens.battery.subject import Subject
from carrylens.discovery.node_map import NodeMap, Role
from carrylens.discovery.swaps import answer_tokens
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict
from carrylens.planted.dials import Dials, describe, one_layer
from carrylens.planted.plant import plant


def held(outcome: Outcome, site: str) -> str:
    return next(row[1] for row in outcome.rows if row[0] == site)


FEW = replace(SMALL, n_draws=8)


def true_map(operation: Operation, moved: int = 0) -> Subject:
    """A plant of two digits with a map that never errs; if `moved`, every variable is called that of another column."""
    planted = plant(describe(operation, 2))
    hit, none = Rate(9, 9), Rate(0, 9)

    def called(variable: Variable) -> Variable:
        return variable if variable.digit is None else Variable(variable.name, (variable.digit + moved) % 2)

    roles = [
        Role(tuple(sorted(group.nodes)), called(group.variable), 1, hit, none, 0.0) for group in planted.truth.groups
    ]
    found = NodeMap("planted", operation, 2, 2, planted.model.config.n_heads, (), roles)
    return Subject("planted", planted.model, operation, found)


def test_a_planted_algorithm_predicts_every_answer() -> None:
    outcome = outcome_of("whole-algorithm", planted_subject(Operation.SUB, 2), FEW)
    assert outcome.verdict is Verdict.SUPPORTED
    assert outcome.facts[0].effect.value == 1
    assert outcome.facts[0].null.value < 0.5
    assert held(outcome, "D'0") == "MB[0], NB[0]"


def test_values_held_a_place_late_are_found_there() -> None:
    outcome = outcome_of("whole-algorithm", planted_subject(Operation.ADD, 2, Dials(delay=1)), FEW)
    assert outcome.facts[0].effect.value == 1
    assert held(outcome, "D'0") == "ST[1]"


def test_scrubbing_keeps_the_answer_and_scrambling_loses_it() -> None:
    scrubbed = outcome_of("whole-algorithm", planted_subject(Operation.ADD, 2), FEW).facts[-1]
    assert scrubbed.effect.value == 1
    assert scrubbed.null.value < 0.2


def test_the_circuit_of_a_true_map_explains_all_and_random_roles_do_not() -> None:
    outcome = outcome_of("whole-algorithm", true_map(Operation.SUB), FEW)
    assert outcome.verdict is Verdict.SUPPORTED
    claimed = [fact for fact in outcome.facts if "claimed" in fact.about]
    assert {fact.about["rest"] for fact in claimed} == {"computes on", "is resampled"}
    assert all(fact.effect.value == 1 and fact.null.value < 0.6 for fact in claimed)
    assert all(each.low == 1 and each.null_high < 0.6 for each in outcome.estimates)


def test_the_circuit_of_a_false_map_explains_little() -> None:
    outcome = outcome_of("whole-algorithm", true_map(Operation.SUB, moved=1), FEW)
    assert all(each.high < 0.6 for each in outcome.estimates)
    by_map = next(fact for fact in outcome.facts if "as the map says" in str(fact.about.get("account")))
    assert by_map.effect.value < 0.6


def test_only_claimed_nodes_are_swapped_and_the_rest_is_all_else_but_the_last_mlps() -> None:
    subject, alone = true_map(Operation.ADD), planted_subject(Operation.ADD, 2)
    claimed = claimed_circuit(subject, algorithm(Operation.ADD, 2))
    assert claimed is not None
    taken = {node for site in claimed.labels for node in site.nodes}
    left = set(subject.nodes) - taken - set(claimed.rest)
    assert left == {node for node in subject.nodes if node.is_mlp and node.layer == 1}
    assert {node for site in claimed_sites(subject) for node in site.nodes} < {
        node for site in sites_of(subject) for node in site.nodes
    }
    assert claimed_sites(alone) == sites_of(alone)
    assert claimed_circuit(alone, algorithm(Operation.ADD, 2)) is None


def test_sources_agree_in_what_is_held_and_in_little_else() -> None:
    model = algorithm(Operation.MIX, 4)
    base = Stream(StreamKind.ENRICHED, Operation.MIX, 4, 7).take(0, 80)
    labels = [(ST[2], MB[2]), (SV[3], SGN), ()]
    sources = agreeing(model, labels, base, seed=5)
    own = model.run(base)
    for label, source in zip(labels, sources, strict=True):
        values = model.run(source)
        assert np.array_equal(source.minus, base.minus)
        for variable in label:
            spoken = base.minus if variable == MB[2] else ~base.minus if variable in (ST[2], SV[3]) else ...
            assert np.array_equal(values[variable][spoken], own[variable][spoken])
        assert freedom(base, [source]) > 0.7


def test_without_a_map_it_says_so() -> None:
    assert "no map" in outcome_of("whole-algorithm", planted_subject(Operation.ADD, 2), FEW).says


def test_a_planted_rival_beats_the_left_to_right_account() -> None:
    outcome = outcome_of("whole-algorithm", subject_of(one_layer(3)), FEW)
    assert outcome.verdict is Verdict.REFUTED
    duel = next(fact for fact in outcome.facts if fact.about.get("against") == "one-layer add")
    assert duel.null.hits == duel.effect.n
    assert duel.effect.hits == 0


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("whole-algorithm", untrained_subject(Operation.ADD, 2), FEW).verdict is Verdict.UNTESTED


def test_a_site_that_holds_nothing_predicts_the_right_answer() -> None:
    subject = planted_subject(Operation.ADD, 2)
    model = algorithm(Operation.ADD, 2)
    base, (source,) = random_pairs(Operation.ADD, 2, 16, 1, seed=4)
    moved = [Moved(sites_of(subject)[0], (), model.run(source))]
    assert np.array_equal(predict(model, base, model.run(base), moved), answer_tokens(base))
