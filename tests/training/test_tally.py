"""The tally: means over all rows since the last note, by condition and output."""

from __future__ import annotations

import torch

from carrylens.training.batches import NO_CONDITION
from carrylens.training.tally import LossTally


def test_means_are_over_rows_not_over_batches() -> None:
    tally = LossTally(["add", "sub", "never"])
    tally.add(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.tensor([0, 0, 1]))
    tally.add(torch.tensor([[7.0, 8.0]]), torch.tensor([0]), {"held": torch.tensor([0.5, 1.5])})
    tally.add(torch.tensor([[100.0, 100.0]]), torch.tensor([NO_CONDITION]), {"held": torch.tensor([2.0, 2.0])})
    line = tally.line()
    assert line["loss"] == 23.6
    assert line["token_losses"] == {"add": [3.67, 4.67], "sub": [5.0, 6.0]}, "no condition is in the mean alone"
    assert line["held"] == 1.5
