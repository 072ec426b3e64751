"""The growth benchmark measures what it says."""

from dataclasses import replace

import pytest

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.training_plans import plan_for
from carrylens.bench import growth
from carrylens.bench.growth import MIDDLE, Size, bench_growth, sizes
from carrylens.bench.peak import answer_pass_flops, training_step_flops


def test_one_thing_is_changed_at_a_time_and_no_size_comes_twice() -> None:
    found = sizes([3, 6], [48, 96], [32, 128])
    assert found == [Size(3, 96, 128), Size(6, 96, 128), Size(6, 48, 128), Size(6, 96, 32)]
    assert sizes([], [], []) == [Size(**MIDDLE)], "the middle is always there"


def test_shares_of_peak_belong_to_the_times_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "peak_flops", lambda _seconds: 1e12)
    small, large = (each.record() for each in bench_growth([Size(1, 12, 8), Size(8, 96, 64)], rounds=2))
    assert (small["digits"], small["width"], small["batch"]) == (1, 12, 8)
    for record, name in ((small, "add_d1_l2_h3_w12_t1K_s1"), (large, "add_d8_l2_h3_w96_t1K_s1")):
        plan = plan_for(ModelName.parse(name))
        step = training_step_flops(plan.config, replace(plan.recipe, batch=int(record["batch"])))
        assert record["step_share_of_peak"] == pytest.approx(step / record["step_seconds"] / 1e12)
        # Of 256 questions, those of one digit all begin with one of ten digits, an operator and one of ten more.
        question = answer_pass_flops(plan.config, shared=1 if record["digits"] == 8 else 2)
        assert record["question_share_of_peak"] == pytest.approx(question / record["question_seconds"] / 1e12)
