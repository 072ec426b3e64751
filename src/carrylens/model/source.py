"""Model sources: a model that was found, before anything of it is loaded.

Takes  what finding it told: its name, its task, where it lies, and how it is read.
Gives  `ModelSource`: the one way in which commands hold a model; its weights' hash; the folder its analyses go to.
Never  imports torch before `load`, and never writes into a model that came with the package.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.errors import CarryLensError
from carrylens.files import place_here
from carrylens.folders import MANIFEST, WEIGHTS, hash_of_weights, settle
from carrylens.tasks.task import Task

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer

ANALYSES = Path("maps")
"""Where analyses of models go whose folders are not to be changed."""


@dataclass(frozen=True, eq=False)
class ModelSource:
    """A model by what the user wrote for it. `folder` is where it lies, None if on the Hub; `reader` loads it."""

    given: str
    name: str
    task: Task
    folder: Path | None
    is_shipped: bool
    reader: Callable[[], Transformer]

    @property
    def has_weights(self) -> bool:
        """Whether its weights are here: not those of a repository, nor of a folder that holds a map alone."""
        return self.folder is not None and any((self.folder / name).is_file() for name in (WEIGHTS, "model.pth"))

    def load(self, device: str = "cpu") -> Transformer:
        """The model, ready to be used, with its task."""
        model = self.reader().eval()
        model.task, model.given = self.task, self.given
        return model.to(device)

    @cached_property
    def sha256(self) -> str:
        """The hash of the weights, whatever file they came from."""
        if self.folder is not None and (self.folder / WEIGHTS).is_file():
            return hash_of_weights(self.folder / WEIGHTS)
        from carrylens.model.weights import hash_of  # published weights are known once they are read

        return hash_of(self.reader())

    def analysis_folder(self, out: Path | None) -> Path:
        """Where analyses go: `out`, the model's own folder, or `maps/NAME` where that is not ours to change."""
        folder = self._analysis_folder(out)
        settle(folder)
        return folder

    def _analysis_folder(self, out: Path | None) -> Path:
        own = None if self.folder is None else self.folder.resolve()
        if out is not None:
            if out.resolve() != own and self._is_of_another(out):
                raise CarryLensError(f"{out} is the folder of another model. Give one that is not, or leave out --out.")
            return out
        if own is None or self.folder is None or self.is_shipped:
            return place_here(ANALYSES / self.name)
        is_ours = (self.folder / MANIFEST).exists() and os.access(self.folder, os.W_OK)
        return self.folder if is_ours else place_here(ANALYSES / self.name)

    def _is_of_another(self, out: Path) -> bool:
        if (out / "model.pth").exists():
            return True
        return (out / WEIGHTS).exists() and hash_of_weights(out / WEIGHTS) != self.sha256

    def analysis_places(self, out: Path | None) -> list[Path]:
        """Where analyses may be already: the folder they go to, then the model's own, which may have come with some."""
        chosen = self.analysis_folder(out)
        own = [] if self.folder is None or self.folder.resolve() == chosen.resolve() else [self.folder]
        return [chosen, *own]
