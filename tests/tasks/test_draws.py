import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic.slow_route import PROPERTY, chi_square, chi_square_limit, is_share
from carrylens.errors import CarryLensError
from carrylens.tasks.draws import below, chance, draw

LARGEST = 2**32 - 1


@PROPERTY
@given(
    key=st.lists(st.integers(0, 2**40), min_size=1, max_size=5),
    start=st.integers(0, 10**12),
    count=st.integers(0, 40),
    width=st.integers(1, 40),
    data=st.data(),
)
def test_what_an_index_gets_does_not_depend_on_the_range_it_is_drawn_in(
    key: list[int], start: int, count: int, width: int, data: st.DataObject
) -> None:
    whole = draw(key, start, count, width)
    assert whole.shape == (count, width)
    cut = data.draw(st.integers(0, count))
    parts = [draw(key, start, cut, width), draw(key, start + cut, count - cut, width)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    if count:
        at = data.draw(st.integers(0, count - 1))
        assert draw(key, start + at, 1, width).tolist() == whole[at : at + 1].tolist()


def test_the_draws_are_the_ones_recorded_populations_were_made_from() -> None:
    # Philox with the key that SeedSequence makes of [7]; four 64-bit numbers a step, low half first.
    raw = np.random.Generator(np.random.Philox(key=np.random.SeedSequence([7]).generate_state(2, np.uint64)))
    numbers = [int(number) for number in raw.bit_generator.random_raw(8)]
    halves = [half for number in numbers for half in (number % 2**32, number // 2**32)]
    assert draw([7], 0, 2, 8).reshape(-1).tolist() == halves
    assert draw([7], 0, 2, 3).tolist() == [halves[:3], halves[8:11]]
    assert draw([7], 1, 1, 8).tolist() == [halves[8:]]


def test_different_keys_and_indices_get_different_draws() -> None:
    keys = [[0], [1], [0, 1], [1, 0, 1], [1, 1], [2**31], [0, 0, 1]]
    rows = [tuple(draw(key, 0, 1, 4)[0]) for key in keys]
    assert len(set(rows)) == len(keys)
    assert len({tuple(row) for row in draw([5], 0, 10_000, 4)}) == 10_000


@pytest.mark.parametrize(("key", "start", "count"), [([-1], 0, 1), ([0, -5], 0, 1), ([0], -1, 1), ([0], 0, -1)])
def test_negative_seeds_starts_and_counts_are_refused(key: list[int], start: int, count: int) -> None:
    with pytest.raises(CarryLensError, match="start.*count.*seed"):
        draw(key, start, count, 3)


def test_raw_draws_are_even_over_the_whole_range() -> None:
    counts = np.bincount((draw([1], 0, 50_000, 4).reshape(-1) >> np.uint32(24)).astype(np.int64), minlength=256)
    assert chi_square(counts, 200_000 / 256) < chi_square_limit(255)


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 45, 100, 2**31])
def test_a_whole_number_below_a_bound_reaches_from_zero_to_just_below_it(bound: int) -> None:
    ends = below(np.array([0, LARGEST], dtype=np.uint32), bound)
    assert ends.tolist() == [0, bound - 1]


@PROPERTY
@given(number=st.integers(0, LARGEST), bound=st.integers(1, 2**31))
def test_a_whole_number_below_a_bound_is_the_draw_scaled_down(number: int, bound: int) -> None:
    assert below(np.array([number], dtype=np.uint32), bound).tolist() == [number * bound // 2**32]


def test_each_draw_may_have_a_bound_of_its_own() -> None:
    draws = np.array([LARGEST] * 3, dtype=np.uint32)
    assert below(draws, np.array([1, 10, 45])).tolist() == [0, 9, 44]


def test_a_chance_is_never_at_zero_always_at_one_and_exact_between() -> None:
    ends = np.array([0, 2**31 - 1, 2**31, LARGEST], dtype=np.uint32)
    assert chance(ends, 0.0).tolist() == [False] * 4
    assert chance(ends, 1.0).tolist() == [True] * 4
    assert chance(ends, 0.5).tolist() == [True, True, False, False]
    assert is_share(int(chance(draw([2], 0, 100_000, 1), 0.3).sum()), 100_000, 0.3)
