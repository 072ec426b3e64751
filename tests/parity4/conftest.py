"""The second independent judge: TransformerLens 4.x, which only an environment of its own has."""

import importlib
import os
import warnings
from typing import Any

import pytest
import torch

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is fetched: every weight is drawn here
with warnings.catch_warnings(action="ignore"):  # its own dependencies warn while they are imported
    importlib.import_module("transformer_lens")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def lens() -> Any:
    return importlib.import_module("transformer_lens")
