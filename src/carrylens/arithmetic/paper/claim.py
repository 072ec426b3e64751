"""Claims of the paper: what it says, where, and the function that answers it.

Takes  nothing.
Gives  `PaperClaim` and `PaperAnswer`, the records of this room.
Never  holds a figure of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carrylens.arithmetic.paper.saved import PaperEvidence


class Agreement(Enum):
    """How ours stands to the paper's."""

    AGREES = "agrees"
    DIFFERS = "differs"
    OPEN = "open"
    APART = "cannot be compared"
    MISSING = "not measured yet"
    SHOWN = "shown"


@dataclass(frozen=True)
class PaperAnswer:
    """Ours beside the paper's: figures, on how many stimuli or models, the null, the command, and why.

    `n` counts what `of` names. Where an interval belongs to a figure it stands with it in `ours`. A `single` answer is
    about one model: another training run need not have the paper's figure, so no claim falls with it.
    """

    word: Agreement
    ours: str
    n: int | None = None
    of: str = "stimuli or units"
    null: str = ""
    command: str = ""
    why: str = ""
    single: bool = False

    def __post_init__(self) -> None:
        assert self.why or self.word not in (Agreement.APART, Agreement.MISSING), self.ours


PaperReader = Callable[["PaperEvidence"], PaperAnswer]


@dataclass(frozen=True)
class PaperClaim:
    """Something the paper says: `where` in it, in our words with its figures; `answer` reads what we found."""

    where: str
    says: str
    answer: PaperReader

    def record(self, answer: PaperAnswer) -> dict[str, Any]:
        """The claim and its answer as plain data."""
        given = {"ours": answer.ours, "n": answer.n, "of": answer.of, "null": answer.null or None}
        rest = {"command": answer.command or None, "why": answer.why or None}
        return {"where": self.where, "paper": self.says, "word": answer.word.value, **given, **rest}


def missing(what: str, command: str = "") -> PaperAnswer:
    """No such measurement was saved yet; `what` says which is missing."""
    return PaperAnswer(Agreement.MISSING, "", command=command, why=what)
