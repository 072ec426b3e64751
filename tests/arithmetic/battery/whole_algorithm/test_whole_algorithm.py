"""The whole algorithm: exact on planted circuits, beaten by the rival where the rival was planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arithmetic.battery.plants import SMALL, arithmetic_map, outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.whole_algorithm.agreeing_sources import agreeing_sources, freedom
from carrylens.arithmetic.battery.whole_algorithm.alignment import MovedSite, align_hypotheses, predict
from carrylens.arithmetic.battery.whole_algorithm.disambiguation import judge_disambiguations
from carrylens.arithmetic.battery.whole_algorithm.interchange_sites import all_sites
from carrylens.arithmetic.battery.whole_algorithm.intervention_rows import (
    predict_each,
    random_interventions,
    random_pairs,
)
from carrylens.arithmetic.battery.whole_algorithm.measure import MAP_HYPOTHESIS
from carrylens.arithmetic.battery.whole_algorithm.scrubbing import claimed_circuit, claimed_sites
from carrylens.arithmetic.hypotheses import rival_algorithms
from carrylens.arithmetic.planted.dials import Dials, describe, one_layer
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.rivals import one_layer as one_layer_algorithm
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.arithmetic.variables import MB, OPR, SGN, ST, SV, A
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.node_map import Role
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.tasks.variables import Variable

NINE = one_layer_algorithm(2, sum_nine=True).name


def held(outcome: Outcome, site: str) -> str:
    return next(row[1] for row in outcome.rows if row[0] == site)


FEW = replace(SMALL, n_draws=8)


def true_map(operation: Operation, moved: int = 0, operator: Variable | None = OPR) -> Subject:
    """A plant of two digits with a map that never errs; if `moved`, every variable is called that of another column.

    The operator is called `operator`, and its roles are left out where that is None.
    """
    planted = plant(describe(operation, 2))
    hit, none = Rate(9, 9), Rate(0, 9)

    def called(variable: Variable) -> Variable:
        if variable == OPR and operator is not None:
            return operator
        return variable if variable.index is None else Variable(variable.name, (variable.index + moved) % 2)

    roles = [
        Role(tuple(sorted(group.nodes)), called(group.variable), 1, hit, none, 0.0)
        for group in planted.truth.groups
        if group.variable != OPR or operator is not None
    ]
    found = arithmetic_map("planted", operation, (2, 2, planted.model.config.n_heads), (), roles)
    return Subject("planted", planted.model, operation, found)


def disambiguation_of(outcome: Outcome, rival: str) -> Fact:
    return next(fact for fact in outcome.facts if fact.about.get("against") == rival)


def compared(ours: int, theirs: int, n: int) -> Fact:
    return Fact("duel", {}, Rate(ours, n), Rate(theirs, n))


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
    by_map = next(fact for fact in outcome.facts if fact.about.get("account") == MAP_HYPOTHESIS)
    assert by_map.effect.value < 0.6


def test_only_claimed_nodes_are_interchanged_and_the_rest_is_all_else_but_the_last_mlps() -> None:
    subject, alone = true_map(Operation.ADD), planted_subject(Operation.ADD, 2)
    claimed = claimed_circuit(subject, algorithm(Operation.ADD, 2))
    assert claimed is not None
    taken = {node for site in claimed.labels for node in site.nodes}
    left = set(subject.nodes) - taken - set(claimed.rest)
    assert left == {node for node in subject.nodes if node.is_mlp and node.layer == 1}
    assert {node for site in claimed_sites(subject) for node in site.nodes} < {
        node for site in all_sites(subject) for node in site.nodes
    }
    assert claimed_sites(alone) == all_sites(alone)
    assert claimed_circuit(alone, algorithm(Operation.ADD, 2)) is None


def test_sources_agree_in_what_is_held_and_in_little_else() -> None:
    model = algorithm(Operation.MIX, 4)
    base = Population(PopulationKind.ENRICHED, Operation.MIX, 4).draw(7, 0, 80)
    labels = [(ST[2], MB[2]), (SV[3], SGN), ()]
    sources = agreeing_sources(model, labels, base, seed=5)
    own = model.run(base)
    for label, source in zip(labels, sources, strict=True):
        values = model.run(source)
        assert np.array_equal(source.minus, base.minus)
        for variable in label:
            spoken = base.minus if variable == MB[2] else ~base.minus if variable in (ST[2], SV[3]) else ...
            assert np.array_equal(values[variable][spoken], own[variable][spoken])
        assert freedom(base, [source]) > 0.7


def test_half_of_the_sources_have_the_other_operator_where_a_label_does_not_forbid_it() -> None:
    model = algorithm(Operation.MIX, 4)
    base = Population(PopulationKind.ENRICHED, Operation.MIX, 4).draw(7, 0, 200)
    labels = [(ST[2], MB[2]), (OPR, ST[2]), (SGN, A[0]), (ST[2],)]
    sources = agreeing_sources(model, labels, base, seed=5, turn=[True, True, True, False])
    own, turned = model.run(base), [source.minus != base.minus for source in sources]
    assert 70 < turned[0].sum() < 130
    assert not turned[1].any()
    assert turned[2].any()
    assert not turned[3].any()
    for label, source in zip(labels, sources, strict=True):
        values = model.run(source)
        for variable in label:  # what the base's operation reads must agree, whatever the source's is
            spoken = base.minus if variable == MB[2] else ~base.minus if variable == ST[2] else ...
            assert np.array_equal(values[variable][spoken], own[variable][spoken])


def test_the_operator_is_at_stake_in_the_circuit_of_a_mixed_map_and_a_true_one_keeps_all() -> None:
    outcome = outcome_of("whole-algorithm", true_map(Operation.MIX), FEW)
    claimed = [fact for fact in outcome.facts if "claimed" in fact.about]
    assert all(fact.effect.value == 1 and fact.null.value < 0.3 for fact in claimed)
    turned = [int(str(fact.about["other operator"])) for fact in claimed]
    assert min(turned[:3]) > 100
    assert turned[3:] == [0, 0, 0]


def test_a_map_that_is_silent_about_the_operator_or_calls_it_by_another_name_explains_less() -> None:
    silent, wrong = (true_map(Operation.MIX, operator=called) for called in (None, SGN))
    computes_on, resampled, *same_operator = outcome_of("whole-algorithm", silent, FEW).estimates
    assert computes_on.value == 1  # nodes without a role are left alone
    assert resampled.high < 0.7
    assert [each.value for each in same_operator] == [1, 1]
    computes_on, resampled, *same_operator = outcome_of("whole-algorithm", wrong, FEW).estimates
    assert max(computes_on.high, resampled.high) < 0.7
    assert [each.value for each in same_operator] == [1, 1]


def test_in_an_addition_no_operator_is_turned() -> None:
    outcome = outcome_of("whole-algorithm", true_map(Operation.ADD), FEW)
    assert len(outcome.estimates) == 2
    assert not any("other operator" in fact.about for fact in outcome.facts)


def test_without_a_map_no_circuit_is_scrubbed() -> None:
    outcome = outcome_of("whole-algorithm", planted_subject(Operation.ADD, 2), FEW)
    assert outcome.estimates == ()
    assert not any("claimed" in fact.about for fact in outcome.facts)
    assert {row[2] for row in outcome.rows} == {"-"}


def test_a_planted_rival_beats_the_left_to_right_hypothesis() -> None:
    outcome = outcome_of("whole-algorithm", subject_of(one_layer(3)), FEW)
    assert outcome.verdict is Verdict.REFUTED
    fought = disambiguation_of(outcome, "one-layer add")
    assert fought.null.hits == fought.effect.n
    assert fought.effect.hits == 0


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("whole-algorithm", untrained_subject(Operation.ADD, 2), FEW).verdict is Verdict.UNTESTED


def test_a_site_that_holds_nothing_predicts_the_right_answer() -> None:
    subject = planted_subject(Operation.ADD, 2)
    model = algorithm(Operation.ADD, 2)
    base, (source,) = random_pairs(Operation.ADD, 2, 16, 1, seed=4)
    moved = [MovedSite(all_sites(subject)[0], (), model.run(source))]
    assert np.array_equal(predict(model, base, model.run(base), moved), answer_tokens(base))


def test_a_rival_that_no_row_tells_apart_is_named_and_leaves_the_verdict_open() -> None:
    # Of two digits the rival that looks through one nine is right about every sum: it is the same algorithm.
    outcome = outcome_of("whole-algorithm", planted_subject(Operation.ADD, 2), FEW)
    assert outcome.facts[0].effect.value == 1
    assert disambiguation_of(outcome, NINE).effect.n == 0
    assert outcome.verdict is Verdict.INCONCLUSIVE
    same = disambiguation_of(outcome, NINE)
    assert same.about["told"] == 0
    assert judge_disambiguations([same]) == [Verdict.UNTESTED]


def test_a_rival_that_seldom_differs_is_fought_on_rows_that_were_searched_for() -> None:
    outcome = outcome_of("whole-algorithm", planted_subject(Operation.ADD, 3), FEW)
    fought = disambiguation_of(outcome, NINE)
    told, proposed = (int(str(fought.about[key])) for key in ("told", "proposed"))
    assert told / proposed * 32 * FEW.n_draws < FEW.n_pairs  # so many were to be expected in the first rows
    assert fought.effect == Rate(FEW.n_pairs, FEW.n_pairs)
    assert outcome.verdict is Verdict.SUPPORTED


def test_too_few_rows_are_no_test_and_a_draw_is_open() -> None:
    found = judge_disambiguations(
        [compared(11, 0, 11), compared(12, 0, 12), compared(20, 18, 40), compared(2, 30, 40), compared(0, 0, 40)]
    )
    open_, tested = Verdict.INCONCLUSIVE, Verdict.SUPPORTED
    assert found == [Verdict.UNTESTED, tested, open_, Verdict.REFUTED, open_]


def test_rows_in_which_one_is_right_are_a_paired_count() -> None:
    # 14 to 4 of 20 would be sure if the two were counted on rows of their own (p = 0.002): it is 14 of 18 coins.
    assert compared(14, 4, 20).p < 0.01
    assert judge_disambiguations([compared(14, 4, 20)]) == [Verdict.INCONCLUSIVE]


def test_many_rivals_are_corrected_for_being_many() -> None:
    assert judge_disambiguations([compared(11, 1, 12)]) == [Verdict.SUPPORTED]
    assert judge_disambiguations([compared(11, 1, 12)] * 4) == [Verdict.INCONCLUSIVE] * 4
    assert judge_disambiguations([compared(1, 11, 12)] * 4) == [Verdict.INCONCLUSIVE] * 4
    assert judge_disambiguations([compared(11, 1, 12), compared(0, 0, 0)]) == [Verdict.SUPPORTED, Verdict.UNTESTED]


def test_a_disambiguation_between_equals_is_seldom_won() -> None:
    random = np.random.default_rng(3)
    wins = [random.binomial(30, 0.5, 3) for _ in range(1500)]
    found = [judge_disambiguations([compared(int(won), 30 - int(won), 40) for won in three]) for three in wins]
    assert np.mean([Verdict.SUPPORTED in three for three in found]) <= 0.015
    assert np.mean([Verdict.REFUTED in three for three in found]) <= 0.015


def test_every_row_has_sites_of_its_own() -> None:
    sites = all_sites(planted_subject(Operation.ADD, 3))
    asked = random_interventions(Operation.ADD, sites, 3, 300, seed=2)
    assert len({tuple(sorted(row)) for row in asked.chosen.tolist()}) > 100
    used = (asked.chosen >= 0).sum(1)
    assert set(used.tolist()) == {2, 3}
    assert all(len(set(row)) == 3 for row in asked.chosen.tolist())
    assert ((asked.copied == -1).all(2).sum(0) == 3 - used).all()
    assert (random_interventions(Operation.ADD, sites[:1], 3, 9, seed=2).chosen == 0).all()


@pytest.mark.parametrize("operation", list(Operation))
def test_rows_predicted_together_are_as_predicted_one_by_one(operation: Operation) -> None:
    subject = planted_subject(operation, 2)
    models = [algorithm(operation, 2), *rival_algorithms(operation, 2)]
    sites = all_sites(subject)
    asked = random_interventions(operation, sites, 2, 60, seed=8)
    for hypothesis in align_hypotheses(subject, models, sites, 24, seed=1):
        model, labels = hypothesis.model, hypothesis.labels
        found = predict_each(model, labels, asked)
        for at, row in enumerate(asked.chosen):
            one = slice(at, at + 1)
            moved = [
                MovedSite(sites[site], labels[sites[site]], model.run(asked.sources[slot][one]))
                for slot, site in enumerate(row)
                if site >= 0
            ]
            assert np.array_equal(found[one], predict(model, asked.base[one], model.run(asked.base[one]), moved))
