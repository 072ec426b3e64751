"""Analyses: which model is analysed, with how much evidence, and where what is found goes.

Takes  a model's name or folder, and options that commands share.
Gives  `Analysis`, the one value that mapping, experiments and explaining are given.
Never  loads the model before it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from carrylens import __version__
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.claims.own_files import own_folders, slug
from carrylens.files import inner_folder
from carrylens.model.source import ModelSource
from carrylens.progress import Progress, silent

if TYPE_CHECKING:  # PyTorch is imported only by the commands that need it
    from carrylens.claims.hypothesis import Hypothesis
    from carrylens.model.transformer import Transformer


@dataclass(frozen=True, eq=False)
class Analysis:
    """One model, and how it is analysed. `hypothesis_file` declares variables of the user's own."""

    source: ModelSource
    out: Path | None = None
    device: str = "cpu"
    threads: int = 0
    progress: Progress = silent
    quick: bool = False
    seed: int = 0
    restart: bool = False
    hypothesis_file: Path | None = None

    @cached_property
    def model(self) -> Transformer:
        """The model, on its device."""
        from carrylens.training.devices import device_called

        return self.source.load(device_called(self.device, self.threads).type)

    @cached_property
    def hypothesis(self) -> Hypothesis | None:
        """The user's own hypothesis, if there is one."""
        return None if self.hypothesis_file is None else own_hypothesis(self.hypothesis_file, self.source.task)

    @property
    def about(self) -> dict[str, object]:
        """What is kept beside all that is measured."""
        return {"version": __version__, "sha256": self.source.sha256}

    @property
    def folder(self) -> Path:
        """Where what is found goes; what is found with a hypothesis of the user's own, to a folder of its name."""
        return self._inside(self.source.analysis_folder(self.out))

    @property
    def places(self) -> list[Path]:
        """Where it may be already: there, and in the model's own folder, unless a folder was named."""
        places = [self.source.analysis_folder(self.out)] if self.out else self.source.analysis_places(None)
        if self.hypothesis is None or self.out is not None:
            return places
        return [inner_folder(each.parent, each.name) for each in own_folders(places, self.hypothesis.name)]

    def _inside(self, folder: Path) -> Path:
        if self.hypothesis is None or self.out is not None:
            return folder
        return inner_folder(folder, slug(self.hypothesis.name))
