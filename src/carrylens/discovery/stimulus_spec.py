"""Stimulus specifications: how many stimuli each split of a search has, and with which seed they are drawn.

Takes  a search's seed and amounts, or what a saved map says.
Gives  `StimulusSpec` for each `Split`: all that is needed to draw the very same stimuli again.
Never  draws one, and never imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum

SPECIFICATION = "specification"
"""What a map's `stimuli` call the specifications."""
MADE_FOR = "made_for"
"""What a map's `stimuli`, and those of a fact, call what pairs were made for; earlier versions do not say."""
MADE_FOR_OUTPUT = "output"
"""Pairs were made for each variable and output."""


class Split(Enum):
    """What stimuli are for; no two splits of a search share a draw."""

    FIND = "find"
    GROUPS = "groups"
    CONFIRM = "confirm"
    COMPETE = "compete"


@dataclass(frozen=True)
class StimulusSpec:
    """So many stimuli for each variable, drawn with this seed."""

    count: int
    seed: int


def specify(split: Split, seed: int, count: int) -> StimulusSpec:
    """The stimuli of one split of the search with this seed.

    >>> specify(Split.CONFIRM, 1, 48)
    StimulusSpec(count=48, seed=6)
    """
    return StimulusSpec(count, len(Split) * seed + list(Split).index(split))


def plain_specs(specs: Mapping[Split, StimulusSpec]) -> dict[str, dict[str, int]]:
    """The specifications as a map keeps them."""
    return {split.value: asdict(spec) for split, spec in specs.items()}


def saved_spec(stimuli: Mapping[str, object], split: Split) -> StimulusSpec | None:
    """What a map says of a split; None if it does not say. Maps of the first version say it by their settings."""
    kept = stimuli.get(SPECIFICATION)
    if isinstance(kept, Mapping):
        said = kept.get(split.value)
        return _spec(said.get("count"), said.get("seed")) if isinstance(said, Mapping) else None
    settings = _inside(stimuli, "settings")
    given = {**_inside(settings, "roles"), **settings, **stimuli}
    found = _spec(given.get(f"n_{split.value}"), given.get("seed", 0))
    return None if found is None else specify(split, found.seed, found.count)


def _inside(said: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = said.get(name)
    return found if isinstance(found, Mapping) else {}


def _spec(count: object, seed: object) -> StimulusSpec | None:
    return StimulusSpec(count, seed) if type(count) is int and type(seed) is int else None
