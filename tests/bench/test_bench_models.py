"""The model benchmarks measure what they say."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from carrylens.arithmetic import Operation
from carrylens.bench.exam import ExamBench, bench_exam
from carrylens.bench.peak import answer_pass_flops, peak_flops
from carrylens.bench.training import bench_training, published_step_seconds
from carrylens.model import ModelConfig, Transformer
from carrylens.model.answer_pass import answer_logits
from carrylens.names import ModelName


@pytest.mark.parametrize(("n_layers", "n_heads"), [(1, 3), (2, 3), (3, 4)])
def test_operations_are_counted_as_pytorch_counts_them(n_layers: int, n_heads: int) -> None:
    model = Transformer(ModelConfig.of_width(4, n_layers, n_heads, width=24))
    tokens = torch.zeros(64, model.config.n_ctx, dtype=torch.int64)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        answer_logits(model, tokens)
    # Layer 0's table is projected once for the whole batch, which we leave out. PyTorch leaves out attention on CPUs.
    inner, every, read = n_heads * 8, model.config.n_ctx - 1, 6
    table = 2 * every * 15 * 24 * 3 * inner
    attention = 2 * 2 * inner * every * (read + (n_layers - 1) * every)
    assert counter.get_total_flops() - table == 64 * (answer_pass_flops(model.config) - attention)


def test_peak_is_a_speed() -> None:
    assert peak_flops(0.05) > 1e8


def test_the_exam_benchmark_without_transformer_lens_says_so() -> None:
    measured = bench_exam(Transformer(ModelConfig.of_width(2, 1, 3, width=24)), Operation.ADD, 600)
    assert measured.rate > 0
    assert measured.ratio is None or measured.agrees


def test_the_ratio_is_ours_over_theirs() -> None:
    assert ExamBench(1, 1, 30.0, 0.5, 64, 10.0, 128, True).ratio == pytest.approx(3)


def test_the_training_benchmark_trains_and_tests() -> None:
    measured = bench_training([ModelName.parse("add_d1_l1_h3_w12_t40_s1")], 500)[0]
    assert measured.step_milliseconds == pytest.approx(1000 * measured.seconds / 40)
    assert measured.n_tested == 500
    assert measured.natural_failures > 0, "forty steps are not enough"
    assert published_step_seconds(ModelName.parse("add_d1_l1_h3_t40_s1"))[0] > 0
