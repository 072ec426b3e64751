"""Tail averaging against a plain mean."""

from __future__ import annotations

import pytest
import torch

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer
from carrylens.training.averaging import TailAverage


def a_model() -> Transformer:
    return Transformer(config_of_width(1, 1, 1, width=6, seed=1)).double()


def walk(model: Transformer, average: TailAverage, steps: range) -> list[dict[str, torch.Tensor]]:
    """Change the weights at random, step by step, and give them as they were after each step."""
    seen = []
    for step in steps:
        generator = torch.Generator().manual_seed(step)
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(torch.randn(weight.shape, generator=generator, dtype=weight.dtype))
        average.add(model, step)
        seen.append({name: weight.detach().clone() for name, weight in model.named_parameters()})
    return seen


def test_the_average_is_the_plain_mean_over_the_last_steps() -> None:
    model, average = a_model(), TailAverage(0.3, 10)
    seen = walk(model, average, range(1, 11))
    average.apply(model)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.detach(), torch.stack([each[name] for each in seen[-3:]]).mean(0))


def test_without_a_tail_the_last_weights_stay() -> None:
    model, average = a_model(), TailAverage(0.0, 10)
    seen = walk(model, average, range(1, 11))
    average.apply(model)
    assert all(torch.equal(weight, seen[-1][name]) for name, weight in model.named_parameters())
    assert average.state() == {}


@pytest.mark.parametrize("stopped", [5, 7, 9])
def test_an_average_goes_on_to_the_same_bits(stopped: int) -> None:
    whole, model = TailAverage(0.3, 10), a_model()
    walk(model, whole, range(1, 11))
    first, other = TailAverage(0.3, 10), a_model()
    walk(other, first, range(1, stopped + 1))
    second = TailAverage(0.3, 10)
    second.load_state(first.state(), other, stopped)
    walk(other, second, range(stopped + 1, 11))
    assert whole.state().keys() == second.state().keys()
    assert all(torch.equal(mean, second.state()[name]) for name, mean in whole.state().items())


def test_a_checkpoint_without_its_averages_is_refused() -> None:
    with pytest.raises(CarryLensError, match="--restart"):
        TailAverage(0.3, 10).load_state({}, a_model(), 9)
