"""Traces as rows, as text and as a picture."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrylens.arithmetic import Questions, answers
from carrylens.arithmetic.traces import trace
from carrylens.report.figures.trace import trace_svg
from carrylens.report.terminal.trace import trace_record, trace_text
from carrylens.report.terminal.trace_rows import CellLook, trace_blocks

QUESTIONS = st.builds(
    lambda a, op, b: f"{a}{op}{b}", st.integers(0, 10**40 - 1), st.sampled_from("+-"), st.integers(0, 10**40 - 1)
)


def tri_add_by_hand(states: str) -> str:
    return next((state for state in states if state != "U"), "U")


@settings(max_examples=25, deadline=None)
@given(QUESTIONS)
def test_a_resolved_carry_is_the_fold_of_the_columns_read_so_far(question: str) -> None:
    for block in trace_blocks(trace(question))[:-1]:
        rows = {row.name: row.cells for row in block.rows}
        tri = next(name for name in ("ST", "MB", "NB") if name in rows)
        states = "".join(cell.text for cell in rows[tri][2:])
        n = len(states)
        for k in range(n):
            own = n - 1 - k  # the column of digit k
            cells = rows[f"{tri[0]}V{k}"][2:]
            expected = ["" if column < own else tri_add_by_hand(states[own : column + 1]) for column in range(n)]
            assert [cell.text for cell in cells] == expected
            assert sum(cell.fresh for cell in cells) == 1, "settled once"


@settings(max_examples=25, deadline=None)
@given(QUESTIONS)
def test_the_answer_row_is_the_answer(question: str) -> None:
    block = trace_blocks(trace(question))[-1]
    assert "".join(cell.text for cell in block.rows[-1].cells) == answers(Questions.parse([question])).text()[0]
    assert len({len(row.cells) for row in block.rows} | {len(block.columns)}) == 1


@pytest.mark.parametrize("question", ["1+2", "555555555+444444448", "325-329", "7-7", f"{10**40 - 1}+1"])
def test_the_picture_is_well_formed_and_everything_lies_inside_it(question: str) -> None:
    root = ET.fromstring(trace_svg(trace(question)))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    cells = list(root.iter("{http://www.w3.org/2000/svg}rect"))[1:]
    assert len(cells) > 5
    for cell in cells:
        x, y, w, h = (float(cell.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
    assert root.attrib["role"] == "img"
    assert trace(question).question in root.attrib["aria-label"]


def test_every_state_is_told_by_its_letter_and_not_by_colour_alone() -> None:
    for block in trace_blocks(trace("555555555+444444448")):
        for row in block.rows:
            for cell in row.cells:
                assert (cell.look is CellLook.EMPTY) == (cell.text == "")


def test_a_wide_trace_fits_a_wide_terminal() -> None:
    assert max(map(len, trace_text(trace(f"{10**40 - 1}+1")).plain.splitlines()[3:])) <= 140


def test_the_record_names_every_variable_with_its_value() -> None:
    inputs = "D[1]=3 D[0]=2 OPR=- D'[1]=3 D'[0]=9"
    positive = "MD[1]=0 MC[1]=0 MB[1]=U MV[1]=1 MD[0]=3 MC[0]=1 MB[0]=1 MV[0]=1"
    negative = "ND[1]=0 NC[1]=0 NB[1]=U NV[1]=0 ND[0]=7 NC[0]=0 NB[0]=0 NV[0]=0"
    expected = f"{inputs} {positive} {negative} SGN=- A[2]=0 A[1]=0 A[0]=7"
    assert trace_record(trace("32-39"))["variables"] == dict(item.split("=") for item in expected.split())
