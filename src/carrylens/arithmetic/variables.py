"""The variables of arithmetic: every sub-task, with its values, its meaning, its kind and colour.

Takes  nothing.
Gives  a `Family` for the inputs, the paper's sub-tasks, the answer, and what only rivals compute.
Never  computes one: `subtasks.py` has the rules.
"""

from __future__ import annotations

from functools import partial

from carrylens.tasks.variables import Family, Variable, VariableKind

U = 2
"""The third value of a tri-state sub-task: uncertain, it depends on the digits below."""

BINARY = (0, 1)
TRI_STATE = (0, 1, U)
DIGIT = tuple(range(10))

INPUT_KIND = VariableKind("input", "digit of the question", ("#e4e4e4", "#3d3d3d"), ("#3a3d42", "#dcdcdc"), "cyan")
DIGIT_KIND = VariableKind(
    "digit", "digit of one column: SA, MD, ND", ("#cfe3f3", "#0b4f85"), ("#12395a", "#a9d3f5"), "green"
)
COLUMN_KIND = VariableKind(
    "column", "what one column says of its carry: ST, MB, NB", ("#fbeeb0", "#6b5600"), ("#4a3f0c", "#f3dd83"), "yellow"
)
RESOLVED_KIND = VariableKind(
    "resolved", "resolved carry or borrow: SV, MV, NV", ("#f8d3c0", "#8f3600"), ("#5a2a12", "#ffbf9e"), "bold red"
)
SELECT_KIND = VariableKind("select", "operator or sign", ("#e6d7f0", "#5a2a7a"), ("#412456", "#dcbdf2"), "magenta")
ANSWER_KIND = VariableKind("answer", "digit of the answer", ("#cdeadf", "#00573f"), ("#0b4334", "#97e3c6"), "bold blue")

KINDS = (INPUT_KIND, DIGIT_KIND, COLUMN_KIND, RESOLVED_KIND, SELECT_KIND, ANSWER_KIND)
"""The kinds, in the order in which pictures list them."""

_input, _digit = partial(Family, values=DIGIT, kind=INPUT_KIND), partial(Family, values=DIGIT, kind=DIGIT_KIND)
_binary, _resolved = (
    partial(Family, values=BINARY, kind=COLUMN_KIND),
    partial(Family, values=BINARY, kind=RESOLVED_KIND),
)
# Nothing lies below the units, so they are never uncertain.
_tri_state = partial(Family, values=TRI_STATE, kind=COLUMN_KIND, labels=("0", "1", "U"), first_values=BINARY)
_choice = partial(Family, values=BINARY, kind=SELECT_KIND, labels=("+", "-"))

D = _input("D", meaning="digit of the first operand", title="digit of the first operand")
D_PRIME = _input("D'", meaning="digit of the second operand", title="digit of the second operand")
SA = _digit("SA", meaning="(D+D') mod 10", title="sum digit")
SC = _binary("SC", meaning="1 if D+D' is 10 or more: carry, seen from this column alone")
ST = _tri_state("ST", meaning="carry of this column: 1 yes, 0 no, U when the sum is 9", title="carry 0, 1, U")
SV = _resolved("SV", meaning="the carry out of this column, all lower columns resolved", title="resolved carry")
MD = _digit("MD", meaning="(D-D') mod 10", title="difference digit")
MC = _binary("MC", meaning="1 if D<D': borrow, seen from this column alone")
MB = _tri_state(
    "MB", meaning="borrow of this column in D-D': 1 yes, 0 no, U when the digits are equal", title="borrow 0, 1, U"
)
MV = _resolved(
    "MV", meaning="the borrow out of this column in D-D', all lower columns resolved", title="resolved borrow"
)
ND = _digit("ND", meaning="(D'-D) mod 10", title="digit of D'-D")
NC = _binary("NC", meaning="1 if D'<D: borrow of D'-D, seen from this column alone")
NB = _tri_state(
    "NB", meaning="borrow of this column in D'-D: 1 yes, 0 no, U when the digits are equal", title="borrow of D'-D"
)
NV = _resolved(
    "NV", meaning="the borrow out of this column in D'-D, all lower columns resolved", title="resolved borrow of D'-D"
)
A = Family("A", DIGIT, "digit of the answer", ANSWER_KIND, title="answer digit")
S9 = _binary("S9", meaning="rival: 1 if D+D' is exactly 9")
SU = _binary("SU", meaning="rival: the carry out, looking one column down through a sum of 9")
C = _resolved("C", meaning="rival: the carry out, rippled up from the units")
B = _resolved("B", meaning="rival: the borrow out of D-D', rippled up from the units")
R = _digit("R", meaning="rival: digit of D-D' modulo 10 to the number of digits")
Z = _binary("Z", meaning="rival: 1 if this digit of R or a lower one is not 0")
WS = _resolved("WS", meaning="rival: the carry out, read off one weighted sum of this column and all below it")
WM = _resolved("WM", meaning="rival: the borrow out of D-D', read off one weighted sum of all columns up to here")
WN = _resolved("WN", meaning="rival: the borrow out of D'-D, read off one weighted sum of all columns up to here")

_SIGN = _choice("SGN", meaning="sign of the answer: 0 is +, 1 is -", title="sign")
_OPERATOR = _choice("OPR", meaning="operator of the question: 0 is +, 1 is -", title="operator")

FAMILIES = {
    family.name: family
    for family in (
        *(D, D_PRIME, _OPERATOR, SA, SC, ST, SV, MD, MC, MB, MV, ND, NC, NB, NV, _SIGN, A),
        *(S9, SU, C, B, R, Z, WS, WM, WN),
    )
}
"""Every family by name: the inputs, the paper's sub-tasks, the answer, then what only rivals compute."""

SGN, OPR = _SIGN.variable, _OPERATOR.variable


def label(variable: Variable, value: int) -> str:
    """`value` as people write it: U for uncertain, + and - for signs, ? for what is not known.

    >>> label(ST[3], U), label(SGN, 1), label(SA[0], 2)
    ('U', '-', '2')
    """
    return FAMILIES[variable.name].label(value)
