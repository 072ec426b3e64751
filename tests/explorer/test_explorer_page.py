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

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import carrylens as cl
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task, find_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.claims.judgement import CLAIMS
from carrylens.cli import app
from carrylens.discovery.node_map import MAP
from carrylens.discovery.saved_map import read_map
from carrylens.errors import CarryLensError
from carrylens.explorer.challenge import LEVELS, challenge, truth_record, veiled
from carrylens.explorer.packed import checksum, packed_values
from carrylens.explorer.page import embedded, explorer_page
from carrylens.explorer.page_data import Explored, page_data
from carrylens.explorer.question_record import POOL, SEED, reference_of
from carrylens.explorer.verdict_record import verdict_record
from carrylens.interventions import Engine, ablate
from carrylens.model.folder import save_model
from carrylens.model.source import ModelSource
from carrylens.model.transformer import Transformer
from carrylens.workflow.exploring import explore_source
from carrylens.workflow.judging import judge_usual
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

NINE_CARRIES = """
from carrylens.arithmetic.algorithm_model import state_algorithm
from carrylens.arithmetic.subtasks import base_add, same, sum_digit, zero
from carrylens.arithmetic.variables import D_PRIME, SA, SC, SGN, A, D
from carrylens.claims.hypothesis import Hypothesis
from carrylens.tasks.causal import Mechanism


def hypothesis(task):
    mechanisms = [Mechanism(SGN, (), zero)]
    for k in range(task.digits):
        mechanisms.append(Mechanism(SA[k], (D[k], D_PRIME[k]), base_add))
        mechanisms.append(Mechanism(SC[k], (D[k], D_PRIME[k]), lambda d, e: d + e >= 9))
        mechanisms.append(Mechanism(A[k], (SA[k], *SC.below(k)), sum_digit))
    mechanisms.append(Mechanism(A[task.digits], (SC[task.digits - 1],), same))
    model = state_algorithm("nine carries", task.operation, task.digits, mechanisms)
    return Hypothesis("nine carries", model, required=("SA", "SC", "A"))
"""


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
    claims = {"hypothesis": payload, "verdict": payload, "required": {payload: 1}, payload: {"hits": 1, "n": 2}}
    page = explorer_page(replace(explored, name=payload, claims=claims, sha256=payload, map=None))
    parts = _Parts(page)
    assert len(parts.scripts) == 3
    assert parts.suspicious == []
    assert data_of(page)["name"] == payload
    assert data_of(page)["verdict"]["hypothesis"] == payload


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_letter_that_html_knows_is_in_the_data(payload: str) -> None:
    text = embedded({payload: [payload]})
    assert set("<>&\u2028").isdisjoint(text)
    assert json.loads(text) == {payload: [payload]}


def test_a_folder_with_a_hostile_name_stays_data(tmp_path: Path) -> None:
    folder = tmp_path / "<img src=x onerror='window.hacked = 1'>"
    save_model(SHAPES["units first"]().model, folder)
    out = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["explore", str(folder), "--out", str(out)])
    assert result.exit_code == 0, result.output
    parts = _Parts(out.read_text())
    assert len(parts.scripts) == 3
    assert parts.suspicious == []
    assert data_of(out.read_text())["name"] == folder.name


def judged_folder(tmp_path: Path, **changes: object) -> tuple[ModelSource, Path]:
    """A folder with the shipped map and what was judged on it, in which some words are others."""
    source = find_source(ADD)
    assert source.folder is not None
    found = read_map(source.folder / MAP, find_task)
    claims = {**json.loads(judge_usual(found).to_json()), **changes}
    for name, content in ((MAP, (source.folder / MAP).read_bytes()), (CLAIMS, json.dumps(claims).encode())):
        (tmp_path / name).write_bytes(content)
    return source, tmp_path


@pytest.mark.parametrize("payload", PAYLOADS[:2])
def test_what_was_judged_on_the_map_is_on_the_page(tmp_path: Path, payload: str) -> None:
    source, folder = judged_folder(tmp_path, hypothesis=payload)
    page = explore_source(source, [folder]).page
    verdict = data_of(page)["verdict"]
    assert verdict["hypothesis"] == payload
    assert verdict["verdict"]
    assert sum(count for _, count in verdict["required"]) > 50
    assert verdict["rivals"]
    assert len(_Parts(page).scripts) == 3


def test_what_was_judged_on_another_map_is_not_on_the_page(tmp_path: Path) -> None:
    source, folder = judged_folder(tmp_path, map_sha256="0" * 64)
    assert data_of(explore_source(source, [folder]).page)["verdict"] is None


def test_a_damaged_file_of_claims_is_named(tmp_path: Path) -> None:
    source, folder = judged_folder(tmp_path, required=3)
    with pytest.raises(CarryLensError, match=CLAIMS):
        explore_source(source, [folder])


def test_a_verdict_shows_every_rate_that_its_file_states() -> None:
    rate = {"hits": 9, "n": 10, "interval": [0.5, 1]}
    claims = {"verdict": {"verdict": "runs"}, "joint": {"interchange": rate, "more": {"worst_output": rate}}}
    found = verdict_record(claims)
    assert found is not None
    assert found["verdict"] == "runs"
    assert [name.split() for name, _, _ in found["rates"]] == [
        ["joint", "interchange"],
        ["joint", "more", "worst", "output"],
    ]
    assert verdict_record({}) is None


def test_an_algorithm_of_ones_own_runs_beside_the_model(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(NINE_CARRIES)
    data = data_of(explore_source(find_source(ADD), [tmp_path], hypothesis=path).page)
    assert data["map"] is None, "a map of other variables that have the same names"
    assert data["truth"]
    names = [family["name"] for family in data["causal"]["families"]]
    assert "SC" in names
    assert "ST" not in names
    # 5+4 carries by this algorithm, and the right answer stays that of the task
    inputs = [0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 4]
    right, stated = run_cases(data, [{"do": "right", "inputs": inputs}, {"do": "stated", "inputs": inputs}])
    assert right == [10, 0, 0, 0, 0, 0, 0, 9]
    assert stated == [10, 0, 0, 0, 0, 0, 1, 9]


def test_any_changed_letter_of_the_data_changes_the_checksum() -> None:
    page, random = page_of(ADD), np.random.default_rng(1)
    said, text = (
        int(re.findall(r'data-sum="(\d+)"', page)[0]),
        page.partition('id="data">')[2].partition("</script>")[0],
    )
    assert checksum(text) == said
    for at in random.integers(len(text), size=20).tolist():
        other = "A" if text[at] != "A" else "B"
        assert checksum(text[:at] + other + text[at + 1 :]) != said
    assert run_cases(data_of(page), [{"do": "checksum", "text": text[:5000]}]) == [checksum(text[:5000])]


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


def test_every_carrier_of_a_challenge_answers_as_the_algorithm_predicts() -> None:
    """A node of the last layer serves one output: what its interchange cannot reach is not predicted to change."""
    explored = challenge(1)
    truth = truth_record(plant(describe(LEVELS[1].operation, LEVELS[1].digits, LEVELS[1].dials)).truth)
    data = page_data(explored)
    given = [
        {"nodes": copy, "variable": [str(each) for each in explored.task.causal.variables].index(group["variable"])}
        for group in truth["groups"]
        for copy in group["copies"]
    ]
    found = run_cases(data, [{"do": "carries", "given": {**each, "count": 20}} for each in given])
    assert {"SV[0]", "SV[1]"} <= {group["variable"] for group in truth["groups"]}
    assert all(run["effect"]["hits"] == run["effect"]["n"] > 10 for run in found)
    assert all(run["null"]["hits"] == 0 for run in found)


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
    distinct = pool[np.array(sorted(seen.values()))]
    assert packed_values(distinct.values) == data["questions"]["populations"][0]["rows"]
    asked = distinct[5:65]
    outcome = Engine(explored.model, task).run([ablate(node)], asked, reference=reference_of(task))
    assert found["effect"]["hits"] == int(outcome.failed.sum())
    assert found["effect"]["n"] == 60
