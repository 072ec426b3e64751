"""Layouts: how a question and its answer are written, as the paper's models read them or as others do.

Takes  a number of digits, and what differs from the paper's layout.
Gives  `QuestionLayout`, which can be saved, and the `Layout` it describes.
Never  knows an algorithm.

The paper's: D(n-1)..D0, operator, D'(n-1)..D'0, =, sign, A(n)..A0, without a token to begin or end with. Others write
the units first, leave the operator or the sign out, begin with a token of their own, end with one, or read the answer
at query tokens instead of feeding it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any

from carrylens.arithmetic.questions import check_digits
from carrylens.arithmetic.variables import D_PRIME, FAMILIES, OPR, SGN, A, D
from carrylens.errors import CarryLensError, quote
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.variables import Variable

VOCABULARY = tuple("0123456789+-=*/")
"""The published models' tokens; a token's id is its place here. `*` and `/` are never used."""

_FAMILIES = tuple(FAMILIES[name] for name in ("D", "D'", "OPR", "SGN", "A"))


PAPER_LAYOUT = "paper"
_LETTERS = tuple("equals")
_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    PAPER_LAYOUT: {},
    "unsigned": {"sign": False},
    "equals": {"equals": _LETTERS, "vocabulary": (*VOCABULARY, *dict.fromkeys(_LETTERS))},
}
"""Layouts that the paper tried: without a sign before the answer, and with `equals`, a token a letter, for `=`."""


@dataclass(frozen=True)
class QuestionLayout:
    """How questions of `digits` digits are written.

    `units_first`: both operands and the answer begin with their units. `start`, `equals`, `end` and `padding` are
    tokens that stand before the question, after it, after the answer, and after that, as often as they are given; none
    if empty. `answer_digits` is how many digits an answer has, one more than an operand if 0. `query` is the token at
    which each part of the answer is read, if answers are not fed back. `vocabulary` has the tokens in the order of
    their ids, `output_vocabulary` those of the answer where they are others.
    """

    digits: int
    units_first: bool = False
    operator: bool = True
    sign: bool = True
    answer_digits: int = 0
    start: tuple[str, ...] = ()
    equals: tuple[str, ...] = ("=",)
    end: tuple[str, ...] = ()
    padding: tuple[str, ...] = ()
    query: str = ""
    vocabulary: tuple[str, ...] = VOCABULARY
    output_vocabulary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_digits(self.digits)
        if self.answer_digits not in (0, self.digits, self.digits + 1):
            raise CarryLensError(
                f"An answer of {self.answer_digits} digits does not fit operands of {self.digits}. Write "
                f"{self.digits} or {self.digits + 1}."
            )

    @property
    def n_answer_digits(self) -> int:
        """How many digits an answer has."""
        return self.answer_digits or self.digits + 1

    @property
    def is_standard(self) -> bool:
        """Whether this is the paper's layout."""
        return self == QuestionLayout(self.digits)

    def layout(self) -> Layout:
        """The layout itself."""
        return _layout(self)

    def record(self) -> dict[str, Any]:
        """What differs from the paper's layout, as plain data."""
        usual = asdict(QuestionLayout(self.digits))
        return {name: value for name, value in asdict(self).items() if name == "digits" or value != usual[name]}

    @classmethod
    def from_record(cls, given: Mapping[str, Any]) -> QuestionLayout:
        """The layout that a record describes; a string stands for its letters where tokens are wanted."""
        tokens = ("start", "equals", "end", "padding", "vocabulary", "output_vocabulary")
        split = {
            name: list(value) for name, value in given.items() if name in tokens and isinstance(value, str | tuple)
        }
        from carrylens.json_records import Schema  # only who reads a file needs msgspec

        names = ", ".join(field.name for field in fields(cls))
        return Schema(cls, "layout", f"Name some of {names}.").convert({**given, **split}, "This")


@cache
def _layout(chosen: QuestionLayout) -> Layout:
    slots = tuple(_slots(chosen))
    names = [slot.name for slot in slots]
    if len(set(names)) < len(names):
        raise CarryLensError(f"Two places of the layout have the same name: {' '.join(names)}. Give other tokens.")
    as_number = tuple(_outputs(replace(chosen, units_first=False)))
    return Layout(chosen.vocabulary, slots, _FAMILIES, chosen.output_vocabulary or None, as_number)


def _slots(chosen: QuestionLayout) -> Iterator[Slot]:
    yield from _constants("start", chosen.start)
    yield from (Slot(f"D{k}", input=D[k]) for k in _order(chosen, chosen.digits))
    if chosen.operator:
        missing = [token for token in "+-" if token not in chosen.vocabulary]
        only = {"-": "+", "+": "-"}.get("".join(missing))  # a model that only adds may have no minus
        yield Slot("+", input=OPR) if only is None else Slot("+", token=only)
    yield from (Slot(f"D'{k}", input=D_PRIME[k]) for k in _order(chosen, chosen.digits))
    yield from _constants("", chosen.equals)
    for output in _outputs(chosen):
        name = f"A{chosen.digits + 1}" if output == SGN else f"A{output.index}"
        if chosen.query:
            yield Slot(name, token=chosen.query, reads=output)
        else:
            yield Slot(name, output=output)
    yield from _constants("end", chosen.end)
    yield from _constants("pad", chosen.padding)


def _outputs(chosen: QuestionLayout) -> list[Variable]:
    digits: list[Variable] = [A[k] for k in _order(chosen, chosen.n_answer_digits)]
    return [SGN, *digits] if chosen.sign else digits


def _order(chosen: QuestionLayout, count: int) -> range:
    return range(count) if chosen.units_first else range(count - 1, -1, -1)


def _constants(called: str, tokens: tuple[str, ...]) -> Iterator[Slot]:
    for at, token in enumerate(tokens):
        name = called or token
        yield Slot(name if len(tokens) == 1 else f"{name}{at}", token=token)


def layout_called(name: str, digits: int) -> QuestionLayout:
    """One of the layouts that the paper tried, for questions of so many digits.

    >>> layout_called("equals", 2).layout().n_positions - layout_called("paper", 2).layout().n_positions
    5
    """
    if name not in _VARIANTS:
        raise CarryLensError(f"{quote(name)} is not a layout. Write {', '.join(_VARIANTS)}.")
    return QuestionLayout(digits, **_VARIANTS[name])
