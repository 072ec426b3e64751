"""The state of a family run: what is done, what runs where, what is left, and how long that may take.

Takes  rows, and what is heard of their steps.
Gives  `FamilyState`, which the terminal shows; a record of each step that ended.
Never  decides what runs next, and never reads a clock: it is told the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from carrylens.arithmetic.family.rows import STEP_NAMES, ModelRow


class StepEnd(Enum):
    """What became of a step."""

    DONE = "done"
    THERE = "was there"
    PASSED = "passed over"
    MISSED = "misses the bar"
    STOPPED = "not gone on with"
    FAILED = "failed"


_OVER = (StepEnd.MISSED, StepEnd.STOPPED, StepEnd.FAILED)


@dataclass(frozen=True)
class StepUnderWay:
    """A step that a worker is at: what it is doing, and how much of that is done, from 0 to 1."""

    row: str
    step: str
    where: str
    since: float
    what: str = ""
    share: float = 0.0


@dataclass(frozen=True)
class EndedStep:
    """A step that has ended, how, after how many seconds of work, and the one line that says why it failed.

    `cpu_seconds` is what its process used of processors: that does not depend on what else the machine does.
    """

    row: str
    step: str
    end: StepEnd
    seconds: float = 0.0
    where: str = ""
    error: str = ""
    cpu_seconds: float = 0.0

    def record(self) -> dict[str, object]:
        """As plain data."""
        plain: dict[str, object] = {"row": self.row, "step": self.step, "end": self.end.value}
        plain |= {"seconds": round(self.seconds, 2), "cpu_seconds": round(self.cpu_seconds, 2)}
        return plain | {name: value for name, value in (("where", self.where), ("error", self.error)) if value}


@dataclass
class FamilyState:
    """All steps of all rows. `n_workers` is how many there are now."""

    rows: Sequence[ModelRow]
    n_workers: int = 0
    ended: dict[tuple[str, str], EndedStep] = field(default_factory=dict)
    under_way: dict[tuple[str, str], StepUnderWay] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many steps there are."""
        return sum(len(row.steps) for row in self.rows)

    @property
    def done(self) -> bool:
        """Whether every step has ended."""
        return len(self.ended) == self.total

    @property
    def failed(self) -> list[EndedStep]:
        """The steps that failed."""
        return [each for each in self.ended.values() if each.end is StepEnd.FAILED]

    def hear(self, now: float, row: str, step: str, where: str, what: str, share: float) -> None:
        """A worker tells how far it is."""
        if (row, step) in self.ended:
            return
        before = self.under_way.get((row, step))
        since = before.since if before is not None and before.where == where else now
        self.under_way[row, step] = StepUnderWay(row, step, where, since, what, share)

    def end(self, ended: EndedStep) -> None:
        """A step has ended."""
        self.under_way.pop((ended.row, ended.step), None)
        self.ended[ended.row, ended.step] = ended

    def forget_workers(self, there: Sequence[str]) -> None:
        """Steps of workers that are gone are under way no more: another will take them."""
        self.under_way = {key: each for key, each in self.under_way.items() if each.where in there}

    def counts(self) -> dict[str, int]:
        """How many steps ended in which way."""
        return dict(Counter(each.end.value for each in self.ended.values()))

    def seconds_left(self, now: float) -> float | None:
        """What is left, if every step takes as long as those of its name took so far; None if too little is known."""
        usual = self._usual_seconds()
        left = 0.0
        for row, step in self._open():
            if step not in usual:
                return None
            mine = self.under_way.get((row, step))
            took = 0.0 if mine is None else now - mine.since
            left += max(usual[step] - took, 0.05 * usual[step])
        return left / max(self.n_workers, 1)

    def cpu_of_steps(self) -> dict[str, float]:
        """The CPU seconds of each step that did work, on average, in the order of the route."""
        took: dict[str, list[float]] = {}
        for each in self.ended.values():
            if each.end in (StepEnd.DONE, StepEnd.MISSED) and each.cpu_seconds:
                took.setdefault(each.step, []).append(each.cpu_seconds)
        return {step: sum(took[step]) / len(took[step]) for step in STEP_NAMES if step in took}

    def _usual_seconds(self) -> dict[str, float]:
        took: dict[str, list[float]] = {}
        for each in self.ended.values():
            if each.end in (StepEnd.DONE, StepEnd.MISSED):
                took.setdefault(each.step, []).append(each.seconds)
            elif each.end is StepEnd.PASSED:
                took.setdefault(each.step, []).append(0.0)
        return {step: sum(seconds) / len(seconds) for step, seconds in took.items()}

    def _open(self) -> Iterator[tuple[str, str]]:
        for row in self.rows:
            if any(self.ended.get((row.folder, step)) and self._is_over(row, step) for step in row.steps):
                continue
            yield from ((row.folder, step) for step in row.steps if (row.folder, step) not in self.ended)

    def _is_over(self, row: ModelRow, step: str) -> bool:
        return self.ended[row.folder, step].end in _OVER
