"""The independent judge: TransformerLens 2.x, which only the environment of `make parity` has."""

import importlib
import warnings
from typing import Any

import pytest
import torch

with warnings.catch_warnings(action="ignore"):  # its own dependencies warn while they are imported
    importlib.import_module("transformer_lens")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def lens() -> Any:
    return importlib.import_module("transformer_lens")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the largest difference found in each precision."""
    found: dict[str, float] = {}
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for precision, gap in report.user_properties:
            found[precision] = max(gap, found.get(precision, 0.0))
    for precision, gap in found.items():
        terminalreporter.write_line(f"largest difference in {precision}: {gap:.1e}")
