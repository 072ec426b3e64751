import pytest

from carrylens.arithmetic.layout import equals_position, position_of, sequence_length
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Variable


def tokens(digits: int) -> list[str]:
    """The sequence as it is written: D(n-1)..D0, operator, D'(n-1)..D'0, =, sign, A(n)..A0."""
    down = range(digits - 1, -1, -1)
    operands = [*(f"D[{k}]" for k in down), "OPR", *(f"D'[{k}]" for k in down)]
    return [*operands, "=", "SGN", *(f"A[{k}]" for k in range(digits, -1, -1))]


@pytest.mark.parametrize("digits", range(1, 41))
def test_every_token_stands_where_the_sequence_has_it(digits: int) -> None:
    sequence = tokens(digits)
    assert sequence_length(digits) == len(sequence)
    assert equals_position(digits) == sequence.index("=")
    for position, name in enumerate(sequence):
        if name != "=":
            assert position_of(Variable.parse(name), digits) == position


def test_six_digits_take_twenty_two_tokens() -> None:
    assert sequence_length(6) == 22


@pytest.mark.parametrize("name", ["D[6]", "D'[6]", "A[7]", "ST[0]", "SV[5]", "MD[1]", "C[0]"])
def test_what_is_no_token_has_no_position(name: str) -> None:
    with pytest.raises(CarryLensError, match=r"\b6 digits.*OPR, SGN"):
        position_of(Variable.parse(name), 6)
