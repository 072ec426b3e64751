"""Everything that comes back prints in a line and draws itself, and no text of a file becomes HTML."""

import dataclasses
import json
import os
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import carrylens as cl
from carrylens.arithmetic.battery.battery_folder import saved_outcomes
from carrylens.arithmetic.zoo.model_facts import history
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.front.question_views import Asked
from carrylens.front.tabular import view_of
from carrylens.front.views import BatteryOutcomes, Examined, MapView, Trained
from carrylens.report.notebook import html_parts
from carrylens.report.notebook.html_parts import table

ADDER = "add_d6_l2_h3_w96_t2K_s1"
EVIL = "<script>alert('x')</script>\"><img src=x onerror=y>"
_VOID = {"img", "br", "hr", "meta", "input"}


class Balanced(HTMLParser):
    """Raises no error, but notes every tag that is left open, closed twice, or can run something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img") or any(name.startswith("on") for name, _ in attrs):
            self.wrong.append(f"runs {tag}")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"closes {tag}")


def mistakes(html: str) -> list[str]:
    parser = Balanced()
    parser.feed(html)
    return [*parser.wrong, *parser.open]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    os.chdir(tmp_path_factory.mktemp("front"))  # where claims and maps go
    model, folder = cl.load(ADDER), find_source(ADDER).folder
    assert folder is not None
    about = {"model": ADDER, "version": cl.__version__, "sha256": find_source(ADDER).sha256}
    outcomes = tuple(saved_outcomes(folder, about))
    assert outcomes
    return {
        "model": model,
        "answers": cl.ask(model, "555555+444448", "1+1"),
        "test": cl.test(model),
        "map": cl.map(model),
        "judgement": cl.judge(model, save=False),
        "outcomes": BatteryOutcomes(ADDER, folder, outcomes),
        "trace": cl.trace("555-448"),
        "attention": cl.attention(model, "555555+444448"),
        "planted": cl.plant("add", 2),
        "questions": cl.questions("mix", 3, count=20),
        "pairs": cl.questions("add", 3, count=4, variable="ST[1]"),
        "trained": Trained(ADDER, folder, model, history(folder)),
        "models": cl.models(),
        "aligned": cl.models(aligned=True),
        "classes": cl.classify("55+45", "100-1"),
        "frequencies": cl.frequencies(3, count=100),
        "losses": cl.losses(ADDER),
        "family": cl.family(ADDER, "add_d6_l2_h3_w96_t2K_s2"),
        "explorer": cl.explore(model),
        "comparison": cl.compare(ADDER, "add_d6_l2_h3_w96_t2K_s2"),
        "graph": cl.plant("add", 1).to_graph(),
    }


NAMES = ("model", "answers", "test", "map", "judgement", "outcomes", "trace", "attention", "planted", "questions")


MORE = ("pairs", "trained", "models", "aligned", "classes", "frequencies", "losses", "family", "comparison", "graph")


@pytest.mark.parametrize("name", [*NAMES, *MORE])
def test_it_prints_in_a_line_and_draws_itself_in_whole_html(results: dict[str, Any], name: str) -> None:
    line, html = repr(results[name]), results[name]._repr_html_()
    assert "\n" not in line
    assert 10 < len(line) < 1200
    assert mistakes(html) == []
    assert len(html) < 400_000


def test_the_explorer_runs_in_a_frame_of_its_own(results: dict[str, Any]) -> None:
    assert "\n" not in repr(results["explorer"])
    assert results["explorer"].page.count("<html") == 1
    assert mistakes(results["explorer"]._repr_html_()) == []


def test_html_that_is_left_open_or_runs_something_is_seen() -> None:
    assert mistakes("<p><b>x</p>")
    assert mistakes(f"<p>{EVIL}</p>")
    assert mistakes(table(["a"], [[EVIL]])) == []


def test_a_name_from_a_file_stays_text(results: dict[str, Any]) -> None:
    found = dataclasses.replace(results["map"], model=EVIL)
    assert mistakes(view_of(MapView, found, beside_truth=EVIL)._repr_html_()) == []
    outcome = dataclasses.replace(results["outcomes"][0], says=EVIL)
    assert mistakes(BatteryOutcomes(EVIL, Path(), (outcome,))._repr_html_()) == []
    figures = {**results["test"].figures, "model": EVIL}
    figures["parts"] = [{**part, "failures": [[EVIL, EVIL, EVIL]]} for part in figures["parts"]]
    assert mistakes(Examined(figures, None)._repr_html_()) == []
    answer = {**results["answers"][0], "question": EVIL, "correct": False}
    assert mistakes(Asked(EVIL, (answer,))._repr_html_()) == []


def test_sentences_that_were_saved_long_ago_are_shown_in_present_words(results: dict[str, Any]) -> None:
    html = results["outcomes"]._repr_html_()
    assert "Swapped" in "".join(outcome.says for outcome in results["outcomes"]), "the file has the old word"
    assert "Interchanged at" in html
    assert all(word not in html for word in ("Swapped", "swapped", "left-to-right account", "told apart"))


def test_pictures_are_whole(results: dict[str, Any]) -> None:
    html = results["attention"]._repr_html_()
    pictures = [part[: part.index("</svg>") + 6] for part in html.split("<svg")[1:]]
    assert len(pictures) == 2 * 3, "one for each head"
    for picture in pictures:
        ET.fromstring("<svg" + picture)


@pytest.mark.parametrize("name", ["answers", "test", "map", "judgement", "outcomes", "questions", "family", *MORE[:6]])
def test_tables_become_pandas(results: dict[str, Any], name: str) -> None:
    pytest.importorskip("pandas")
    rows = results[name].rows()
    frame = results[name].to_pandas()
    assert len(frame) == len(rows) > 0
    assert list(frame.columns) == list(rows[0])


def test_without_pandas_the_error_says_what_to_do(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(html_parts, "import_module", missing)
    with pytest.raises(cl.CarryLensError, match="pip install pandas"):
        results["map"].to_pandas()


def test_maps_and_circuits_become_graphs(results: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("networkx")
    graph = results["map"].to_graph()
    plain = json.loads(graph.save(tmp_path / "map.graph.json").read_text())
    names = {node["id"] for node in plain["nodes"]}
    assert {edge["source"] for edge in plain["edges"]} | {edge["target"] for edge in plain["edges"]} <= names
    assert {str(node) for node in results["map"].useful} <= names
    drawn = graph.to_networkx()
    assert drawn.is_directed()
    assert drawn.is_multigraph()
    assert drawn.number_of_edges() == len(plain["edges"])
    planted = results["planted"]
    assert planted.to_graph().to_networkx().number_of_edges() == len(planted.truth.edges)


def test_a_view_is_the_record(results: dict[str, Any]) -> None:
    found = results["map"]
    assert dataclasses.replace(found, model="other").to_json() != found.to_json()
