"""Joint rates: how often an algorithm says what interventions at its sites do, as it is kept.

Takes  rates, an alignment, what they were measured on.
Gives  `JointRates`, and `MeasuredAlignment`, which is written to `alignment.json` and read from it.
Never  imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from carrylens.alignment import Alignment
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.folders import read_checked
from carrylens.json_records import Count, PositiveCount, Schema, Share, to_text

ALIGNMENT = "alignment.json"


class CarrierRate(Struct, frozen=True):
    """One target by itself: how often the outputs become the counterfactual ones, and how often any changes where none
    should. `nodes` are its site; none, if no site was found."""

    target: str
    family: str
    nodes: tuple[str, ...]
    hit: Rate
    null: Rate


class DeviationRecord(Struct, frozen=True):
    """Where `where` holds, `inside` of the rows fail, elsewhere `outside`; it holds for a `share` of the questions."""

    where: str
    share: Share
    inside: Rate
    outside: Rate


class JointRates(Struct, frozen=True):
    """What came out.

    | field | counts |
    |---|---|
    | `interchange` | rows in which several variables move and an output should change: all outputs are the predicted ones |
    | `changed`, `kept` | the same, output by output: those that should change, and those that should stay |
    | `scrubbed` | answers that stand with all else resampled |
    | `both` | rows in which several variables move and all else is resampled |
    | `answers` | untouched answers that are the algorithm's |
    | `outputs`, `classes` | `interchange` by output that should change, and by class of question |
    | `permuted` | `interchange` with sites given to other variables: the best of several ways |
    """  # noqa: E501

    interchange: Rate
    changed: Rate
    kept: Rate
    scrubbed: Rate
    both: Rate
    answers: Rate
    outputs: dict[str, Rate]
    classes: dict[str, Rate]
    permuted: Rate
    carriers: tuple[CarrierRate, ...] = ()
    deviation: DeviationRecord | None = None

    @property
    def families(self) -> dict[str, Rate]:
        """How the targets of each family do by themselves, all together."""
        found = dict[str, Rate]()
        for each in self.carriers:
            before = found.get(each.family, Rate(0, 0))
            found[each.family] = Rate(before.hits + each.hit.hits, before.n + each.hit.n)
        return found

    @property
    def worst_output(self) -> tuple[str, Rate] | None:
        """The output that does worst."""
        return min(self.outputs.items(), key=lambda each: each[1].value, default=None)


QUICK_FIT_ROWS, FULL_FIT_ROWS = 128, 256
"""On how many rows of joint interventions sites are chosen."""


class DrawnFrom(Struct, frozen=True):
    """What was measured on: the population, the seed, rows of the joint test, of each target's own, and of the fit."""

    population: str
    seed: int
    rows: Count
    each: Count
    fit_rows: Count
    fit_sweeps: Count

    @property
    def is_quick_fit(self) -> bool:
        """Whether sites were searched for with fewer rows than a full fit has."""
        return self.fit_rows < FULL_FIT_ROWS


class RivalRates(Struct, frozen=True):
    """How a rival does that was fitted just as hard. One that `includes` the hypothesis runs it on some questions.

    One that was `given_up` surely explained less than half as much after two sweeps, and was not fitted further.
    """

    hypothesis: str
    interchange: Rate
    scrubbed: Rate
    both: Rate
    answers: Rate
    includes: bool = False
    given_up: bool = False


class PopulationAnswers(Struct, frozen=True):
    """How many of a population's questions the model answers as the algorithm does."""

    population: str
    agree: Rate


class _Record(Struct, frozen=True):
    model: str
    sha256: str
    hypothesis: str
    alignment: dict[str, Any]
    rates: JointRates
    drawn: DrawnFrom
    rivals: tuple[RivalRates, ...] = ()
    populations: tuple[PopulationAnswers, ...] = ()
    looks: PositiveCount = 1
    joined: bool = False


_SCHEMA = Schema(_Record, "measured alignment", "Align the model again: carrylens settle MODEL.")


@dataclass(frozen=True)
class MeasuredAlignment:
    """One site for each variable of an algorithm in one model, and how well it holds on held-out questions.

    `hypothesis` is what was to be shown; `alignment.algorithm` may be another form of it. `looks` counts how often the
    rates were looked at while they grew. `joined` says that variables of the same inputs stand in the same nodes and
    were moved together.
    """

    model: str
    sha256: str
    hypothesis: str
    alignment: Alignment
    rates: JointRates
    drawn: DrawnFrom
    rivals: tuple[RivalRates, ...] = ()
    populations: tuple[PopulationAnswers, ...] = ()
    looks: int = 1
    joined: bool = False

    def is_of(self, model: str, sha256: object, hypothesis: str) -> bool:
        """Whether it is of this model, of these weights where they are known, and about this hypothesis."""
        return (self.model, self.hypothesis) == (model, hypothesis) and sha256 in (None, self.sha256)

    def to_json(self) -> bytes:
        """The bytes of `alignment.json`."""
        sites = Schema(dict[str, Any], "alignment", "").decode(self.alignment.to_json(), ALIGNMENT)
        record = _Record(
            self.model,
            self.sha256,
            self.hypothesis,
            sites,
            self.rates,
            self.drawn,
            self.rivals,
            self.populations,
            self.looks,
            self.joined,
        )
        return (to_text(record, indent=1) + "\n").encode()

    @classmethod
    def from_json(cls, content: bytes, source: str = ALIGNMENT) -> MeasuredAlignment:
        """What `to_json` wrote; `source` is what an error calls it."""
        said = _SCHEMA.decode(content, source)
        aligned = Alignment.from_json(to_text(said.alignment), source)
        if aligned.algorithm == "":
            raise CarryLensError(f"{source} does not name an algorithm. Align the model again: carrylens settle MODEL.")
        return cls(
            said.model,
            said.sha256,
            said.hypothesis,
            aligned,
            said.rates,
            said.drawn,
            said.rivals,
            said.populations,
            said.looks,
            said.joined,
        )


def read_alignment(path: Path) -> MeasuredAlignment:
    """The alignment in a file."""
    content, _ = read_checked(path, "Align the model first: carrylens settle MODEL.")
    return MeasuredAlignment.from_json(content, str(path))
