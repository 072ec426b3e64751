"""One thread for every test: on busy cores two make small tensors many times slower. One explained model for all."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy reads it when it is imported, and so do processes we start

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from heavy_outcomes import locked, nothing_kept
from slow_places import SLOW_PLACES, is_in

# Two files of one name collide where doctests are collected, and conftest.py is in several folders.
collect_ignore_glob = ["*conftest.py"]

torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_in(SLOW_PLACES, item.path):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and never in what was imported: walking over PyTorch took a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture
def monkeypatch(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Pytest's own; outcomes of patched code are neither kept nor read."""
    with nothing_kept():
        yield monkeypatch


@pytest.fixture(scope="session")
def explained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a planted model, and what `carrylens explain` printed about it; for all workers one."""
    from report.explained import explain_plant

    mine = tmp_path_factory.getbasetemp()
    shared = mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine
    folder, printed = shared / "explained" / "model", shared / "explained.txt"
    with locked(shared / "explained.lock"):
        if not printed.exists():
            folder.parent.mkdir()
            printed.write_text(explain_plant(folder))
    return folder, printed.read_text()
