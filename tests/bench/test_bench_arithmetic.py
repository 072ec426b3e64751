"""The arithmetic benchmark measures what it says."""

import pytest

from carrylens.bench import arithmetic
from carrylens.bench.arithmetic import ArithmeticBench, bench_arithmetic


def test_both_sides_are_timed_and_agree() -> None:
    measured = bench_arithmetic(500, digits=7, seed=1)
    assert measured.agrees
    assert measured.n_plain == 10
    assert min(measured.subtask_seconds, measured.class_seconds, measured.plain_seconds) > 0


def test_a_wrong_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "plain_answer", lambda *_: "+0")
    assert not bench_arithmetic(500, digits=7, seed=1).agrees


def test_the_ratio_compares_seconds_per_question() -> None:
    assert ArithmeticBench(6, 1000, 10, 1.0, 1.0, 10, 0.1, agrees=True).ratio == pytest.approx(10)
