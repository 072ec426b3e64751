"""No text becomes markup in what no browser test opens: explorer, paper page, drawings, displays of a notebook."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.table import family_table
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperClaim
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import SHIPPED
from carrylens.benchmark.leaderboard import Leaderboard
from carrylens.claims.run_verdict import run_judgement
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.explorer.page import page_of_data
from carrylens.explorer.page_data import Explored, page_data
from carrylens.report.figures.family import family_svg
from carrylens.report.figures.planted_circuit import circuit_svg
from carrylens.report.notebook.attention_display import attention_html
from carrylens.report.notebook.result_displays import leaderboard_html
from carrylens.report.notebook.verdict_display import alignment_html
from carrylens.report.terminal.paper import paper_html
from torture.hostile_strings import PAYLOAD

HARMLESS = "words"


class Markup(HTMLParser):
    """The elements of a page, the names of their attributes, and addresses that are scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        scripts = [value for _, value in attrs if value and value.strip().lower().startswith("javascript:")]
        self.found.append((tag, *(name for name, _ in attrs), *scripts))


def _told(value: Any, text: str) -> Any:
    # The same data with every text replaced.
    if isinstance(value, dict):
        return {name: _told(inner, text) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_told(inner, text) for inner in value]
    return text if isinstance(value, str) else value


def explorer(text: str) -> str:
    planted = plant(describe(Operation.ADD, 1))
    explored = Explored(planted.model, arithmetic_task(Operation.ADD, 1), "name")
    data = page_data(explored)
    return page_of_data(_told(data, text), tuple({family.kind for family in explored.causal.families}))


def paper(text: str) -> str:
    claim = PaperClaim(text, text, lambda _: answer)
    answer = PaperAnswer(Agreement.DIFFERS, text, 1, text, text, text, text)
    row = {"paper": text, "paper_failures": {"a": 1}, "paper_loss": 0.1, "paper_nodes": [1], "model": text}
    return paper_html([(text, [(claim, answer)])], [row | {"failures": None}])


def family(text: str) -> str:
    name = ModelName.parse("add_d6_l2_h3_w96_t2K_s1")
    return family_svg(family_table([Member(text, name, None, {}, notes=(text,))]))


def planted_circuit(text: str) -> str:
    return circuit_svg(replace(plant(describe(Operation.ADD, 1)).truth, name=f"of {text}"))


def settled(text: str) -> str:
    """What a notebook shows of an alignment whose every text says this."""
    said = json.loads((SHIPPED / "add_d5_l1_h3_w96_t5K_s1" / "alignment.json").read_bytes())
    rates, rate = said["rates"], {"hits": 1, "n": 2}
    rates |= {"outputs": {text: rate}, "classes": {text: rate}}
    rates["deviation"] = {"where": text, "share": 0.5, "inside": rate, "outside": rate}
    for each in rates["carriers"]:
        each |= {"target": text, "family": text}
    for each in said["rivals"]:
        each["hypothesis"] = text
    for each in said["populations"]:
        each["population"] = text
    found = MeasuredAlignment.from_json(json.dumps({**said, "model": text, "hypothesis": text}).encode(), "it")
    return alignment_html(run_judgement(found), found)


def attention(text: str) -> str:
    return attention_html(text, np.ones((1, 1, 3, 3)), [text] * 3)


def leaderboard(text: str) -> str:
    said = json.loads((Path(__file__).parents[2] / "docs" / "leaderboard.json").read_bytes())
    return leaderboard_html(msgspec.convert(_told(said, text), Leaderboard))


@pytest.mark.parametrize("page", [explorer, paper, family, planted_circuit, settled, attention, leaderboard])
def test_no_text_becomes_markup(page: Callable[[str], str]) -> None:
    assert Markup(page(PAYLOAD)).found == Markup(page(HARMLESS)).found


def test_a_text_that_is_not_escaped_would_be_seen() -> None:
    assert Markup(f"<p class='{PAYLOAD}'>").found != Markup(f"<p class='{HARMLESS}'>").found
