"""Matched pairs and triples of tasks that are no arithmetic, each checked by going through it row by row."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.pairs import Pairs, counterfactual_outputs, effect_pairs, interchange_pairs, null_pairs
from carrylens.tasks.samplers import population_of
from carrylens.tasks.triples import effect_triples, null_triples
from carrylens.tasks.variables import Variable
from tasks.small_tasks import (
    PARITY,
    WHEEL,
    B,
    D,
    E,
    K,
    M,
    O,
    R,
    S,
    T,
    V,
    W,
    every_question,
    slow_counterfactual,
    slow_values,
)

COUNT = 24
CASES = [
    *((PARITY, each) for each in (B[0], B[4], R[1], R[2], R[4], S, O[4], T)),
    *((WHEEL, each) for each in (D[0], E[1], V[0], V[1], V[2], W[0], W[2], M, K)),
]
IDS = [f"{model.name}, {variable}" for model, variable in CASES]


@cache
def pairs_of(model: CausalModel, variable: Variable) -> Pairs:
    return interchange_pairs(model, variable, COUNT, seed=3)


@pytest.mark.parametrize(("model", "variable"), CASES, ids=IDS)
def test_outputs_that_were_put_out_are_held_at_the_bases_values(model: CausalModel, variable: Variable) -> None:
    population = population_of(model)
    base, source = population.draw(4, 0, 60), population.draw(5, 0, 60)
    found = counterfactual_outputs(model, variable, base, source)
    assert (found == slow_counterfactual(model, variable, base, source)).all()


def test_holding_the_sign_makes_a_difference() -> None:
    """R[2] turns the sign: left alone, every later output would turn with it; read with the base's, none does."""
    population = population_of(PARITY)
    base, source = population.draw(4, 0, 60), population.draw(5, 0, 60)
    held = counterfactual_outputs(PARITY, R[2], base, source)
    free = PARITY.output_values(base, PARITY.run(source).pick(R[2]))
    assert (held[:, 0] == free[:, 0]).all()
    assert (held[:, 1:] != free[:, 1:]).any()


@pytest.mark.parametrize(("model", "variable"), CASES, ids=IDS)
def test_interchange_pairs_differ_in_the_variable_alone_and_show_it(model: CausalModel, variable: Variable) -> None:
    pairs = pairs_of(model, variable)
    assert model.admits(pairs.source).all()
    seen = set()
    for at in range(len(pairs)):
        mine, theirs = (slow_values(model, side[at], {}) for side in (pairs.base, pairs.source))
        assert mine[variable] != theirs[variable]
        assert all(mine[each] == theirs[each] for each in model.inputs if each not in model.inputs_of(variable))
        moved = slow_values(model, pairs.base[at], {variable: theirs[variable]})
        assert pairs.expected[at].tolist() == [moved[each] for each in model.outputs]
        assert any(moved[each] != mine[each] for each in model.outputs)
        seen.add((pairs.base.values[at].tobytes(), pairs.source.values[at].tobytes()))
    assert len(seen) == len(pairs), "no pair comes twice"


@pytest.mark.parametrize(("model", "variable"), CASES, ids=IDS)
def test_the_first_pairs_agree_in_what_steers_and_only_it_is_asked_of_the_others(
    model: CausalModel, variable: Variable
) -> None:
    pairs = pairs_of(model, variable)
    own, theirs = model.output_values(pairs.base), model.output_values(pairs.source)
    slow = slow_counterfactual(model, variable, pairs.base, pairs.source)
    expected = pairs.counterfactual()
    steered = np.zeros(len(pairs), dtype=np.bool_)
    if model.steering and variable not in model.steering:
        steered = own[:, 0] != theirs[:, 0]
    assert (expected[~steered] == slow[~steered]).all()
    assert (expected[:, 0] == slow[:, 0]).all()
    assert (expected[steered, 1:] == own[steered, 1:]).all()


def test_a_variable_of_the_sign_has_pairs_of_either_sort() -> None:
    pairs = pairs_of(PARITY, R[4])
    assert len(pairs) == COUNT + COUNT // 2
    signs = PARITY.output_values(pairs.base)[:, 0] != PARITY.output_values(pairs.source)[:, 0]
    assert not signs[:COUNT].any()


def has_null(model: CausalModel, variable: Variable, base: Batch) -> bool:
    """Whether another question has the variable's value and the switches', and no other input of three values."""
    every = every_question(model)
    good = (model.run(every)[variable] == model.run(base)[variable]) & (every.values != base.values).any(axis=1)
    for each in model.inputs:
        alike = every.column(each) == base.column(each)
        if each.index is None or each == variable:
            good &= alike
        elif len(model.values_of(each)) > 2:
            good &= ~alike
    return bool(good.any())


@pytest.mark.parametrize(("model", "variable"), CASES, ids=IDS)
def test_a_null_agrees_in_the_variable_and_differs_wherever_it_must(model: CausalModel, variable: Variable) -> None:
    base = pairs_of(model, variable).base
    possible = np.array([has_null(model, variable, base[at]) for at in range(len(base))])
    if not possible.all():
        with pytest.raises(CarryLensError, match=variable.name):
            null_pairs(model, variable, base, seed=5)
        base = base[possible]
    pairs = null_pairs(model, variable, base, seed=5)
    assert pairs.base == base
    assert model.admits(pairs.source).all()
    for at in range(len(pairs)):
        mine, theirs = (slow_values(model, side[at], {}) for side in (pairs.base, pairs.source))
        assert mine[variable] == theirs[variable]
        for each in model.inputs:
            stays = each.index is None or each == variable
            if stays or len(model.values_of(each)) > 2:
                assert (mine[each] == theirs[each]) is stays, each
        assert any(mine[each] != theirs[each] for each in model.inputs)
    assert (pairs.expected == model.output_values(base)).all()


def test_both_switches_can_be_turned_in_a_null() -> None:
    base = population_of(WHEEL).draw(6, 0, 40)
    base = base[WHEEL.admits(base)]
    pairs = null_pairs(WHEEL, V[2], base, seed=5, turned=True)
    for switch in (M, K):
        assert (pairs.source.column(switch) != base.column(switch)).all()
    assert (WHEEL.run(pairs.source)[V[2]] == WHEEL.run(base)[V[2]]).all()
    for model, variable in ((WHEEL, M), (PARITY, T)):
        with pytest.raises(CarryLensError):
            null_pairs(model, variable, population_of(model).draw(0, 0, 4), seed=5, turned=True)


def test_pairs_can_be_made_to_agree_and_to_tell_apart() -> None:
    pairs = effect_pairs(WHEEL, V[1], 20, seed=1, agree=[W[1]], tell_from=[D[1]])
    base, source = WHEEL.run(pairs.base), WHEEL.run(pairs.source)
    assert (base[V[1]] != source[V[1]]).all()
    assert (base[W[1]] == source[W[1]]).all()
    assert pairs.tells_apart(D[1]).all()
    told = WHEEL.output_values(pairs.base, source.pick(D[1]))
    assert (told != pairs.expected).any(axis=1).all()
    at = WHEEL.outputs.index(W[2])
    there = interchange_pairs(WHEEL, V[1], 20, seed=1, tell_from=[D[1]], at=at)
    other = WHEEL.output_values(there.base, WHEEL.run(there.source).pick(D[1]))
    assert (other[:, at] != there.expected[:, at]).all()


def test_what_no_pair_can_show_is_refused() -> None:
    alone = CausalModel("one bit", PARITY.families, (B[0], B[1]), (B[0],), ())
    with pytest.raises(CarryLensError, match=r"B\[1\]"):
        effect_pairs(alone, B[1], 4, seed=0)
    with pytest.raises(CarryLensError):
        effect_pairs(PARITY, R[1], -1, seed=0)
    with pytest.raises(CarryLensError, match=r"R\[1\]"):
        effect_pairs(PARITY, R[1], 4, seed=0, agree=[R[1]])


def test_a_task_of_switches_alone_has_pairs() -> None:
    families = (PARITY.family(T), WHEEL.family(M), WHEEL.family(W[0]))
    mechanisms = [type(WHEEL.mechanisms[0])(W[0], (T, M), lambda turn, mode: turn + mode)]
    switches = CausalModel("switches", families, (T, M), (W[0],), tuple(mechanisms))
    pairs = effect_pairs(switches, M, 6, seed=0)
    assert (pairs.base.column(M) != pairs.source.column(M)).all()
    assert (pairs.base.column(T) == pairs.source.column(T)).all()
    assert len(effect_pairs(switches, W[0], 4, seed=0)) == 4


TRIPLES = [(PARITY, R[1]), (PARITY, B[4]), (WHEEL, V[0]), (WHEEL, V[1]), (WHEEL, D[1])]


@pytest.mark.parametrize(("model", "variable"), TRIPLES, ids=[f"{m.name}, {v}" for m, v in TRIPLES])
def test_the_third_question_shares_the_variable_and_no_cell_of_other_indices(
    model: CausalModel, variable: Variable
) -> None:
    own = {each.index for each in model.inputs_of(variable) if each.index is not None}
    effect, null = effect_triples(model, variable, 16, seed=2), null_triples(model, variable, 16, seed=2)
    assert len(effect)
    for triples in (effect, null):
        assert model.admits(triples.asked).all()
        for each in model.inputs:
            alike = triples.asked.column(each) == triples.base.column(each)
            if each.index not in own:
                assert alike.all() if each.index is None else not alike.any()
        assert (model.run(triples.asked)[variable] == model.run(triples.base)[variable]).all()
        for steering in model.steering:
            sides = [model.run(side)[steering] for side in (triples.asked, triples.base)]
            assert (sides[0] == sides[1]).all()
    assert (model.run(effect.source)[variable] != model.run(effect.base)[variable]).all()
    assert (model.run(null.source)[variable] == model.run(null.base)[variable]).all()
    assert (effect.counterfactual() == slow_counterfactual(model, variable, effect.asked, effect.source)).all()


def test_a_variable_of_every_index_has_no_third_question() -> None:
    with pytest.raises(CarryLensError, match=r"V\[2\]"):
        effect_triples(WHEEL, V[2], 4, seed=0)
