"""Devices by name."""

import pytest
import torch

from carrylens.errors import CarryLensError
from carrylens.training.devices import device_called


def test_the_cpu_is_always_there() -> None:
    assert device_called("cpu") == torch.device("cpu")


def test_auto_is_the_fastest_there_is() -> None:
    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    assert device_called("auto").type == ("cuda" if has_cuda else "mps" if has_mps else "cpu")


def test_a_device_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(CarryLensError, match="There is no device 'abacus' here. Write one of cpu"):
        device_called("abacus")
