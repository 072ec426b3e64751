"""Layout: the position at which each input is read and each answer token is written.

Takes  a variable and a number of digits.
Gives  positions in the sequence D(n-1)..D0, operator, D'(n-1)..D'0, =, sign, A(n)..A0.
Never  names a position: `tokens.py` does.
"""

from carrylens.arithmetic.variables import OPR, SGN
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Variable


def sequence_length(digits: int) -> int:
    """How many tokens a question and its answer take.

    >>> sequence_length(6)
    22
    """
    return 3 * digits + 4


def equals_position(digits: int) -> int:
    """Where `=` stands: from here on everything is known.

    >>> equals_position(6)
    13
    """
    return 2 * digits + 1


def position_of(variable: Variable, digits: int) -> int:
    """Where the token that holds an input or a part of the answer stands.

    >>> [position_of(Variable.parse(name), 6) for name in ("D[5]", "OPR", "D'[0]", "SGN", "A[6]", "A[0]")]
    [0, 6, 12, 14, 15, 21]
    """
    if variable == OPR:
        return digits
    if variable == SGN:
        return 2 * digits + 2
    last = {"D": digits - 1, "D'": 2 * digits, "A": 3 * digits + 3}.get(variable.name)
    highest = digits if variable.name == "A" else digits - 1
    if last is None or variable.index is None or variable.index > highest:
        raise CarryLensError(
            f"{variable} is not a token of a question with {digits} digits. Write an operand's digit, OPR, SGN or A."
        )
    return last - variable.index


def predicting_place(token: Variable, digits: int) -> int:
    """The position at which a token of the answer is predicted: the one before it stands.

    >>> predicting_place(Variable("A", 3), 6)
    17
    """
    return position_of(token, digits) - 1
