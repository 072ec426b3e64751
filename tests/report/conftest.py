"""The explained model, made once for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.explained import explain_plant


@pytest.fixture(scope="session")
def explained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of the model, and what `carrylens explain` printed about it."""
    folder = tmp_path_factory.mktemp("explained") / "model"
    return folder, explain_plant(folder)
