"""The aligned models that come with carrylens, and those that were trained and not accepted.

Takes  the folders of `arithmetic/zoo/aligned/`, and `not_accepted.json` beside them.
Gives  for each model its algorithm and what its acceptance gave.
Never  imports torch, and never leaves a failure out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from carrylens.arithmetic.zoo.sources import ALIGNED
from carrylens.files import read_whole
from carrylens.folders import read_sealed
from carrylens.json_records import Schema

NOT_ACCEPTED = "not_accepted.json"


class AlignedFigures(msgspec.Struct, frozen=True):
    """One model: its algorithm, how many sites it has, its rates as `[right, rows]`, and what was tried.

    `n_copies` and `n_variables` are the most that one site has.
    """

    name: str
    algorithm: str
    n_sites: int
    n_copies: int
    rates: dict[str, object]
    accepted: bool = True
    n_variables: int = 1
    tried: str = ""


def aligned_figures(folder: Path = ALIGNED) -> list[AlignedFigures]:
    """Every accepted model, by name, then every one that was not accepted."""
    found = [_figures(path) for path in sorted(folder.iterdir()) if path.is_dir()] if folder.is_dir() else []
    refused = folder / NOT_ACCEPTED
    if not refused.is_file():
        return found
    return [*found, *_LIST_SCHEMA.decode(read_whole(refused), str(refused))]


def _figures(path: Path) -> AlignedFigures:
    aligned = _ALIGNED_SCHEMA.decode(read_sealed(path, "aligned.json"), str(path / "aligned.json"))
    rates = _RATES_SCHEMA.decode(read_sealed(path, "acceptance.json"), str(path / "acceptance.json"))
    n_copies = max(len(site.copies) for site in aligned.sites)
    n_variables = max(len(site.variables.split()) for site in aligned.sites)
    return AlignedFigures(path.name, aligned.algorithm, len(aligned.sites), n_copies, rates, n_variables=n_variables)


class _Site(msgspec.Struct):
    variables: str
    copies: list[str]


class _Aligned(msgspec.Struct):
    algorithm: str
    sites: Annotated[list[_Site], msgspec.Meta(min_length=1)]


_ALIGNED_SCHEMA = Schema(_Aligned, "alignment", "Restore it.", others=True)
_RATES_SCHEMA = Schema(dict[str, Any], "acceptance of a model", "Restore it.")
_LIST_SCHEMA = Schema(list[AlignedFigures], "list of models", "Restore it.")
