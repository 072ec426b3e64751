"""Loss curves, exam tables and the list of models."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from carrylens.report.exam import exam_lines, model_lines
from carrylens.report.losses import losses_svg

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
    assert lines[-1] == "  99+01=+000  is +100  (natural)"


@pytest.mark.parametrize(("meets", "word"), [(True, "meets"), (False, "misses"), (None, "?")])
def test_the_list_of_models_has_a_line_for_each_operation(meets: bool | None, word: str) -> None:
    rates = {"add": {"natural": 0.0, "enriched": 2.0}, "sub": {"natural": 1.0, "paper": 0.0, "enriched": 3.0}}
    lines = model_lines([{"model": "m", "meets_bar": meets, "seconds": 61.2, "failures_per_million": rates}])
    assert lines[1].split() == ["m", "add", "0", "?", "2", word, "61"]
    assert lines[2].split() == ["m", "sub", "1", "0", "3", word, "61"]


def test_without_models_the_list_says_so() -> None:
    assert model_lines([]) == ["No models are shipped."]
