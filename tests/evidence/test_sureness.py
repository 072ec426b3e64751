"""One rule says when a role is whole and when it is sure."""

from __future__ import annotations

import pytest

from carrylens.claims.thresholds import THRESHOLDS
from carrylens.evidence.rates import Rate
from carrylens.evidence.sureness import LEVEL, MARGIN, MOST, WHOLE, Extent, extent_of, is_sure, moves_surely

NULL = Rate(0, 96)


@pytest.mark.parametrize(("hits", "n"), [(96, 96), (93, 96), (48, 48), (186, 192)])
def test_a_lower_bound_of_nine_in_ten_is_whole(hits: int, n: int) -> None:
    rate = Rate(hits, n)
    assert rate.interval[0] >= WHOLE
    assert extent_of(rate) is Extent.WHOLE
    assert is_sure(rate, NULL, 1e-9)


@pytest.mark.parametrize(("hits", "n"), [(92, 96), (47, 48), (20, 20), (0, 0), (70, 96)])
def test_anything_less_is_partial_however_high_the_rate(hits: int, n: int) -> None:
    assert extent_of(Rate(hits, n)) is Extent.PARTIAL
    assert not is_sure(Rate(hits, n), NULL, 1e-9)


def test_a_partial_role_may_surely_move_an_output() -> None:
    assert moves_surely(Rate(70, 96), NULL)
    assert not moves_surely(Rate(50, 96), NULL), "not in most questions"


def test_a_null_that_moves_or_a_high_p_leaves_it_unsure() -> None:
    assert not is_sure(Rate(96, 96), Rate(70, 96), 1e-9)
    assert not is_sure(Rate(96, 96), NULL, 0.02)


def test_the_judge_has_the_numbers_of_the_rule() -> None:
    limits = THRESHOLDS
    assert (limits.whole_hit, limits.least_hit, limits.least_margin, limits.level) == (WHOLE, MOST, MARGIN, LEVEL)
