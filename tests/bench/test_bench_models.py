"""The model benchmarks measure what they say."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from carrylens.arithmetic import Operation
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.training_plans import plan_for
from carrylens.bench import training
from carrylens.bench.exam import ExamBench, bench_exam
from carrylens.bench.peak import answer_pass_flops, peak_flops, training_step_flops
from carrylens.bench.training import PublishedStep, TrainingBench, bench_training
from carrylens.model import Transformer
from carrylens.model.answer_pass import answer_logits
from carrylens.training.exam import PartResult, sit
from carrylens.training.optimiser import Optimiser
from carrylens.training.run import train


@pytest.mark.parametrize(("n_layers", "n_heads"), [(1, 3), (2, 3), (3, 4)])
def test_operations_are_counted_as_pytorch_counts_them(n_layers: int, n_heads: int) -> None:
    model = Transformer(config_of_width(4, n_layers, n_heads, width=24))
    tokens = torch.zeros(64, model.config.n_ctx, dtype=torch.int64)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        answer_logits(model, tokens)
    table = (
        2 * (model.config.n_ctx - 1) * 15 * 24 * 3 * n_heads * 8
    )  # projected once for the whole batch: we leave it out
    assert counter.get_total_flops() - table == 64 * answer_pass_flops(model.config)


def test_peak_is_a_speed() -> None:
    assert peak_flops(0.05) > 1e8


def test_the_exam_benchmark_without_transformer_lens_says_so() -> None:
    measured = bench_exam(Transformer(config_of_width(2, 1, 3, width=24)), Operation.ADD, 600)
    assert measured.rate > 0
    assert measured.ratio is None or measured.agrees


def test_the_ratio_is_ours_over_theirs() -> None:
    assert ExamBench(1, 1, 30.0, 0.5, 64, 10.0, 128, True).ratio == pytest.approx(3)


def test_the_training_benchmark_trains_and_tests_with_published_steps_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    def note(what: str, real: Callable[..., object]) -> Callable[..., object]:
        def noted(*arguments: object, **named: object) -> object:
            seen.append(what)
            return real(*arguments, **named)

        return noted

    monkeypatch.setattr(training.PublishedStep, "seconds", note("published", lambda _self: 2.0 + len(seen)))
    monkeypatch.setattr(training, "train", note("train", train))
    monkeypatch.setattr(training, "sit", note("test", sit))
    names = [ModelName.parse(f"mix_d1_l1_h3_w12_t40_s{seed}") for seed in (1, 2)]
    first, second = bench_training(names, 500)
    assert seen == ["published", "train", "published", "test"] * 2
    assert (first.published_before, first.published_after, first.name) == (3.0, 5.0, str(names[0]))
    assert first.ratio == pytest.approx(15_000 * 3.0 / first.seconds)
    assert [(result.name, result.label) for result in second.results] == [
        ("natural", "add"),
        ("enriched", "add"),
        ("natural", "sub"),
        ("enriched", "sub"),
    ]
    assert all(result.asked == 500 for result in second.results)
    assert first.meets_bar is False, "forty steps are not enough"
    assert (first.record()["steps_to_bar"], first.record()["seconds_to_bar"]) == (None, None)


def test_steps_to_the_bar_are_all_steps_of_a_run_that_meets_it() -> None:
    million = tuple(PartResult(name, "add", 1_000_000, 9) for name in ("natural", "enriched"))
    met = TrainingBench("n", 3000, 60.0, 0.5, million, 1.0, 0.9, through_lens=True)
    assert met.meets_bar
    assert met.ratio == pytest.approx(225)
    assert (met.record()["steps_to_bar"], met.record()["seconds_to_bar"]) == (3000, 60.0)
    few = TrainingBench("n", 3000, 60.0, 0.5, (PartResult("natural", "add", 1000, 0),), 1.0, 0.9, through_lens=True)
    assert (few.meets_bar, few.record()["steps_to_bar"]) == (None, None)


def test_a_published_step_takes_time() -> None:
    assert PublishedStep(ModelName.parse("add_d1_l1_h3_t40_s1")).seconds() > 0


def test_a_training_step_is_counted_as_pytorch_counts_it() -> None:
    name = ModelName.parse("add_d2_l2_h3_w24_t40_s1")
    plan = plan_for(name)
    model = Transformer(plan.config)
    optimiser = Optimiser(model, plan.recipe)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    with FlopCounterMode(display=False) as counter:
        optimiser.step(1.0)
    passes = 3 * plan.recipe.batch * answer_pass_flops(plan.config)
    assert counter.get_total_flops() == training_step_flops(plan.config, plan.recipe) - passes
    assert training_step_flops(plan.config, replace(plan.recipe, muon_rate=None)) == passes
