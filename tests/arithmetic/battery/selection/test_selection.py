"""Selection: a planted choice is one direction, unless it is scattered on purpose, and its state turns every digit.

Every planted mixed circuit keeps operator and sign in a direction each, also where an idle layer comes behind it: what
enters that one is a digit that is chosen already, and no place to ask. One plant scatters them over ten directions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from arithmetic.battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.findings import Number
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.selection import subspaces
from carrylens.arithmetic.battery.selection.branch_pairs import Turn, draw_branch_pairs
from carrylens.arithmetic.battery.selection.findings import RANK_FOR_OPERATOR, RANK_FOR_SIGN, findings_of
from carrylens.arithmetic.battery.selection.measure import choose_layer, turn_choice
from carrylens.arithmetic.battery.selection.rest_of_model import behind_heads, entering
from carrylens.arithmetic.battery.selection.subspaces import BASE, OTHER, SAME, RankedSubspace, read_pair_states
from carrylens.arithmetic.battery.selection.summarise import SIGN_PLACE, judge_selection, needed_rank, residual_stream
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.layout import predicting_place
from carrylens.arithmetic.planted.answer_mlps import add_combiners
from carrylens.arithmetic.planted.assembly import Finish, assemble
from carrylens.arithmetic.planted.circuit import sketch_circuit
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.directions import minus_seen
from carrylens.arithmetic.planted.fetching import code_of, level
from carrylens.arithmetic.planted.sketch import ONE, Neuron, Sketch, add, gate_at, out, table
from carrylens.arithmetic.planted.wiring_checks import wire
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.tokens import PLUS, answer_tokens
from carrylens.arithmetic.variables import OPR, SGN, A
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange
from carrylens.interventions.sites import Residual
from carrylens.model.transformer import Transformer

SHUT = 40.0
"""By how much a neuron is closed that has nothing to say."""


def least_ranks(outcome: Outcome) -> list[object]:
    """Those that turn the operator, and the sign, with the same operands."""
    return [each.value for each in findings_of(outcome) if each.question in (RANK_FOR_OPERATOR, RANK_FOR_SIGN)]


def test_a_planted_choice_is_one_direction() -> None:
    outcome = outcome_of("selection", subject := planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.REFUTED
    states = [fact for fact in outcome.facts if "site" in fact.about]
    assert len(states) == 8
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in states)
    assert {fact.about["site"] for fact in states} == {residual_stream(subject, subject.last_layer), SIGN_PLACE}
    single = [fact for fact in outcome.facts if fact.about.get("rank") == 1]
    assert len(single) == 8
    assert all(fact.effect.value > 0.5 and fact.null.value < 0.2 for fact in single)
    assert all(fact.effect.value == 1 for fact in single if fact.about["source"] == SAME)
    assert least_ranks(outcome) == [Number(1), Number(1)]


def test_the_rank_is_asked_where_the_choice_stands_and_not_where_a_digit_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subspaces, "RANKS", (1,))
    # Behind the idle layer's heads stands the digit itself, of which one direction turns few.
    outcome = outcome_of("selection", subject := subject_behind_an_idle_layer())
    assert outcome.verdict is Verdict.REFUTED
    single = [fact for fact in outcome.facts if fact.about.get("rank") == 1]
    assert {fact.about["level"] for fact in single} == {residual_stream(subject, 1)}
    assert all(fact.effect.value > 0.5 for fact in single)
    copied = [fact for fact in outcome.facts if fact.about.get("copied rank") == 1]
    assert copied
    assert all(fact.effect.value < 0.5 for fact in copied)


def test_a_choice_scattered_over_many_directions_is_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subspaces, "RANKS", (1, 16))
    outcome = outcome_of("selection", subject := subject_with_a_scattered_choice())
    assert outcome.verdict is Verdict.SUPPORTED
    states = [fact for fact in outcome.facts if "site" in fact.about]
    assert all(fact.effect.value > 0.8 and fact.null.value < 0.2 for fact in states)
    ranked = [fact for fact in outcome.facts if "rank" in fact.about]
    assert {fact.about["level"] for fact in ranked} == {residual_stream(subject, 1)}
    same = [fact for fact in ranked if fact.about["source"] == SAME]
    assert all(fact.effect.value < 0.5 for fact in ranked if fact.about["rank"] == 1)
    assert [fact.effect.value > 0.9 for fact in same if fact.about["rank"] == 16] == [True] * 4
    assert least_ranks(outcome) == [Number(16), Number(16)]


def test_where_no_layer_is_entered_by_the_choice_no_rank_is_asked_for() -> None:
    subject, operator = subject_behind_an_idle_layer(), [Turn.TO_ADD, Turn.TO_POSITIVE]
    fits = [draw_branch_pairs(turn, 2, 1, 20, seed=5) for turn in operator]
    assert choose_layer(subject, fits)[0] == 1
    with torch.no_grad():  # digits that do not depend on the operator: nothing entering any layer can turn them
        for layer in (1, 2):
            subject.model.get_parameter(f"blocks.{layer}.mlp.W_out").zero_()
    assert choose_layer(subject, fits)[1].value < 0.5
    chosen = turn_choice(ExperimentContext(subject, SMALL), Turn.TO_ADD, [(fits[0], fits[0])], with_ranks=True)
    assert not chosen.found
    assert not chosen.ranked


def subject_behind_an_idle_layer() -> Subject:
    planted = planted_subject(Operation.MIX, 2)
    config = planted.model.config
    model = Transformer(replace(config, n_layers=config.n_layers + 1)).eval()
    missing = model.load_state_dict(planted.model.state_dict(), strict=False).missing_keys
    with torch.no_grad():
        for name in missing:
            model.get_parameter(name).zero_()
    return Subject("idle last layer", model, Operation.MIX)


@cache
def subject_with_a_scattered_choice() -> Subject:
    """Operator and sign enter layer 1 in one of ten pairs of directions: which of them, the column's sum decides.

    Layer 0 sets what its heads fetched to one half, and says in the pair of the column's group what it was. Layer 1
    puts it back if the group's own pair says so plainly; the layer that combines comes after. Where nothing is put
    back, no digit is made, and the place says `+`.
    """
    description = describe(Operation.MIX, 2)
    wiring = wire(description)
    plain = sketch_circuit(wiring)
    add_combiners(plain, wiring)
    deep = Sketch(3, description.n_heads, places=dict(plain.places))
    deep.heads = {(2 * layer, number): head for (layer, number), head in plain.heads.items()}
    deep.neurons = [[*plain.neurons[0]], [], plain.neurons[1]]
    role = description.of("SA[0]")[0]
    column, places = level(role, code_of(role, wiring)), [predicting_place(A[k], 2) for k in range(2)]
    sums = range(len(code_of(role, wiring)))
    for place in places:
        deep.places[place] = add(deep.places.get(place, {}), {out(PLUS): 0.25})
    selectors = [wiring.selector(A[k], variable) for k in range(2) for variable in (OPR, SGN)]
    for seen in sorted({minus_seen(node) for node in selectors if node is not None}):
        here = gate_at(places, SHUT)
        deep.neurons[0] += [Neuron(add(here, {ONE: 1.0}), {seen: 0.5}), Neuron(add(here, {seen: 1.0}), {seen: -1.0})]
        for word, closing, back in (("-", {ONE: -SHUT, seen: SHUT}, 0.5), ("+", {seen: -SHUT}, -0.5)):
            names = [f"{seen} {word} {at % 10}" for at in sums]
            told = table(*column, [{name: 1.0} for name in names], places)
            deep.neurons[0] += [Neuron(add(each.reads, closing), each.writes) for each in told]
            for name in dict.fromkeys(names):
                values = [{seen: back} if each == name else {} for each in names]
                shut = {ONE: -SHUT, name: SHUT}
                deep.neurons[1] += [
                    Neuron(add(each.reads, shut), each.writes) for each in table(*column, values, places)
                ]
    return Subject("scattered choice", assemble(deep, 2, Finish()), Operation.MIX)


@pytest.mark.parametrize("turn", list(Turn))
def test_turns_change_the_digit_and_their_nulls_do_not(turn: Turn) -> None:
    turns = draw_branch_pairs(turn, 3, 1, 40, seed=3)
    assert len(turns) == 40
    assert (turns.before != turns.after).all()
    assert np.bincount(turns.after).max() <= 7  # or always saying one digit would turn many
    assert np.array_equal(answer_tokens(turns.null)[:, 3], turns.before)
    assert np.array_equal(turns.null.first[:, 1], turns.base.first[:, 1])
    assert not (turns.null.first == turns.base.first).all(1).all()
    before, after = (is_negative(side) for side in (turns.base, turns.other))
    assert (before == (turn is Turn.FROM_NEGATIVE)).all()
    assert (after == (turn is Turn.TO_NEGATIVE)).all()
    if turn.of_operator:
        assert np.array_equal(answer_tokens(turns.same)[:, 3], turns.after)


@pytest.mark.parametrize("layer", [1, 2])
def test_what_is_carried_on_from_a_level_is_what_the_engine_gives(layer: int) -> None:
    subject = subject_behind_an_idle_layer()
    turns = draw_branch_pairs(Turn.TO_ADD, 2, 1, 20, seed=4)
    place = subject.predicting(1)
    by_engine = subject.engine.run([interchange([Residual(place, layer)])], turns.base, turns.other).tokens[0, :, 2]
    standing = read_pair_states(subject, turns, entering(layer))
    assert np.array_equal(standing.rest.tokens(standing.states[OTHER]), by_engine)
    some = np.array([3, 0, 3])
    assert np.array_equal(standing.rest.tokens(standing.states[OTHER][some], some), by_engine[some])
    heads = [node for node in subject.nodes_at(place) if node.layer == 2 and not node.is_mlp]
    copied = subject.engine.run([interchange([Residual(place, 2), *heads])], turns.base, turns.same).tokens[0, :, 2]
    behind = read_pair_states(subject, turns, behind_heads(2))
    assert np.array_equal(behind.rest.tokens(behind.states[SAME]), copied)


def test_a_sign_is_turned_by_reading_the_same_question_with_the_other_one() -> None:
    turns = draw_branch_pairs(Turn.TO_NEGATIVE, 3, 1, 20, seed=4)
    assert np.array_equal(turns.same.first, turns.base.first)
    assert turns.same_read.negative.all()
    subject = planted_subject(Operation.MIX, 3)
    standing = read_pair_states(subject, turns, entering(1))
    assert standing.followed(SAME).all()
    assert not (standing.rest.tokens(standing.states[BASE]) == turns.after).any()


def ranked(hits: dict[int, int], null: int = 2) -> list[RankedSubspace]:
    return [
        RankedSubspace(Turn.TO_ADD, OTHER, rank, ColumnRates(Rate(n, 40), Rate(null, 40))) for rank, n in hits.items()
    ]


def test_a_choice_of_many_dimensions_is_supported_and_one_direction_refutes_it() -> None:
    states = [Verdict.SUPPORTED] * 3
    wide = ranked({1: 0, 2: 4, 4: 39})
    assert judge_selection(states, wide) is Verdict.SUPPORTED
    assert needed_rank(wide, Turn.TO_ADD, OTHER) == 4
    assert judge_selection(states, ranked({1: 39})) is Verdict.REFUTED
    assert judge_selection(states, ranked({1: 39}, null=39)) is Verdict.INCONCLUSIVE
    assert judge_selection([Verdict.REFUTED, *states], wide) is Verdict.REFUTED
    assert needed_rank(ranked({1: 0, 2: 39}, null=39), Turn.TO_ADD, OTHER) is None
    assert judge_selection(states, []) is Verdict.INCONCLUSIVE


def test_untrained_weights_and_models_that_only_add_are_not_tested() -> None:
    assert outcome_of("selection", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED
    assert outcome_of("selection", planted_subject(Operation.ADD, 2)).verdict is Verdict.UNTESTED
