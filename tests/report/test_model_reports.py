"""Loss curves, exam tables and the list of models."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from carrylens.report.figures.losses import all_losses_svg, losses_svg
from carrylens.report.terminal.exam import exam_lines
from carrylens.report.terminal.models import model_lines, models_page

NOTES: list[dict[str, Any]] = [
    {"run": {"name": "mix_d1_l1_h3_w24_t40_s1"}},
    {"step": 20, "loss": 1.0, "token_losses": {"add": [0.5, 1.0, 2.0], "sub": [1.5, 0.1, 2.5]}},
    {"step": 40, "loss": 0.1, "token_losses": {"add": [0.0, 0.1, 0.2], "sub": [0.3, 0.01, 0.2]}},
]
EXAM: dict[str, Any] = {
    "model": "add_d2_l1_h3_w24_t1K_s1",
    "meets_bar": False,
    "parts": [
        {
            "name": "natural",
            "operation": "add",
            "asked": 1_000_000,
            "failed": 12,
            "interval": [6.2e-06, 2.1e-05],
            "failures": [["99+01=", "+100", "+000"]],
        }
    ],
}


def test_the_loss_figure_has_a_panel_for_each_operation_and_a_curve_for_each_token() -> None:
    svg = losses_svg("mix_d1_l1_h3_w24_t40_s1", NOTES)
    root = ET.fromstring(svg)
    groups = [element.attrib.get("id", "") for element in root.iter("{http://www.w3.org/2000/svg}g")]
    assert sum(group.startswith("axes_") for group in groups) == 2
    assert losses_svg("mix_d1_l1_h3_w24_t40_s1", NOTES) == svg, "the same history gives the same file"
    one = [{**note, "token_losses": {"add": note["token_losses"]["add"]}} for note in NOTES[1:]]
    assert svg.count("line2d_") > losses_svg("add", one).count("line2d_")


def test_an_exam_shows_rates_intervals_verdict_and_failures() -> None:
    lines = exam_lines(EXAM)
    assert lines[1].split() == ["natural", "add", "1,000,000", "12", "12", "6.2", "to", "21"]
    assert lines[2].startswith("add_d2_l1_h3_w24_t1K_s1 misses the bar")
    assert lines[-2] == "Failures, 1 of 12:"
    assert lines[-1] == "  99+01=+000  is +100  (natural)"


def test_of_one_population_alone_nobody_is_told_that_the_bar_is_met() -> None:
    natural = {**EXAM["parts"][0], "failed": 0, "failures": []}
    both = [natural, {**natural, "name": "enriched"}]
    assert any("meets" in line for line in exam_lines({**EXAM, "meets_bar": True, "parts": both}))
    assert not any("meets" in line for line in exam_lines({**EXAM, "meets_bar": True, "parts": both[:1]}))


def test_the_failures_shown_are_spread_over_the_parts_and_counted() -> None:
    rows = [[f"{row:02}+01=", "+100", "+000"] for row in range(50)]
    natural = EXAM["parts"][0]
    parts = [
        {**natural, "failed": 812, "failures": rows},
        {**natural, "name": "paper", "failed": 0, "failures": []},
        {**natural, "name": "class S5", "failed": 3, "failures": rows[:3]},
    ]
    shown = exam_lines({**EXAM, "most_failures_kept": 50, "parts": parts})[-11:]
    assert re.findall(r"\d+", shown[0]) == ["10", "815", "50"]
    assert [line.split("(")[1].rstrip(")") for line in shown[1:]] == ["natural", "class S5"] * 3 + ["natural"] * 4


def count(failed: int, asked: int = 1_000_000) -> dict[str, Any]:
    return {"asked": asked, "failed": failed, "interval": [0.0, (failed + 4) / asked]}


def a_record(meets: bool | None) -> dict[str, Any]:
    add: dict[str, Any] = {
        "meets_bar": meets,
        "streams": {"natural": count(0), "paper": None, "enriched": count(2), "structured": None},
        "n_targets": 0,
        "weakest": None,
        "published": [],
    }
    sub = {
        "meets_bar": meets,
        "streams": {"natural": count(1, 1000), "paper": count(0), "enriched": count(3), "structured": count(40, 1000)},
        "n_targets": 12,
        "weakest": {"name": "class M2", **count(7, 100)},
        "published": [count(3889), count(2)],
    }
    known = {"steps": 4000, "batch": 128, "seconds": 61.2, "loss": 1.04e-6, "analysed": ["map", "verdict"]}
    return {"model": "m", "meets_bar": meets, **known, "operations": {"add": add, "sub": sub}}


@pytest.mark.parametrize(("meets", "word"), [(True, "meets"), (False, "misses"), (None, "?")])
def test_the_list_of_models_has_a_line_for_each_operation(meets: bool | None, word: str) -> None:
    lines, about = model_lines([a_record(meets)]), ["map,", "verdict", "61"]
    assert lines[1].split() == ["m", "add", "0", "?", "2", "?", word, *about, "not", "reported"]
    assert lines[2].split() == ["m", "sub", "1,000", "0", "3", "40,000", word, *about, "2", "to", "3,889"]


def test_without_models_the_list_says_so() -> None:
    (line,) = model_lines([])
    assert line not in model_lines([a_record(True)])


@pytest.mark.parametrize(("meets", "word"), [(True, "meets"), (False, "misses"), (None, "too few questions")])
def test_the_page_has_intervals_the_weakest_class_the_paper_and_what_was_tried(meets: bool | None, word: str) -> None:
    tried = {"model": "t", "operation": "sub", "what": "longer", "streams": {"natural": count(4), "enriched": count(9)}}
    lines = models_page([a_record(meets)], [tried]).splitlines()
    assert (
        "| `m` | add | 1,000,000 | 0 (0 to 4) | not evaluated | 2 (0 to 6) | not evaluated | not evaluated "
        f"| {word} | not reported |" in lines
    )
    assert (
        "| `m` | sub | 1,000 and 1,000,000 | 1,000 (0 to 5,000) | 0 (0 to 4) | 3 (0 to 7) | 40,000 (0 to 44,000) | "
        f"class M2: 7 of 100 | {word} | 2 (0 to 6) to 3,889 (0 to 3,893), 2 models |" in lines
    )
    assert "| `m` | 4,000 | 128 | 61 | 1e-06 | map, verdict |" in lines
    assert models_page([{**a_record(meets), "analysed": []}], []).count("tested only") == 1
    assert "| `t` | sub | 1,000,000 | 4 (0 to 8) | 9 (0 to 13) | longer |" in lines


def test_a_weakest_class_without_failures_is_not_named() -> None:
    record = a_record(True)
    record["operations"]["sub"]["weakest"] = {"name": "class M0", **count(0, 100)}
    page = models_page([record], [])
    assert "class M0" not in page
    assert re.search(r"\| none [^|]*\b12\b[^|]*\b100 \|", page)


@pytest.mark.slow
@pytest.mark.parametrize("n_models", [1, 4, 9])
def test_the_figure_of_all_losses_has_a_panel_for_each_model(n_models: int) -> None:
    histories = {f"mix_d1_l1_h3_w24_t40_s{seed}": NOTES for seed in range(n_models)}
    svg = all_losses_svg(histories)
    root = ET.fromstring(svg)
    groups = [element.attrib.get("id", "") for element in root.iter("{http://www.w3.org/2000/svg}g")]
    assert sum(group.startswith("axes_") for group in groups) == n_models
    assert all_losses_svg(histories) == svg


def test_a_model_without_a_history_has_an_empty_panel() -> None:
    assert all_losses_svg({"add_d1_l1_h3_w24_t40_s1": []}).count("axes_1") == 1
