"""Outcomes of experiments on the page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrylens.arithmetic.battery.sufficiency.card import CARD
from carrylens.errors import CarryLensError
from carrylens.report.page.chart import Axis, chart
from carrylens.report.page.experiments import experiments_of


def series(kind: str, y: list[float]) -> dict[str, Any]:
    return {"label": kind, "kind": kind, "x": [0, 1, 2], "y": y, "low": y, "high": [value + 0.1 for value in y]}


def outcome() -> dict[str, Any]:
    return {
        "card": {
            "name": "sufficiency",
            "title": "Is the map enough?",
            "question": "Does the model still answer when all other nodes are ablated?",
            "method": ["Ablate them.", "Ask."],
            "refuted_if": "a random set does as well",
            "paper": "0.943",
            "where": "table 4",
        },
        "settings": {"n": 100, "seed": 3},
        "verdict": "SUPPORTED",
        "says": "It does in 97 of 100.",
        "facts": [
            {
                "kind": "keep",
                "about": {"set": "map"},
                "effect": {"hits": 97, "n": 100},
                "null": {"hits": 1, "n": 100},
                "stimuli": {},
            }
        ],
        "estimates": [
            {
                "name": "share",
                "value": 0.9,
                "low": 0.8,
                "high": 0.95,
                "null": 0.1,
                "null_low": 0.0,
                "null_high": 0.2,
                "n": 90,
            }
        ],
        "figure": {
            "x_label": "nodes",
            "y_label": "right",
            "series": [series("effect", [0.1, 0.5, 0.9]), series("null", [0, 0, 0.1])],
            "names": [],
            "scale": "linear",
        },
        "headers": ["a", "b"],
        "rows": [["1", "2"]],
        "beside_paper": [{"what": "share", "paper": "0.943", "ours": "0.97", "agrees": None}],
    }


def test_an_outcome_becomes_a_section() -> None:
    (made,) = experiments_of([json.loads(json.dumps(outcome()))])
    assert made.verdict == "SUPPORTED"
    assert made.effects[0].null.n == 100
    assert made.estimates[0].null == "0.1 [0, 0.2]"
    assert "<title" in made.drawing


def test_a_card_is_shown_as_it_stands_in_the_code() -> None:
    given = outcome()
    (made,) = experiments_of([given])
    assert (made.title, made.method, made.refuted_if) == (CARD.title, CARD.method, CARD.refuted_if)
    given["card"]["name"] = "an experiment of long ago"
    (old,) = experiments_of([given])
    assert (old.method, old.refuted_if) == (tuple(given["card"]["method"]), given["card"]["refuted_if"])
    assert old.paper == "0.943 (table 4)"


@pytest.mark.parametrize("lie", ["fact", "estimate", "figure", "all"])
def test_an_outcome_without_its_null_cannot_be_shown(lie: str) -> None:
    given = outcome()
    if lie == "fact":
        del given["facts"][0]["null"]
    elif lie == "estimate":
        given["estimates"][0]["null"] = None
    elif lie == "figure":
        given["figure"]["series"] = given["figure"]["series"][:1]
    else:
        given |= {"facts": [], "estimates": [], "figure": None}
    with pytest.raises(CarryLensError, match="null"):
        experiments_of([given])


def test_a_chart_puts_numbers_where_they_belong() -> None:
    axis = Axis(0.0, 1.0, 100.0, 0.0)
    assert [axis.at(value) for value in (0.0, 0.25, 1.0)] == [100.0, 75.0, 0.0]
    assert [text for _, text in axis.marks()] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    log = Axis(-2, 0, 0.0, 100.0, log=True)
    assert [log.at(value) for value in (0.01, 0.1, 1.0)] == [0.0, 50.0, 100.0]
    drawing = chart(outcome()["figure"], "Is it?", "x")
    assert drawing.count('class="mark') == 6
    assert "0 0.1, 1 0.5, 2 0.9" in drawing
