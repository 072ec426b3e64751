"""The registry: every experiment, in the order they are run.

Takes  nothing.
Gives  `EXPERIMENTS`.
Never  runs one.
"""

from __future__ import annotations

from carrylens.arithmetic.battery import (
    axes,
    combiner,
    make_carry,
    necessity,
    patching,
    paths,
    polysemy,
    probes,
    readouts,
    restoration,
    selection,
    sufficiency,
    whole_algorithm,
)
from carrylens.arithmetic.battery.experiment import Experiment
from carrylens.arithmetic.battery.outcome import Card
from carrylens.errors import CarryLensError, quote

EXPERIMENTS: tuple[Experiment, ...] = (
    make_carry.EXPERIMENT,
    patching.EXPERIMENT,
    paths.EXPERIMENT,
    whole_algorithm.EXPERIMENT,
    necessity.EXPERIMENT,
    sufficiency.EXPERIMENT,
    restoration.EXPERIMENT,
    combiner.EXPERIMENT,
    probes.EXPERIMENT,
    axes.EXPERIMENT,
    selection.EXPERIMENT,
    polysemy.EXPERIMENT,
    readouts.EXPERIMENT,
)


def experiments_called(only: str | None) -> tuple[Experiment, ...]:
    """The experiment of that name, or all."""
    found = tuple(each for each in EXPERIMENTS if only in (None, each.name))
    if not found:
        names = ", ".join(each.name for each in EXPERIMENTS)
        raise CarryLensError(f"{quote(str(only))} is not an experiment. Write one of {names}.")
    return found


def card_called(name: str) -> Card | None:
    """The card of an experiment as it stands; None where there is no such experiment any more."""
    return next((each.card for each in EXPERIMENTS if each.name == name), None)
