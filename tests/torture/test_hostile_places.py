"""Places that somebody else prepared: nothing is written where a link leads, and nothing of the user's is published."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from carrylens import __version__
from carrylens.arithmetic.family.rows import parse_rows
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.sources import SHIPPED, find_source
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.saved_results import SavedResults
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.errors import CarryLensError
from carrylens.folders import add_sealed, read_sealed
from carrylens.report.terminal.paper import paper_html
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.answering_paper import saved_model
from carrylens.workflow.family_run.cluster import StepOrder, take_order
from carrylens.workflow.family_run.row_folder import LOCK, held
from carrylens.workflow.judging import joint_judgement, judge_map
from carrylens.workflow.publishing import publication_of
from carrylens.workflow.question_data import QuestionChoice, question_set
from carrylens.workflow.reading import read_source
from carrylens.workflow.settling import settle_source
from torture.bench import run_command

SECRET = b"what only its owner may see"
NAME = "add_d5_l1_h3_w96_t5K_s1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's, with a file; commands run beside it."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret").write_bytes(SECRET)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "home"


@pytest.fixture
def model(home: Path) -> Path:
    del home
    plant(describe(Operation.ADD, 1)).save("model")
    return Path("model")


def link(place: str, to: Path) -> None:
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).symlink_to(to)


def _row(_: Path) -> object:
    (row,) = parse_rows(b'[[rows]]\nmodel = "add_d1_l1_h1_w6_t4_s1"\nsteps = ["train"]', "rows")
    ended = take_order(StepOrder(row, "train", str(Path("family").resolve()), None, 1, __version__), None)
    assert ended[0] == "failed"
    raise CarryLensError(ended[3])


WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "claims about what shipped": (f"maps/{NAME}", lambda _: find_source(NAME).analysis_folder(None)),
    "all analyses": ("maps", lambda _: find_source(NAME).analysis_folder(None)),
    "data of questions": ("set/data", lambda _: question_set(QuestionChoice(count=2)).save("set")),
    "results of a benchmark": (
        "results/found",
        lambda _: SavedResults(Path("results")).once("found/attention", {}, lambda: {"is": 1}),
    ),
    "unfinished work of a benchmark": (
        "results/unfinished",
        lambda _: BenchmarkRun(results=SavedResults(Path("results"))).drop_store("key"),
    ),
    "a row of a family": ("family/add_d1_l1_h1_w6_t4_s1", _row),
}


@pytest.mark.parametrize("what", WRITERS)
def test_nothing_is_written_into_a_folder_that_a_link_leads_to(what: str, home: Path) -> None:
    place, write = WRITERS[what]
    link(place, home)
    with pytest.raises(CarryLensError, match=re.escape(os.path.realpath(home))):
        write(home)
    assert [path.name for path in home.iterdir()] == ["secret"]


UNNAMED: dict[str, list[tuple[str, ...]]] = {
    "models": [("plant", "add", "--digits", "1"), ("train", "add_d1_l1_h1_w6_t4_s1")],
    "family": [("family", "run", "rows.toml")],
}


@pytest.mark.parametrize(("place", "command"), [(place, each) for place, some in UNNAMED.items() for each in some])
def test_nothing_is_put_where_a_link_of_the_current_folder_leads(
    place: str, command: tuple[str, ...], home: Path
) -> None:
    link(place, home)
    Path("rows.toml").write_text('[[rows]]\nmodel = "add_d1_l1_h1_w6_t4_s1"\nsteps = ["train"]')
    assert run_command(Path.cwd(), command)[0] == "refused"
    assert [path.name for path in home.iterdir()] == ["secret"]


def test_the_lock_of_a_row_is_no_file_of_the_users(home: Path) -> None:
    link(f"row/{LOCK}", home / "secret")
    with held(Path("row"), lambda _: None):
        assert str(os.getpid()) in (Path("row") / LOCK).read_text()
    assert (home / "secret").read_bytes() == SECRET


PUBLISHED = ("README.md", "report.html", "explore.html", "test.json", "claims.json", "training.jsonl", "battery.json")


@pytest.mark.parametrize("name", PUBLISHED)
def test_nothing_that_a_link_leads_to_is_published(name: str, model: Path, home: Path) -> None:
    link(str(model / name), home / "secret")
    try:
        files = publication_of(find_source(str(model)), "hf:a/b").files
    except CarryLensError:
        return
    assert all(SECRET not in content for content in files.values())


@pytest.mark.parametrize("name", PUBLISHED)
def test_nothing_that_has_a_second_name_elsewhere_is_published(name: str, model: Path, home: Path) -> None:
    (model / name).unlink(missing_ok=True)
    (model / name).hardlink_to(home / "secret")
    with contextlib.suppress(CarryLensError):
        files = publication_of(find_source(str(model)), "hf:a/b").files
        assert all(SECRET not in content for content in files.values())


def test_a_card_that_was_changed_after_it_was_sealed_is_not_published(model: Path) -> None:
    add_sealed(model, {"README.md": b"# mine"})
    assert b"# mine" in publication_of(find_source(str(model)), "hf:a/b").files["README.md"]
    (model / "README.md").write_bytes(SECRET)
    with pytest.raises(CarryLensError, match="README"):
        publication_of(find_source(str(model)), "hf:a/b")


def test_a_file_that_was_changed_or_is_of_other_weights_is_not_published(model: Path) -> None:
    content = (SHIPPED / NAME / "test.json").read_bytes()
    (model / "test.json").write_bytes(content)
    with pytest.raises(CarryLensError, match="not sealed"):
        publication_of(find_source(str(model)), "hf:a/b")
    add_sealed(model, {"test.json": content})
    with pytest.raises(CarryLensError, match="other weights"):
        publication_of(find_source(str(model)), "hf:a/b")


@pytest.fixture
def aligned(home: Path) -> Path:
    """A copy of a shipped model with its measured alignment."""
    del home
    shutil.copytree(SHIPPED / NAME, NAME)
    assert run_command(Path.cwd(), ("judge", f"./{NAME}"))[0] == "done"
    return Path(NAME)


def test_an_alignment_with_another_algorithm_is_no_verdict_on_this_one(aligned: Path) -> None:
    judged = judge_map(aligned, None)
    assert joint_judgement(aligned, judged, usual=True).joint_interchange is not None
    said = json.loads(read_sealed(aligned, "alignment.json"))
    add_sealed(aligned, {"alignment.json": json.dumps({**said, "hypothesis": "weighted-sum add"}).encode()})
    assert MeasuredAlignment.from_json((aligned / "alignment.json").read_bytes()).hypothesis == "weighted-sum add"
    assert joint_judgement(aligned, judged, usual=True).joint_interchange is None
    assert read_source(find_source(str(aligned)), None)[1].joint is None


def test_a_model_that_is_not_what_it_is_called_is_not_judged(aligned: Path) -> None:
    judge_map(aligned, None)
    aligned.replace("mix_d5_l1_h3_w96_t5K_s1")
    with pytest.raises(CarryLensError, match="mix_d5"):
        judge_map(Path("mix_d5_l1_h3_w96_t5K_s1"), None)


def test_a_test_of_other_weights_is_no_answer_to_the_paper(aligned: Path) -> None:
    said = json.loads(read_sealed(aligned, "test.json"))
    add_sealed(aligned, {"test.json": json.dumps({**said, "sha256": hashlib.sha256(b"").hexdigest()}).encode()})
    found = saved_model(aligned)
    assert (found.test, found.meets_bar) == (None, None)


def test_settling_refuses_a_folder_that_cannot_be_made_before_it_measures(model: Path) -> None:
    Path("file").write_bytes(b"")

    def measured(*_: object) -> None:
        pytest.fail("it measured")

    with pytest.raises(CarryLensError, match="file"):
        settle_source(Analysis(find_source(str(model)), Path("file/inside"), progress=measured, quick=True))


def test_a_plant_that_was_killed_is_planted_by_the_same_command(home: Path) -> None:
    del home
    Path("circuit").mkdir()
    for name in (".config.json.s0123456789abcdef.part", ".manifest.json.new.part", ".seal.lock"):
        (Path("circuit") / name).write_bytes(b"?")
    words = ("plant", "add", "--digits", "1", "--out", "circuit")
    assert run_command(Path.cwd(), words)[0] == "done"
    assert run_command(Path.cwd(), words)[0] == "refused"
    Path("mine").mkdir()
    (Path("mine") / "notes.txt").write_bytes(SECRET)
    assert run_command(Path.cwd(), (*words[:-1], "mine"))[0] == "refused"


def test_the_paper_page_takes_no_script_and_no_style_but_its_own() -> None:
    page = paper_html([], [])
    assert "unsafe-inline" not in page
    assert "base-uri &#39;none&#39;" in page or "base-uri 'none'" in page
