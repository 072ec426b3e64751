"""Shipped models by name: short ways to `sources.py`.

Takes  a shipped model's name, a folder, or `hf:owner/repository`.
Gives  the folder, or the model in it.
Never  guesses: a name that fits nothing is an error that says what there is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.arithmetic.zoo.sources import SHIPPED, TRAINED, find_folder, find_source, shipped_names

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer

__all__ = ["SHIPPED", "TRAINED", "find_model", "folder_for", "load", "shipped_names"]


def find_model(name: str) -> Path:
    """The folder of the model called `name`: a path, a shipped model, or one trained here."""
    return find_folder(name)


def load(name: str) -> Transformer:
    """The model called `name`, wherever it is, ready to be used."""
    return find_source(name, any_name=True).load()


def folder_for(source: str, _name: str, out: Path | None) -> Path:
    """Where analyses of a model go: `out`, its own folder, or `maps/NAME` where its folder is not ours to change."""
    return find_source(source).analysis_folder(out)
