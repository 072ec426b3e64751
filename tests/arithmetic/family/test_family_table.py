"""The table says what holds, what varies and what could not be told; each of them is seen on records made by hand."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest

from arithmetic.family.records import a_member, angled, carried, full, patched
from carrylens.arithmetic.battery.axes.findings import BORROWS
from carrylens.arithmetic.battery.make_carry.findings import PLACE, TOP_PLACE, VALUES
from carrylens.arithmetic.battery.make_carry.summarise import MADE_AT_ANSWER, MADE_BINARY, MADE_IN_PLACE, MADE_OPEN
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.patching.findings import AT_ANSWER
from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.family.cells import CellState
from carrylens.arithmetic.family.circuits import CIRCUIT_QUESTIONS
from carrylens.arithmetic.family.table import CIRCUIT_SECTION, VERDICT, FamilyRow, Standing, family_table
from carrylens.claims.verdicts import Verdict
from carrylens.errors import CarryLensError
from carrylens.report.figures.family import family_svg
from carrylens.report.terminal.family import family_lines, mark, short_names
from carrylens.report.terminal.family_page import FINDINGS, family_csv, family_page

FOLLOWS = AT_ANSWER.asked


def the_row(outcomes: list[list[Outcome]], section: str, name: str = VERDICT, operations: str = "add") -> FamilyRow:
    members = [
        a_member(seed, *some, operation=operation)
        for seed, (some, operation) in enumerate(zip(outcomes, operations.split() * len(outcomes), strict=False))
    ]
    return next(row for row in family_table(members).rows if (row.section, row.name) == (section, name))


def test_what_all_models_show_holds_in_all() -> None:
    row = the_row([[patched(40)], [patched(39)]], "patching", FOLLOWS)
    assert (row.standing, row.words, row.says) == (Standing.HOLDS, ("most",), "holds in all 2")
    assert [cell.figure for cell in row.cells] == ["1.00 (null 0.00)", "0.97 (null 0.00)"]
    assert (row.paper, row.agree, row.compared) == ("1.00", 1, 2)


def test_a_common_refutation_holds_too() -> None:
    row = the_row([[patched(1, Verdict.REFUTED)], [patched(2, Verdict.REFUTED)]], "patching")
    assert (row.standing, row.words) == (Standing.HOLDS, ("refuted",))


def test_one_that_differs_makes_it_vary() -> None:
    row = the_row([[patched(40)], [patched(40)], [patched(1)]], "patching", FOLLOWS)
    assert (row.standing, row.says) == (Standing.VARIES, "varies: 2 of 3 most")
    assert [mark(row, cell) for cell in row.cells] == ["a", "a", "b"]


def test_one_that_is_open_or_was_not_asked_keeps_it_from_holding() -> None:
    unsure = the_row([[patched(40)], [patched(40)], [patched(22)]], "patching", FOLLOWS)
    assert (unsure.standing, unsure.says) == (Standing.SO_FAR, "same in the 2 told; open in 1")
    missing = the_row([[patched(40)], [patched(40)], []], "patching", FOLLOWS)
    assert (missing.standing, missing.says) == (Standing.SO_FAR, "same in the 2 told; untested in 1")
    assert missing.cells[2].state is CellState.NOT_RUN


def test_one_model_alone_shows_no_invariant() -> None:
    assert the_row([[patched(40)]], "patching").standing is Standing.SO_FAR


def test_what_concerns_mixed_models_alone_holds_in_those() -> None:
    same = the_row([[patched(40)], [angled(0.8, 0.9)], [angled(0.7, 0.9)]], "axes", BORROWS.asked, "add mix mix")
    assert (same.standing, same.says) == (Standing.HOLDS, "holds in all 2 it applies to")
    assert same.cells[0].state is CellState.APART
    apart = the_row([[angled(0.8, 0.9)], [angled(0.1, 0.3)]], "axes", BORROWS.asked, "mix")
    assert apart.words == ("one direction", "apart")


def test_columns_are_told_by_nine_in_ten_and_the_top_one_stands_alone() -> None:
    table = [
        [carried([MADE_IN_PLACE, MADE_IN_PLACE, MADE_AT_ANSWER])],
        [carried([MADE_BINARY, MADE_IN_PLACE, MADE_AT_ANSWER])],
    ]
    below = the_row(table, "make-carry", PLACE.asked)
    assert below.words == (MADE_IN_PLACE, f"mixed: {MADE_IN_PLACE} / {MADE_BINARY}")
    top = the_row(table, "make-carry", TOP_PLACE.asked)
    assert (top.standing, top.words) == (Standing.HOLDS, (MADE_AT_ANSWER,))
    values = the_row(
        [[carried([MADE_OPEN, MADE_IN_PLACE, MADE_OPEN])], [carried([MADE_OPEN, MADE_BINARY, MADE_BINARY])]],
        "make-carry",
    )
    assert values.words == ("supported",)
    assert the_row([[carried([MADE_OPEN, MADE_OPEN, MADE_IN_PLACE])]], "make-carry", VALUES.asked).words == (
        "three values",
    )


def test_texts_list_what_holds_what_varies_and_what_was_not_run() -> None:
    members = [a_member(1, full(patched(40)), carried([MADE_IN_PLACE] * 3)), a_member(2, patched(40)), a_member(3)]
    table = family_table(members)
    text = "\n".join(family_lines(table, {"add_d9_l1_h3_w48_t1K_s1": False}))
    assert "full, 200 pairs" in text
    assert "quick, 40 pairs" in text
    assert "add_d3_l2_h3_w48_t1K_s3: carrylens battery add_d3_l2_h3_w48_t1K_s3" in text
    assert "add_d9_l1_h3_w48_t1K_s1: misses the bar" in text
    assert "every accurate model" in text
    both = "\n".join(family_lines(family_table(members[:2]), {}))
    assert f"patching, {FOLLOWS}: most (holds in all 2)" in both
    apart = family_table([members[1], a_member(4, patched(0, Verdict.REFUTED), bar=None)])
    text = "\n".join(family_lines(apart, {}))
    assert "accurate" not in text, "one of them is not known to be"
    assert "patching: supported (add_d3_l2_s2); refuted (add_d3_l2_s4)" in text


def test_the_page_counts_models_by_word_and_says_how_many_were_not_asked() -> None:
    carry = next(each for each in FINDINGS if each.row == VALUES.asked)
    made = [a_member(1, carried([MADE_IN_PLACE] * 3)), a_member(2, carried([MADE_OPEN] * 3)), a_member(3)]
    page = family_page(family_table(made), {})
    (line,) = [each for each in page.splitlines() if carry.question in each]
    assert "three values: 1 of 3" in line
    assert "undecided: 1 of 3" in line
    assert "not measured: 1 of 3" in line
    assert "three values: 2 of 3" in family_page(family_table([made[0], made[0], made[2]]), {})


def test_columns_that_differ_are_one_word_of_the_page() -> None:
    split = a_member(1, carried([MADE_IN_PLACE, MADE_BINARY]))
    carry = next(each for each in FINDINGS if each.row == VALUES.asked)
    (line,) = [each for each in family_page(family_table([split]), {}).splitlines() if carry.question in each]
    assert "mixed" not in line
    assert "1 of 1" in line


def test_every_finding_of_the_page_is_a_row_of_a_table() -> None:
    experiments = {(each.name, VERDICT) for each in EXPERIMENTS}
    asked = {(each.name, question.asked) for each in EXPERIMENTS for question in each.questions}
    asked |= experiments | {(CIRCUIT_SECTION, each.name) for each in CIRCUIT_QUESTIONS}
    assert len(FINDINGS) == 10
    for finding in FINDINGS:
        assert (finding.section, finding.row) in asked
        assert {(finding.section, name) for name, _ in finding.numbers} <= asked


def test_the_csv_file_has_every_cell_once() -> None:
    table = family_table([a_member(1, patched(40)), a_member(2, patched(0, Verdict.REFUTED))])
    lines = list(csv.DictReader(StringIO(family_csv(table))))
    assert len(lines) == sum(len(row.cells) for row in table.rows)
    found = {line["model"]: line["figure"] for line in lines if line["finding"] == FOLLOWS}
    assert found == {"add_d3_l2_h3_w48_t1K_s1": "1.00 (null 0.00)", "add_d3_l2_h3_w48_t1K_s2": "0.00 (null 0.00)"}


def test_the_record_has_every_cell() -> None:
    record = family_table([a_member(1, patched(40)), a_member(2, patched(40))]).record()
    row = next(row for row in record["rows"] if row["finding"] == FOLLOWS)
    assert row["stands"] == "holds in all"
    assert row["cells"]["add_d3_l2_h3_w48_t1K_s2"]["figure"] == "1.00 (null 0.00)"
    assert f"patching: {FOLLOWS}" in record["holds"]


def test_the_picture_is_the_same_each_time_and_has_every_sign() -> None:
    table = family_table([a_member(1, patched(40)), a_member(2, patched(1, Verdict.REFUTED))])
    drawn = family_svg(table)
    assert drawn == family_svg(table)
    assert drawn != family_svg(family_table([a_member(1, patched(40)), a_member(2, patched(40))]))
    assert "#009e73" in drawn
    assert "#d55e00" in drawn


def test_short_names_stay_different() -> None:
    assert short_names([a_member(1), a_member(2)]) == ["add_d3_l2_s1", "add_d3_l2_s2"]


def test_no_model_makes_no_table() -> None:
    with pytest.raises(CarryLensError, match="carrylens models"):
        family_table([])


def test_models_that_were_only_tested_leave_ten_findings_and_are_said_to_be_missing() -> None:
    tested = family_table([a_member(1), a_member(2)])
    left_out = {"first": True, "second": True, "third": False}
    page, other = (family_page(tested, some).splitlines() for some in (left_out, {}))
    numbers = [int(each) for each in re.findall(r"^([0-9]+)[.] ", "\n".join(page), re.MULTILINE)]
    assert numbers == list(range(1, len(FINDINGS) + 1))
    assert sum("not measured: 2 of 2" in line for line in page) >= len(FINDINGS) - 2
    counted, *listed = [line for line in page if line not in other]
    assert re.findall(r"\d+", counted) == ["2", "1"], "those that meet the bar, and those that miss it"
    assert all(any(name in line for line in listed) for name in left_out)
    assert len(list(csv.DictReader(StringIO(family_csv(tested))))) == 2 * len(tested.rows)
    assert "</svg>" in family_svg(tested)
