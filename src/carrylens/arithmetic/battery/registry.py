"""The registry: every experiment, in the order they are run.

Takes  nothing.
Gives  `EXPERIMENTS`: each a card and a function.
Never  runs one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from carrylens.arithmetic.battery import (
    axes,
    combiner,
    lenses,
    make_carry,
    necessity,
    patching,
    paths,
    polysemy,
    probes,
    restoration,
    selection,
    sufficiency,
    whole,
)
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import Card, Outcome
from carrylens.errors import CarryLensError, quote


@dataclass(frozen=True)
class Experiment:
    """A card, and what does what it says; one that does not read the subject's map outlives a new map."""

    card: Card
    run: Callable[[ExperimentContext], Outcome]
    reads_map: bool = False


EXPERIMENTS = (
    Experiment(make_carry.CARD, make_carry.run),
    Experiment(patching.CARD, patching.run),
    Experiment(paths.CARD, paths.run),
    Experiment(whole.CARD, whole.run, reads_map=True),
    Experiment(necessity.CARD, necessity.run, reads_map=True),
    Experiment(sufficiency.CARD, sufficiency.run, reads_map=True),
    Experiment(restoration.CARD, restoration.run, reads_map=True),
    Experiment(combiner.CARD, combiner.run),
    Experiment(probes.CARD, probes.run),
    Experiment(axes.CARD, axes.run),
    Experiment(selection.CARD, selection.run),
    Experiment(polysemy.CARD, polysemy.run),
    Experiment(lenses.CARD, lenses.run),
)


def experiments_called(only: str | None) -> tuple[Experiment, ...]:
    """The experiment of that name, or all."""
    found = tuple(each for each in EXPERIMENTS if only in (None, each.card.name))
    if not found:
        names = ", ".join(each.card.name for each in EXPERIMENTS)
        raise CarryLensError(f"{quote(str(only))} is no experiment. Write one of {names}.")
    return found
