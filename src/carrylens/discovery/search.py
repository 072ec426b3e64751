"""The search's context: all that travels together from one step of a search to the next.

Takes  an engine, a causal model, how much evidence to gather, where outcomes are kept.
Gives  `SearchContext` and `RoleSettings`.
Never  searches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from carrylens.discovery.stimulus_spec import Split, StimulusSpec, specify
from carrylens.evidence.facts import Fact
from carrylens.interventions.engine import Engine
from carrylens.interventions.waves import Reached, Steps, Waves
from carrylens.progress import Progress, silent
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.layout import Layout
from carrylens.tasks.task import Task

CLEARLY = 0.01
"""The chance below which one rate is clearly above another, where the two are compared and nothing is claimed."""

Note = Callable[[Fact], None]
"""Called with every measurement, those that came to nothing included."""


@dataclass(frozen=True)
class RoleSettings:
    """How much evidence roles are made from, and how much is wanted.

    What hits in `least_hit` of the pairs is tested further; a role that is handed out hits in `least_share` of them.
    """

    n_find: int = 48
    n_confirm: int = 128
    n_compete: int = 48
    least: int = 6
    find_level: float = 0.01
    level: float = 0.001
    least_hit: float = 0.25
    least_share: float = 0.4
    seed: int = 0

    def stimuli(self, split: Split) -> StimulusSpec:
        """The stimuli of a split of the search for roles."""
        counts = {Split.FIND: self.n_find, Split.CONFIRM: self.n_confirm, Split.COMPETE: self.n_compete}
        return specify(split, self.seed, counts[split])


def _forget(_fact: Fact) -> None:
    pass


@dataclass(frozen=True, eq=False)
class SearchContext:
    """An engine, the causal model whose variables are looked for, and how; `note` is told every measurement."""

    engine: Engine
    causal: CausalModel
    settings: RoleSettings = field(default_factory=RoleSettings)
    store: Path | None = None
    progress: Progress = silent
    note: Note = _forget
    waves: Waves = None  # type: ignore[assignment]  # made here where none is handed on

    def __post_init__(self) -> None:
        if self.waves is None:
            object.__setattr__(self, "waves", Waves(self.engine, self.store))

    @property
    def task(self) -> Task:
        """What the model is for."""
        return self.engine.task

    @property
    def layout(self) -> Layout:
        """Where inputs stand and outputs are read."""
        return self.engine.task.layout

    def together(self, steps: Sequence[Steps[Reached]], what: str = "") -> list[Reached]:
        """What each of the steps comes to, with all that wait for the engine run in waves; `what` names the work."""
        watch = partial(self.progress, what) if what else None
        return self.waves.together(steps, watch)

    def saying(self, whose: str) -> SearchContext:
        """The same context, whose progress says what it is about."""
        tell = self.progress
        return replace(self, progress=lambda what, done, total: tell(f"{what} of {whose}", done, total))
