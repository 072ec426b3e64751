"""The page of a model: one file, small, closed to strangers, the same bytes each time."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import carrylens as cl
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.explorer.challenge import LEVELS, challenge, truth_record, veiled
from carrylens.explorer.page import embedded, explorer_page
from carrylens.explorer.page_data import Explored, page_data
from carrylens.model.folder import save_model
from carrylens.model.transformer import Transformer
from carrylens.workflow.exploring import explore_source
from explorer.node_engine import run_cases
from explorer.subjects import SHAPES, shipped

ADD = "add_d6_l2_h3_w96_t2K_s1"
PAYLOADS = (
    "</script><script>window.hacked = 1</script>",
    "</script / ><script>window.hacked = 1</script / >",
    "<img src=x onerror='window.hacked = 1'>",
    '" onmouseover="window.hacked = 1" x="',
    "javascript:window.hacked=1",
    "<!-- <script>",
    "\u2028window.hacked = 1//",
)


@cache
def page_of(name: str) -> str:
    source = find_source(name)
    return explore_source(source, source.analysis_places(None)).page


class _Parts(HTMLParser):
    """The scripts, styles and policy of a page, and every attribute that could run or fetch something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.policy, self.suspicious, self._inside = "", list[str](), ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inside = tag
        if tag == "script":
            self.scripts.append((given, ""))
        if tag == "meta" and given.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(given["content"])
        for name, value in attrs:
            if (
                name.startswith("on")
                or name == "style"
                or (name in ("src", "href") and value not in ("data:,", "#main"))
            ):
                self.suspicious.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        if self._inside == "style":
            self.styles.append(data)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._inside = ""


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def data_of(page: str) -> dict[str, Any]:
    (found,) = [text for given, text in _Parts(page).scripts if given.get("id") == "data"]
    return dict(json.loads(found))


def test_the_policy_allows_its_own_code_and_nothing_else() -> None:
    parts = _Parts(page_of(ADD))
    code = [text for given, text in parts.scripts if given.get("type") != "application/json"]
    rules = dict(rule.split(" ", 1) for rule in parts.policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == [digest(text) for text in code]
    assert rules["style-src"].split() == [digest("".join(parts.styles))]
    assert "unsafe" not in parts.policy
    assert parts.suspicious == []


def test_no_script_makes_html_or_code_of_text() -> None:
    text = "".join(text for given, text in _Parts(page_of(ADD)).scripts if given.get("type") != "application/json")
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "http:",
        "fetch(",
    ):
        assert way not in text.replace("http://www.w3.org/2000/svg", ""), way


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_texts_stay_data(payload: str) -> None:
    explored = SHAPES["brackets"]()
    claims = {"hypothesis": payload, "skeleton": payload, "verdict": payload, "required": {payload: 1}}
    page = explorer_page(replace(explored, name=payload, claims=claims, sha256=payload, map=None))
    parts = _Parts(page)
    assert len(parts.scripts) == 3
    assert parts.suspicious == []
    assert data_of(page)["name"] == payload
    assert data_of(page)["claims"]["hypothesis"] == payload


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_letter_that_html_knows_is_in_the_data(payload: str) -> None:
    text = embedded({payload: [payload]})
    assert set("<>&\u2028").isdisjoint(text)
    assert json.loads(text) == {payload: [payload]}


def test_a_hostile_folder_with_hostile_claims_stays_data(tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x onerror='window.hacked = 1'>"
    save_model(SHAPES["units first"]().model, folder)
    claims = {"model": folder.name, "hypothesis": PAYLOADS[0], "skeleton": PAYLOADS[2]}
    (folder / "claims.json").write_text(json.dumps(claims))
    out = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["explore", str(folder), "--out", str(out)])
    assert result.exit_code == 0, result.output
    parts = _Parts(out.read_text())
    assert len(parts.scripts) == 3
    assert parts.suspicious == []
    assert data_of(out.read_text())["name"] == folder.name


def test_a_page_that_cannot_be_written_is_an_error_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["explore", "--challenge", "--out", str(tmp_path / "file" / "page.html")])
    assert isinstance(result.exception, CarryLensError)


def test_a_parser_would_see_a_payload_that_got_through() -> None:
    page = page_of(ADD).replace(embedded({}), "").replace("</h1>", f"{PAYLOADS[0]}{PAYLOADS[2]}</h1>")
    parts = _Parts(page)
    assert len(parts.scripts) == 4
    assert parts.suspicious


@pytest.mark.parametrize("name", [ADD, "mix_d6_l3_h4_w96_t4K_s1", "sub_d6_l2_h3_w96_t5K_s1"])
def test_six_digit_pages_are_below_three_megabytes(name: str) -> None:
    assert len(page_of(name).encode()) < 3_000_000


def test_the_same_model_makes_the_same_bytes() -> None:
    source = find_source(ADD)
    assert explore_source(source, source.analysis_places(None)).page == page_of(ADD)


def test_the_map_of_these_weights_is_on_the_page_and_of_no_others(tmp_path: Path) -> None:
    data = data_of(page_of(ADD))
    assert data["map"]["roles"]
    assert len(data["map"]["nodes"]) == len(data["map"]["useful"])
    other = find_source("add_d6_l2_h3_w96_t2K_s2")
    assert other.folder is not None
    source = find_source(ADD)
    assert data_of(explore_source(source, [tmp_path, other.folder]).page)["map"] is None


def test_half_precision_keeps_the_golden_answers_or_is_refused() -> None:
    explored = shipped(ADD)
    whole, half = page_data(explored), page_data(replace(explored, half=True))
    assert len(half["model"]["weights"]["text"]) * 2 == pytest.approx(len(whole["model"]["weights"]["text"]), rel=0.001)
    (found,) = run_cases(half, [{"do": "golden"}])
    assert found["ok"]
    with pytest.raises(CarryLensError, match="--half"):
        page_data(replace(SHAPES["mix"](), half=True))  # random weights, so that many answers are close


def test_a_model_too_large_for_a_page_is_refused_with_the_reason() -> None:
    task = arithmetic_task(Operation.ADD, 6)
    model = Transformer(config_of_width(6, 2, 3, 510))
    with pytest.raises(CarryLensError, match="width 510.*explain"):
        page_data(Explored(model, task, "published"))


@pytest.mark.parametrize("level", LEVELS)
def test_the_truth_of_a_challenge_is_veiled_and_complete(level: int) -> None:
    explored = challenge(level)
    page = explorer_page(explored)
    assert len(page.encode()) < 3_000_000
    record = data_of(page)["challenge"]
    assert "pairs" not in json.dumps({**record, "veiled": ""})
    assert not re.search(r"P\d+L\d+(H\d+|MLP)[^\"]{0,40}(ST|SA|SV)", page.partition('id="engine"')[0])
    assert set(record["variables"]).isdisjoint(map(str, explored.task.causal.inputs))


def test_challenges_have_decoys_and_backups() -> None:
    from carrylens.arithmetic.planted.dials import describe
    from carrylens.arithmetic.planted.planting import plant

    found = truth_record(plant(describe(LEVELS[2].operation, LEVELS[2].digits, LEVELS[2].dials)).truth)
    assert found["decoys"]
    assert any(len(group["copies"]) > 1 for group in found["groups"])
    assert veiled(found, 3) != veiled(found, 4)


def test_a_level_that_is_not_there_is_refused() -> None:
    result = CliRunner().invoke(app, ["explore", "--challenge", "--level", "4"])
    assert isinstance(result.exception, CarryLensError)


def test_the_command_writes_the_page_and_says_where(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "page.html"
    result = CliRunner().invoke(app, ["explore", "--challenge", "--out", str(out), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["page"] == str(out)
    assert out.stat().st_size == json.loads(result.stdout)["bytes"]


@pytest.mark.parametrize("words", [[], [ADD, "--challenge"]])
def test_a_model_or_a_challenge_must_be_named(words: list[str]) -> None:
    assert isinstance(CliRunner().invoke(app, ["explore", *words]).exception, CarryLensError)


def test_a_notebook_shows_the_page_in_a_frame(tmp_path: Path) -> None:
    model = SHAPES["brackets"]().model
    made = cl.explore(model)
    shown = made._repr_html_()
    assert shown.startswith("<iframe")
    assert "<script" not in shown
    assert made.save(tmp_path / "x.html").read_text() == made.page
    assert len(repr(made)) < 120
    model.task = None
    with pytest.raises(CarryLensError, match="task"):
        cl.explore(model)


def test_a_task_file_of_ones_own_is_run_by_the_same_engine() -> None:
    data = page_data(SHAPES["brackets"]())
    (answer,) = run_cases(data, [{"do": "own", "inputs": [0, 1, 0, 1, 0, 1], "edits": []}])
    assert answer == [1]
    assert data["tour"] == []


def test_experiments_count_what_the_engine_counts() -> None:
    from carrylens.explorer.packed import packed_values
    from carrylens.explorer.question_record import POOL, SEED, reference_of
    from carrylens.interventions import Engine, ablate

    explored = SHAPES["planted"]()
    task, node = explored.task, "P6L0MLP"
    data = page_data(explored)
    given = {"edits": [[node, "mean"]], "count": 60, "reading": "right", "start": 5}
    (found,) = run_cases(data, [{"do": "experiment", "name": "runEdit", "given": given}])
    pool = task.samplers["enriched"].draw(SEED, 0, POOL)
    _, first = torch.unique(torch.from_numpy(pool.values.copy()), dim=0, return_inverse=True)
    seen: dict[int, int] = {}
    for at, which in enumerate(first.tolist()):
        seen.setdefault(which, at)
    import numpy as np

    distinct = pool[np.array(sorted(seen.values()))]
    assert packed_values(distinct.values) == data["questions"]["populations"][0]["rows"]
    asked = distinct[5:65]
    outcome = Engine(explored.model, task).run([ablate(node)], asked, reference=reference_of(task))
    assert found["effect"]["hits"] == int(outcome.failed.sum())
    assert found["effect"]["n"] == 60
