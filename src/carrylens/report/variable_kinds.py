"""Kinds: the few sorts of variables that pictures tell apart, by colour and by word.

Takes  a variable.
Gives  its kind, what the kind means, and colours that colour-blind readers can tell apart.
Never  draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class Kind:
    """One sort of variables: how it is called in a style sheet, what it means, fill and ink in the light and dark."""

    name: str
    meaning: str
    light: tuple[str, str]
    dark: tuple[str, str]


INPUT = Kind("input", "digit of the question", ("#e4e4e4", "#3d3d3d"), ("#3a3d42", "#dcdcdc"))
DIGIT = Kind("digit", "digit of one column: SA, MD, ND", ("#cfe3f3", "#0b4f85"), ("#12395a", "#a9d3f5"))
COLUMN = Kind("column", "what one column says of its carry: ST, MB, NB", ("#fbeeb0", "#6b5600"), ("#4a3f0c", "#f3dd83"))
RESOLVED = Kind("resolved", "resolved carry or borrow: SV, MV, NV", ("#f8d3c0", "#8f3600"), ("#5a2a12", "#ffbf9e"))
SELECT = Kind("select", "operator or sign", ("#e6d7f0", "#5a2a7a"), ("#412456", "#dcbdf2"))
ANSWER = Kind("answer", "digit of the answer", ("#cdeadf", "#00573f"), ("#0b4334", "#97e3c6"))

KINDS = (INPUT, DIGIT, COLUMN, RESOLVED, SELECT, ANSWER)

_FAMILIES = {
    **dict.fromkeys(("D", "D'"), INPUT),
    **dict.fromkeys(("SA", "MD", "ND", "R"), DIGIT),
    **dict.fromkeys(("ST", "MB", "NB", "SC", "MC", "NC", "S9", "SU", "Z"), COLUMN),
    **dict.fromkeys(("SV", "MV", "NV", "C", "B"), RESOLVED),
    **dict.fromkeys(("OPR", "SGN"), SELECT),
    "A": ANSWER,
}


def kind_of(variable: Variable) -> Kind:
    """The sort of a variable.

    >>> kind_of(Variable("SV", 3)).name
    'resolved'
    """
    return _FAMILIES[variable.name]
