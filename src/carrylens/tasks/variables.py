"""Variables: the names of everything an algorithm reads, computes and puts out.

Takes  a name and, where there is one of it at every place, an index.
Gives  `Variable`, printed and parsed as `ST[3]`, and `Family`, which owns what its variables have in common.
Never  computes one: a causal model does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

from carrylens.errors import CarryLensError, quote
from carrylens.text_values import TextValue

UNKNOWN = -1
"""Stands where a value cannot be known yet, and where a label does not apply."""

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*'?)(?:\[([0-9]{1,3})\])?", re.ASCII)


@total_ordering
class Variable(TextValue):
    """One value an algorithm computes, such as `ST[3]`, or `OPR`, of which there is only one.

    >>> Variable.parse("ST[3]")
    Variable(name='ST', index=3)
    >>> str(Variable("D'", 0)), str(Variable("OPR"))
    ("D'[0]", 'OPR')
    """

    name: str
    index: int | None

    def __init__(self, name: str, index: int | None = None) -> None:
        self.__dict__.update(name=name, index=index)
        if _NAME.fullmatch(str(self)) is None:
            raise CarryLensError(
                f"{quote(str(self))} does not name a variable. "
                "Write letters and digits, and an index of 0 or more: ST[3]."
            )

    @classmethod
    def parse(cls, text: str) -> Variable:
        """The variable that `text` names."""
        match = _NAME.fullmatch(text.strip())
        if match is None:
            raise CarryLensError(
                f"{quote(text)} does not name a variable. Write a name and its index, such as ST[3], or OPR."
            )
        return cls(match[1], None if match[2] is None else int(match[2]))

    @classmethod
    def of(cls, given: Variable | str) -> Variable:
        """`given` itself, or the variable that it names."""
        return cls.parse(given) if isinstance(given, str) else given

    def __str__(self) -> str:
        return self.name if self.index is None else f"{self.name}[{self.index}]"

    def __lt__(self, other: Variable) -> bool:
        return (self.name, self.index) < (other.name, other.index)


@dataclass(frozen=True)
class VariableKind:
    """A sort of variables that pictures tell apart: its word in a style sheet, what it means, its colours.

    `light` and `dark` are fill and ink in a light and a dark page, `terminal` is a colour's name there.
    """

    name: str
    meaning: str
    light: tuple[str, str]
    dark: tuple[str, str]
    terminal: str = "white"


INPUT = VariableKind("input", "input", ("#e4e4e4", "#3d3d3d"), ("#3a3d42", "#dcdcdc"), "white")
VALUE = VariableKind("value", "value on the way", ("#fbeeb0", "#6b5600"), ("#4a3f0c", "#f3dd83"), "yellow")
OUTPUT = VariableKind("answer", "output", ("#cdeadf", "#00573f"), ("#0b4334", "#97e3c6"), "blue")


@dataclass(frozen=True)
class Family:
    """Variables that differ in their index alone: `ST[3]` is the variable of the family ST at index 3.

    `values` are all that one can take; `first_values` those at index 0, where they are fewer. `labels` say how each of
    `values` is written, where that is not the number itself. `title` is a short name for people, such as `sum digit`.

    >>> Family("ST", (0, 1, 2), "carry of a column", labels=("0", "1", "U"))[3]
    Variable(name='ST', index=3)
    """

    name: str
    values: tuple[int, ...]
    meaning: str
    kind: VariableKind = VALUE
    labels: tuple[str, ...] = ()
    first_values: tuple[int, ...] | None = None
    title: str = ""

    def __post_init__(self) -> None:
        few = len(set(self.values)) < len(self.values) or not self.values
        if few or (self.labels and len(self.labels) != len(self.values)):
            raise CarryLensError(
                f"The family {self.name} has values {self.values} and labels {self.labels}. "
                "Give different whole numbers, and a label for each or none at all."
            )
        if min(self.values) < 0 or max(self.values) > 15:
            raise CarryLensError(f"The family {self.name} has values {self.values}. Number its values from 0 to 15.")

    def __getitem__(self, index: int) -> Variable:
        return Variable(self.name, index)

    @property
    def variable(self) -> Variable:
        """The family's only variable, where it has no index."""
        return Variable(self.name)

    def below(self, index: int) -> tuple[Variable, ...]:
        """The variable one index lower, as a parent; none at index 0."""
        return (self[index - 1],) if index else ()

    def values_at(self, index: int | None) -> tuple[int, ...]:
        """Every value the variable at this index can take."""
        return self.first_values if index == 0 and self.first_values is not None else self.values

    def label(self, value: int) -> str:
        """`value` as people write it, ? for what is not known.

        >>> Family("ST", (0, 1, 2), "carry", labels=("0", "1", "U")).label(2)
        'U'
        """
        if value == UNKNOWN:
            return "?"
        return self.labels[self.values.index(value)] if self.labels else str(value)
