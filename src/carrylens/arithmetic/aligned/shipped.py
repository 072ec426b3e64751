"""The aligned models that come with carrylens, and those that were trained and not accepted.

Takes  the folders of `arithmetic/zoo/aligned/`, and `not_accepted.json` beside them.
Gives  for each model its algorithm and what its acceptance gave.
Never  imports torch, and never leaves a failure out.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from carrylens.arithmetic.zoo.sources import ALIGNED
from carrylens.errors import CarryLensError

NOT_ACCEPTED = "not_accepted.json"


class AlignedFigures(msgspec.Struct, frozen=True):
    """One model: its algorithm, how many sites it has, its rates as `[right, rows]`, and what was tried."""

    name: str
    algorithm: str
    n_sites: int
    n_copies: int
    rates: dict[str, object]
    accepted: bool = True
    tried: str = ""


def aligned_figures(folder: Path = ALIGNED) -> list[AlignedFigures]:
    """Every accepted model, by name, then every one that was not accepted."""
    found = [_figures(path) for path in sorted(folder.iterdir()) if path.is_dir()] if folder.is_dir() else []
    refused = folder / NOT_ACCEPTED
    if not refused.is_file():
        return found
    try:
        return [*found, *msgspec.json.decode(refused.read_bytes(), type=list[AlignedFigures])]
    except msgspec.MsgspecError as error:
        raise CarryLensError(f"{refused} lists no models ({error}). Restore it.") from error


def _figures(path: Path) -> AlignedFigures:
    try:
        aligned = msgspec.json.decode((path / "aligned.json").read_bytes(), type=_Aligned)
        rates = msgspec.json.decode((path / "acceptance.json").read_bytes(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise CarryLensError(f"{path} is no whole folder of an aligned model ({error}). Restore it.") from error
    n_copies = max(len(site.copies) for site in aligned.sites)
    return AlignedFigures(path.name, aligned.algorithm, len(aligned.sites), n_copies, rates)


class _Site(msgspec.Struct):
    variables: str
    copies: list[str]


class _Aligned(msgspec.Struct):
    algorithm: str
    sites: list[_Site]
