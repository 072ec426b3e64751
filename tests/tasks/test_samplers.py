"""Samplers: every question by its index, populations as even as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arithmetic.slow_route import chi_square, chi_square_limit
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch
from carrylens.tasks.samplers import Interleaved, Sampler, Uniform, population_of
from tasks.small_tasks import PARITY, WHEEL, D, E, K, T

WHEELS = population_of(WHEEL)


@pytest.mark.parametrize("sampler", [WHEELS, Interleaved((WHEELS, population_of(WHEEL))), Interleaved((WHEELS,) * 3)])
def test_a_question_does_not_depend_on_the_range_it_is_drawn_in(sampler: Sampler) -> None:
    whole = sampler.draw(3, 0, 50)
    for start, count in ((0, 50), (7, 1), (8, 13), (49, 1), (20, 0)):
        assert sampler.draw(3, start, count) == whole[start : start + count]
    assert sampler.draw(4, 0, 50) != whole


def test_every_value_of_every_input_is_as_likely_as_any_other() -> None:
    batch = WHEELS.draw(1, 0, 20_000)
    for variable in WHEEL.inputs:
        values = WHEEL.values_of(variable)
        counts = np.bincount(batch.column(variable), minlength=max(values) + 1)[list(values)]
        assert counts.sum() == 20_000
        assert chi_square(counts, 20_000 / len(values)) < chi_square_limit(len(values) - 1)
    pairs = batch.column(D[0]).astype(int) * 5 + batch.column(E[0]) - 1
    assert chi_square(np.bincount(pairs, minlength=15), 20_000 / 15) < chi_square_limit(14), "and by itself"


def test_populations_of_a_mixture_take_turns() -> None:
    ones, zeros = (Uniform(((T, (value,)),)) for value in (1, 0))
    assert Interleaved((ones, zeros)).draw(0, 0, 6).column(T).tolist() == [1, 0, 1, 0, 1, 0]
    assert Interleaved((ones, zeros)).draw(0, 3, 4).column(T).tolist() == [0, 1, 0, 1]
    coins = Uniform(((T, (0, 1)),))
    mixed, alone = Interleaved((coins, ones)).draw(9, 0, 40), coins.draw(9, 0, 20)
    assert mixed[np.arange(0, 40, 2)] == alone


def test_a_model_without_a_population_has_its_inputs_drawn_uniformly() -> None:
    assert population_of(PARITY) == Uniform(tuple((each, (0, 1)) for each in PARITY.inputs))
    fixed = population_of(replace(PARITY, fixed=((T, 1),)))
    assert set(fixed.draw(0, 0, 30).column(T)) == {1}
    coins = Uniform(((K, (0, 1)),))
    assert population_of(replace(PARITY, population=coins)) is coins


def test_what_cannot_be_drawn_is_refused() -> None:
    for seed, start, count in ((-1, 0, 1), (0, -1, 1), (0, 0, -1)):
        with pytest.raises(CarryLensError):
            WHEELS.draw(seed, start, count)
    assert isinstance(WHEELS.draw(0, 0, 0), Batch)
