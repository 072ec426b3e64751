"""Trends over digits: a line that was made is found, and few models make none."""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic.battery.findings import TrendDirection
from carrylens.arithmetic.family.trends import trend_of
from carrylens.arithmetic.model_names import ModelName

FALLS, GROWS = TrendDirection.FALLS, TrendDirection.GROWS


def additions(*numbers: tuple[int, float]) -> list[tuple[ModelName, float | None]]:
    return [(ModelName.parse(f"add_d{d}_l2_h3_w96_t2K_s{seed}"), value) for seed, (d, value) in enumerate(numbers)]


def test_a_line_is_found_and_its_interval_has_the_truth_nineteen_times_in_twenty() -> None:
    random, digits, inside = np.random.default_rng(0), [5, 6, 6, 8, 10, 13], 0
    for _ in range(400):
        trend = trend_of(additions(*((d, 1 - 0.05 * d + 0.1 * random.standard_normal()) for d in digits)))
        assert trend is not None
        inside += trend.low <= -0.05 <= trend.high
    assert 365 <= inside <= 395


def test_it_goes_one_way_only_where_that_is_sure() -> None:
    sure = trend_of(additions((5, 0.4), (6, 0.35), (8, 0.26), (10, 0.15)))
    unsure = trend_of(additions((5, 0.4), (6, 0.1), (8, 0.4), (10, 0.2)))
    assert sure is not None
    assert unsure is not None
    assert (sure.goes(FALLS), sure.goes(GROWS)) == (True, False)
    assert (unsure.goes(FALLS), unsure.goes(GROWS)) == (False, False)
    assert str(sure).startswith("-0.0")
    assert str(sure).endswith("in 4 additions")


def test_other_operations_and_models_without_a_number_do_not_count() -> None:
    some = additions((5, 0.4), (6, 0.3), (8, 0.2))
    other = [(ModelName.parse("sub_d6_l2_h3_w96_t2K_s1"), 9.0), (ModelName.parse("add_d9_l2_h3_w96_t2K_s1"), None)]
    assert trend_of([*some, *other]) is None
    assert trend_of([*some, *additions((8, 0.1)), *other]) == trend_of([*some, *additions((8, 0.1))])
    assert trend_of(additions((5, 0.1), (5, 0.2), (6, 0.3), (6, 0.2))) is None
