"""Findings: what an experiment found out about a model, as data that can be compared between models.

Takes  nothing.
Gives  `FindingQuestion` (declared once by an experiment) and `ExperimentFinding` (its answer for one model): a typed
       value, how many stimuli or units it rests on, the evidence behind it, the paper's figure beside ours.
Never  is a sentence, and never gives a word for what is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from carrylens.arithmetic.battery.outcome import BesidePaper
from carrylens.claims.verdicts import Verdict
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate


class Unsettled(Enum):
    """Why there is no answer."""

    OPEN = "open"
    UNTESTED = "untested"
    APART = "does not apply"


@dataclass(frozen=True)
class ChosenWord:
    """One of the words that the question declares."""

    word: str


@dataclass(frozen=True)
class Mixture:
    """Several of the words: units such as columns differ within the model."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Number:
    """A number with its interval, beside that of its null, which `null_name` names; a count has no interval."""

    value: float
    low: float | None = None
    high: float | None = None
    null: float | None = None
    null_name: str = "null"


FindingValue = Verdict | ChosenWord | Mixture | Number | Unsettled


@dataclass(frozen=True)
class NamedShare:
    """How often something happens, beside its matched null; `name` says where shares are told apart."""

    name: str
    effect: Rate
    null: Rate


@dataclass(frozen=True)
class ShareEvidence:
    """The shares that a word rests on."""

    shares: tuple[NamedShare, ...]


@dataclass(frozen=True)
class UnitEvidence:
    """How many units, such as columns, are of each kind, the commonest first; `n_untold` could not be told."""

    counts: tuple[tuple[str, int], ...]
    n_untold: int = 0

    @property
    def n_told(self) -> int:
        """How many could be told."""
        return sum(n for _, n in self.counts)


@dataclass(frozen=True)
class RangeEvidence:
    """Numbers of several units, and the largest of their nulls."""

    values: tuple[float, ...]
    null: float


@dataclass(frozen=True)
class NullEvidence:
    """A number, and the largest of the nulls it is held against."""

    value: float
    null: float


@dataclass(frozen=True)
class EvidenceNote:
    """What stands behind a word that no count does."""

    text: str


FindingEvidence = ShareEvidence | UnitEvidence | RangeEvidence | NullEvidence | EvidenceNote


class TrendDirection(Enum):
    """Where the paper says that a number goes as additions get longer."""

    GROWS = "grows"
    FALLS = "falls"


@dataclass(frozen=True)
class FindingAnswer:
    """The value, on how many stimuli or units it rests, and the evidence."""

    value: FindingValue
    n: int = 0
    evidence: FindingEvidence | None = None


NOT_TESTED = FindingAnswer(Unsettled.UNTESTED)
DOES_NOT_APPLY = FindingAnswer(Unsettled.APART)


@dataclass(frozen=True)
class FindingQuestion:
    """What an experiment asks of every model. `name` is stable, `asked` is for people; without `words` any will do."""

    name: str
    asked: str
    words: tuple[str, ...] = ()
    trend: TrendDirection | None = None

    def answered(self, answer: FindingAnswer, paper: BesidePaper | None = None) -> ExperimentFinding:
        """The finding that this answer is."""
        return ExperimentFinding(self, answer.value, answer.n, answer.evidence, paper)


@dataclass(frozen=True)
class ExperimentFinding:
    """The answer to a question for one model, and what the outcome sets beside the paper's figure."""

    question: FindingQuestion
    value: FindingValue
    n: int = 0
    evidence: FindingEvidence | None = None
    paper: BesidePaper | None = None

    def __post_init__(self) -> None:
        given: tuple[str, ...] = (self.value.word,) if isinstance(self.value, ChosenWord) else ()
        given = self.value.words if isinstance(self.value, Mixture) else given
        if self.question.words and not set(given) <= set(self.question.words):
            raise CarryLensError(
                f"{', '.join(given)!r} answers {self.question.name!r} with a word that it does not declare. Declare it."
            )
