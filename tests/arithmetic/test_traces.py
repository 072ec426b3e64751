import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic.slow_route import PROPERTY, slow_answer, slow_labels, slow_run
from carrylens.arithmetic.traces import Trace, answer_parts, trace
from carrylens.arithmetic.variables import MB, MV, NV, SGN, ST, SV, A, D
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import UNKNOWN


def chain_names(found: Trace) -> list[str]:
    return [chain.resolved.name for chain in found.chains]


@PROPERTY
@given(
    first=st.integers(0, 10**6 - 1),
    second=st.integers(0, 10**6 - 1),
    operator=st.sampled_from("+-"),
    near=st.booleans(),
)
def test_a_trace_holds_every_value_and_ends_knowing_all_of_them(
    first: int, second: int, operator: str, near: bool
) -> None:
    second = (first if operator == "-" else 10**6 - 1 - first) ^ 1 if near else second
    question = f"{first:06d}{operator}{min(second, 10**6 - 1):06d}="
    found, operation = trace(question), "add" if operator == "+" else "sub"
    labels = slow_labels(question)
    assert (found.question, found.digits, found.answer) == (question, 6, slow_answer(question, operation))
    assert {str(variable): value for variable, value in found.values.items()} == slow_run(question, operation)
    assert found.question_class.value == labels.name
    assert tuple(found.depths.values()) == (labels.cascade, labels.sign, labels.borrow)
    for variable, known in found.known.items():
        settled = found.settled_at(variable)
        assert known[:settled] == [UNKNOWN] * settled
        assert known[settled:] == [found.values[variable]] * (14 - settled)
    for k in range(7):
        base, below = answer_parts(found, k)
        digit = found.values[base] if base else 0
        handed = found.values[below] if below else 0
        assert found.values[A[k]] == (digit + (handed if operator == "+" else -handed)) % 10


def test_the_paper_s_two_figures_are_traced() -> None:
    addition, subtraction = trace("555555555+444444448"), trace("325-329")
    assert addition.answer == "+1000000003"
    assert {addition.settled_at(SV[k]) for k in range(9)} == {18}
    assert [addition.settled_at(ST[k]) for k in (8, 0)] == [10, 18]
    assert subtraction.answer == "-0004"
    assert subtraction.settled_at(SGN) == subtraction.settled_at(MV[2]) == 6
    assert (subtraction.settled_at(MB[2]), subtraction.settled_at(D[2])) == (4, 0)


@pytest.mark.parametrize(
    ("question", "chains"), [("5+7", ["SV"]), ("7-5", ["MV"]), ("5-5", ["MV"]), ("5-7", ["MV", "NV"])]
)
def test_a_trace_shows_the_chains_its_answer_comes_from(question: str, chains: list[str]) -> None:
    assert chain_names(trace(question)) == chains


def test_a_trace_keeps_the_question_as_it_was_given_and_as_it_is_padded() -> None:
    found = trace(" 45+7 ", digits=4)
    assert (found.given, found.question) == ("45+7", "0045+0007=")


def test_a_negative_answer_takes_its_digits_from_the_second_chain() -> None:
    found = trace("325-329")
    assert answer_parts(found, 1) == (found.chains[1].base[1], NV[0])
    assert answer_parts(found, 3) == (None, None)


@pytest.mark.parametrize("text", ["", "abc", "45", "5+-3"])
def test_what_is_no_question_has_no_trace(text: str) -> None:
    with pytest.raises(CarryLensError, match=re.escape(repr(text))):
        trace(text)
