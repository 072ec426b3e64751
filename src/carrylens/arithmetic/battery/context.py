"""Context: what every step of an experiment needs, as one value.

Takes  a subject, how much evidence to gather, who watches.
Gives  `ExperimentContext`, handed down from the registry to the last measurement.
Never  changes while an experiment runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.subject import Subject

ProgressWatch = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""


def unwatched(_what: str, _done: int, _total: int) -> None:
    """Let progress pass by unseen."""


@dataclass(frozen=True)
class ExperimentContext:
    """The model that is studied, how much evidence is gathered about it, and who is told of the progress."""

    subject: Subject
    settings: BatterySettings
    watch: ProgressWatch = unwatched
