"""Variables: the names of everything an algorithm computes on the way to an answer.

Takes  a sub-task's name and a digit.
Gives  `Variable`, printed and parsed as `ST[3]`, and the values it can take.
Never  computes one: `subtasks.py` has the rules, `causal.py` runs them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrylens.errors import CarryLensError, quote

U = 2
"""The third value of a tri-state sub-task: uncertain, it depends on the digits below."""

UNKNOWN = -1
"""Stands where a value cannot be known yet, and where a label does not apply."""

BINARY = (0, 1)
TRI_STATE = (0, 1, U)
DIGIT = tuple(range(10))

_NAME = re.compile(r"([A-Z][A-Z0-9]*'?)(?:\[([0-9]{1,3})\])?", re.ASCII)


@dataclass(frozen=True)
class Family:
    """One sub-task over all digits: `ST[3]` is its variable for digit 3."""

    name: str
    values: tuple[int, ...]
    meaning: str

    def __getitem__(self, digit: int) -> Variable:
        return Variable(self.name, digit)

    def below(self, digit: int) -> tuple[Variable, ...]:
        """The variable one column lower, as a parent; none at the units."""
        return (self[digit - 1],) if digit else ()


@dataclass(frozen=True, order=True)
class Variable:
    """One value an algorithm computes, such as `ST[3]`, or `OPR`, which belongs to no digit.

    >>> Variable.parse("ST[3]")
    Variable(name='ST', digit=3)
    >>> str(Variable("D'", 0)), str(OPR)
    ("D'[0]", 'OPR')
    """

    name: str
    digit: int | None = None

    def __post_init__(self) -> None:
        if self.name not in FAMILIES or (self.digit is None) != (self.name in UNDIGITED) or (self.digit or 0) < 0:
            raise CarryLensError(
                f"{quote(str(self))} names no variable. "
                f"Write one of {' '.join(FAMILIES)} with its digit, such as ST[3]."
            )

    @classmethod
    def parse(cls, text: str) -> Variable:
        """The variable that `text` names."""
        match = _NAME.fullmatch(text.strip())
        if match is None:
            raise CarryLensError(f"{quote(text)} names no variable. Write a name and its digit, such as ST[3], or OPR.")
        return cls(match[1], None if match[2] is None else int(match[2]))

    @classmethod
    def of(cls, given: Variable | str) -> Variable:
        """`given` itself, or the variable that it names."""
        return cls.parse(given) if isinstance(given, str) else given

    @property
    def values(self) -> tuple[int, ...]:
        """Every value this variable can take. Nothing lies below the units, so they are never uncertain."""
        values = FAMILIES[self.name].values
        return BINARY if values == TRI_STATE and self.digit == 0 else values

    def __str__(self) -> str:
        return self.name if self.digit is None else f"{self.name}[{self.digit}]"


D = Family("D", DIGIT, "digit of the first operand")
D_PRIME = Family("D'", DIGIT, "digit of the second operand")
SA = Family("SA", DIGIT, "(D+D') mod 10")
SC = Family("SC", BINARY, "1 if D+D' is 10 or more: carry, seen from this column alone")
ST = Family("ST", TRI_STATE, "carry of this column: 1 yes, 0 no, U when the sum is 9")
SV = Family("SV", BINARY, "the carry out of this column, all lower columns resolved")
MD = Family("MD", DIGIT, "(D-D') mod 10")
MC = Family("MC", BINARY, "1 if D<D': borrow, seen from this column alone")
MB = Family("MB", TRI_STATE, "borrow of this column in D-D': 1 yes, 0 no, U when the digits are equal")
MV = Family("MV", BINARY, "the borrow out of this column in D-D', all lower columns resolved")
ND = Family("ND", DIGIT, "(D'-D) mod 10")
NC = Family("NC", BINARY, "1 if D'<D: borrow of D'-D, seen from this column alone")
NB = Family("NB", TRI_STATE, "borrow of this column in D'-D: 1 yes, 0 no, U when the digits are equal")
NV = Family("NV", BINARY, "the borrow out of this column in D'-D, all lower columns resolved")
A = Family("A", DIGIT, "digit of the answer")
S9 = Family("S9", BINARY, "rival: 1 if D+D' is exactly 9")
SU = Family("SU", BINARY, "rival: the carry out, looking one column down through a sum of 9")
C = Family("C", BINARY, "rival: the carry out, rippled up from the units")
B = Family("B", BINARY, "rival: the borrow out of D-D', rippled up from the units")
R = Family("R", DIGIT, "rival: digit of D-D' modulo 10 to the number of digits")
Z = Family("Z", BINARY, "rival: 1 if this digit of R or a lower one is not 0")

_SIGN = Family("SGN", BINARY, "sign of the answer: 0 is +, 1 is -")
_OPERATOR = Family("OPR", BINARY, "operator of the question: 0 is +, 1 is -")

UNDIGITED = frozenset({"SGN", "OPR"})
"""The variables that belong to the whole question rather than to one digit."""

FAMILIES = {
    family.name: family
    for family in (
        *(D, D_PRIME, _OPERATOR, SA, SC, ST, SV, MD, MC, MB, MV, ND, NC, NB, NV, _SIGN, A),
        *(S9, SU, C, B, R, Z),
    )
}
"""Every family by name: the inputs, the paper's sub-tasks, the answer, then what only rivals compute."""

SGN = Variable("SGN")
OPR = Variable("OPR")


def label(variable: Variable, value: int) -> str:
    """`value` as people write it: U for uncertain, + and - for signs, ? for what is not known.

    >>> label(ST[3], U), label(SGN, 1), label(SA[0], 2)
    ('U', '-', '2')
    """
    if value == UNKNOWN:
        return "?"
    if variable.name in UNDIGITED:
        return "+-"[value]
    return "U" if value == U and variable.values == TRI_STATE else str(value)
