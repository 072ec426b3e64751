"""One thread for every test: on busy cores two make small tensors many times slower. One explained model for all."""

from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def explained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a planted model, and what `carrylens explain` printed about it."""
    from report.explained import explain_plant

    folder = tmp_path_factory.mktemp("explained") / "model"
    return folder, explain_plant(folder)
