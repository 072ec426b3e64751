"""Benchmarks in words."""

import re
from typing import Any

import pytest

from carrylens.report.terminal.speed import training_line, training_summary


def a_record(meets: bool | None, seconds: float = 60.0) -> dict[str, Any]:
    result = {"name": "natural", "operation": "add", "asked": 1_000_000, "failed": 3, "interval": [6.2e-07, 8.77e-06]}
    return {
        "name": "m",
        "n_steps": 3000,
        "seconds": seconds,
        "step_milliseconds": 20.0,
        "share_of_peak": 0.5,
        "meets_bar": meets,
        "results": [result],
        "published_before": 0.9,
        "published_after": 1.0,
        "through_lens": True,
        "ratio": 13_500 / seconds,
    }


@pytest.mark.parametrize(("meets", "word"), [(True, "meets"), (False, "misses"), (None, "too few")])
def test_a_trained_model_is_told_with_steps_seconds_interval_and_ratio(meets: bool | None, word: str) -> None:
    line = training_line(a_record(meets))
    assert line.startswith("m ")
    figures = ("3,000 steps", "60 s", "20.0 ms", "50%", "natural add 3 of 1,000,000", "0.62 to 8.77")
    assert all(each in line for each in (word, *figures, "0.90 s", "1.00 s", "15,000", "225"))


def test_the_summary_counts_only_those_that_meet_the_bar() -> None:
    records = [a_record(True), a_record(False, 10.0), a_record(True, 90.0), a_record(None, 1.0)]
    assert re.findall(r"\d+", training_summary(records)) == ["2", "4", "60", "90", "150", "225"]
    assert re.findall(r"\d+", training_summary([a_record(None)])) == ["1"], "and no seconds"
