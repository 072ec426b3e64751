"""Devices by name."""

import re
from pathlib import Path

import pytest
import torch

from carrylens.errors import CarryLensError
from carrylens.training import losses
from carrylens.training.devices import device_called


def test_the_cpu_is_always_there() -> None:
    assert device_called("cpu") == torch.device("cpu")


def test_auto_is_the_fastest_there_is() -> None:
    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    assert device_called("auto").type == ("cuda" if has_cuda else "mps" if has_mps else "cpu")


def test_a_device_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(CarryLensError, match="'abacus' .* cpu"):
        device_called("abacus")


def test_losses_are_in_float64_but_on_mps_which_has_none() -> None:
    assert losses.precision_on(torch.device("mps")) is torch.float32
    assert losses.precision_on(torch.device("cpu")) is losses.precision_on(torch.device("cuda")) is torch.float64
    logits, wanted = torch.zeros(2, 3, 15), torch.zeros(2, 3, dtype=torch.long)
    assert losses.token_losses(logits, wanted).dtype is torch.float64


def test_nothing_else_in_training_asks_a_device_for_float64() -> None:
    asking = [
        path.name
        for path in Path(losses.__file__).parent.glob("*.py")
        if re.search(r"\.double\(|torch\.float64|torch\.double", path.read_text())
    ]
    assert asking == ["losses.py"]
