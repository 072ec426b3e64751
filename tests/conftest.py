"""One thread for every test: on busy cores two make small tensors many times slower. One explained model for all."""

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

from heavy_outcomes import locked, nothing_kept

# Two files of one name collide where doctests are collected, and conftest.py is in several folders.
collect_ignore_glob = ["*conftest.py"]

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def outcomes_of_patched_code_are_not_kept(request: pytest.FixtureRequest) -> Iterator[None]:
    with nothing_kept() if "monkeypatch" in request.fixturenames else nullcontext():
        yield


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
