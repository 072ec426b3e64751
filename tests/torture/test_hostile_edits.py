"""Files edited by somebody who wrote a seal that fits, too: what they say must agree with itself and its model."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from carrylens.arithmetic.aligned.plans import aligned_plan
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.zoo import exams
from carrylens.arithmetic.zoo.cards import card_of, model_card
from carrylens.arithmetic.zoo.model_facts import saved_exhaustive
from carrylens.arithmetic.zoo.sources import SHIPPED, find_source
from carrylens.benchmark.method_registry import method_from_file
from carrylens.claims.records import read_claims
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.errors import CarryLensError
from carrylens.evidence import Fact, Rate, read_facts, write_facts
from carrylens.folders import add_sealed, read_sealed
from carrylens.model.tensor_files import read_tensors
from carrylens.steps import is_done
from carrylens.training.checkpoint import CHECKPOINT, load_checkpoint
from carrylens.workflow.exploring import explore_any
from carrylens.workflow.judging import judge_map
from carrylens.workflow.reading import page_of_saved, read_source
from carrylens.workflow.testing import TestResult, take_test

NAME = "add_d5_l1_h3_w96_t5K_s1"
Record = dict[str, Any]


@pytest.fixture(scope="module")
def claims() -> Record:
    plain: Record = json.loads(judge_map(SHIPPED / NAME, None).to_json())
    assert plain["rivals"]
    return plain


def _without_a_count(record: Record) -> None:
    del record["rivals"][0]["required"]["supported"]


def _another_count(record: Record) -> None:
    record["required"]["supported"] += 1


def _another_count_of_a_rival(record: Record) -> None:
    record["rivals"][0]["required"]["refuted"] += 1


def _another_verdict(record: Record) -> None:
    record["skeleton"] = "present" if record["skeleton"] != "present" else "absent"


def _another_verdict_of_a_rival(record: Record) -> None:
    rival = record["rivals"][0]
    rival["skeleton"] = "present" if rival["skeleton"] == "absent" else "absent"


def _a_claim_turned(record: Record) -> None:
    claim = next(each for each in record["claims"] if each["required"] and each["verdict"] == "SUPPORTED")
    claim["verdict"] = "REFUTED"


def _a_claim_made_optional(record: Record) -> None:
    next(each for each in record["claims"] if each["required"])["required"] = False


def _a_threshold_beyond_all(record: Record) -> None:
    record["thresholds"]["level"] = 1e308


def _a_share_beyond_all(record: Record) -> None:
    next(each for each in record["rivals"] if "told_apart_by" in each)["told_apart_by"]["natural"] = -0.5


EDITS: tuple[Callable[[Record], None], ...] = (
    *(_without_a_count, _another_count, _another_count_of_a_rival, _another_verdict, _another_verdict_of_a_rival),
    *(_a_claim_turned, _a_claim_made_optional, _a_threshold_beyond_all, _a_share_beyond_all),
)


@pytest.mark.parametrize("edit", EDITS)
def test_claims_that_contradict_themselves_are_refused(edit: Callable[[Record], None], claims: Record) -> None:
    edited = json.loads(json.dumps(claims))
    read_claims(json.dumps(edited).encode(), "it")
    edit(edited)
    with pytest.raises(CarryLensError, match="^it "):
        read_claims(json.dumps(edited).encode(), "it")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a shipped model, with claims."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(SHIPPED / NAME, NAME)
    add_sealed(Path(NAME), {"claims.json": judge_map(Path(NAME), None).to_json().encode()})
    return Path(NAME)


@pytest.mark.parametrize("said", [{"hypothesis": "weighted-sum add"}, {"model": "add_d5_l1_h3_w96_t5K_s2"}])
def test_the_explorer_shows_no_alignment_with_another_algorithm(said: dict[str, str], model: Path) -> None:
    true = json.loads(read_sealed(model, "alignment.json"))
    before = explore_any(str(model)).page
    add_sealed(model, {"alignment.json": json.dumps({**true, **said}).encode()})
    after = explore_any(str(model)).page
    (model / "alignment.json").unlink()
    assert after == explore_any(str(model)).page != before, "as if there were none"


def test_a_kill_between_two_seals_leaves_no_card_without_its_test(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class KilledError(Exception):
        """As a kill after the first seal would end it."""

    def once(folder: Path, contents: dict[str, bytes]) -> None:
        add_sealed(folder, contents)
        raise KilledError

    monkeypatch.setattr(exams, "add_sealed", once)
    exam = exams.Exam.start(str(model), 3, 1, "cpu")
    list(exam.sit())
    with pytest.raises(KilledError):
        exam.save()
    card = read_sealed(model, "README.md").decode()
    asked = json.loads(read_sealed(model, "test.json"))["parts"][0]["asked"]
    assert asked == 3
    assert f"--questions {asked} " in card


def test_a_card_tells_no_test_of_other_weights(model: Path) -> None:
    test = json.loads(read_sealed(model, "test.json"))
    name = ModelName.parse(NAME)
    before = model_card(name, model, test)
    add_sealed(model, {"exhaustive.json": json.dumps({**test, "sha256": "0" * 64}).encode()})
    assert saved_exhaustive(model) is not None
    assert model_card(name, model, test) == before


def _run(**said: object) -> Callable[[list[Record]], object]:
    return lambda lines: lines[0]["run"].update(said)


def _without(name: str) -> Callable[[list[Record]], object]:
    return lambda lines: lines[0]["run"].pop(name)


HISTORIES: dict[str, Callable[[list[Record]], object]] = {
    "an unknown recipe": _run(kind="magic"),
    "no recipe": _without("kind"),
    "no batch": _without("batch"),
    "no rate": _without("adam_rate"),
    "no population": _without("stream"),
    "a model inserted nowhere": _run(inserted_from="add_d5_l1_h3_w96_t5K_s1"),
    "no notes": lambda lines: lines.__delitem__(slice(1, None)),
}


@pytest.mark.parametrize("what", HISTORIES)
def test_a_card_is_made_or_refused_with_one_line_whatever_the_history_says(what: str, model: Path) -> None:
    lines = [json.loads(line) for line in read_sealed(model, "training.jsonl").splitlines()]
    HISTORIES[what](lines)
    add_sealed(model, {"training.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in lines)})
    test = json.loads(read_sealed(model, "test.json"))
    with contextlib.suppress(CarryLensError):
        assert "imported" not in card_of(find_source(str(model)), model, test)


def test_a_damaged_test_makes_no_card_of_an_imported_model(model: Path) -> None:
    (model / "exhaustive.json").write_bytes(b"{}")
    with pytest.raises(CarryLensError, match=r"exhaustive\.json"):
        card_of(find_source(str(model)), model, json.loads(read_sealed(model, "test.json")))


def test_a_test_of_an_operation_that_there_is_not_is_shown_with_no_command_for_it(model: Path) -> None:
    said = json.loads(read_sealed(model, "test.json"))
    add_sealed(model, {"test.json": json.dumps(said).replace('"operation": "add"', '"operation": "x"').encode()})
    folder, saved = read_source(find_source(str(model)), None)
    page = page_of_saved(saved, folder)
    assert b"carrylens test" in page
    assert not re.search(rb"carrylens test [^<\n]*--questions", page)
    with pytest.raises(CarryLensError, match="'x'"):
        card_of(find_source(str(model)), model, json.loads(read_sealed(model, "test.json")))


ALIGNMENTS: dict[str, Callable[[Record], object]] = {
    "fewer than no rows": lambda said: said["drawn"].update(rows=-1),
    "uncountably many rows": lambda said: said["drawn"].update(fit_rows=2**60),
    "a share above one": lambda said: said["rates"].update(
        deviation={"where": "x", "share": 1.5, "inside": {"hits": 1, "n": 2}, "outside": {"hits": 0, "n": 2}}
    ),
}


@pytest.mark.parametrize("what", ALIGNMENTS)
def test_an_alignment_with_figures_that_cannot_be_is_refused(what: str, model: Path) -> None:
    said = json.loads(read_sealed(model, "alignment.json"))
    MeasuredAlignment.from_json(json.dumps(said).encode(), "it")
    ALIGNMENTS[what](said)
    with pytest.raises(CarryLensError, match="^it "):
        MeasuredAlignment.from_json(json.dumps(said).encode(), "it")


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def late(_: int, __: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(model: Path) -> None:
    os.mkfifo(model / CHECKPOINT)
    with _at_most(20), pytest.raises(CarryLensError, match=CHECKPOINT):
        load_checkpoint(model, {})
    for name in ("training.jsonl", "test.json", "map.json", "worked.json", "battery.json"):
        (model / name).unlink(missing_ok=True)
        os.mkfifo(model / name)
        with _at_most(60), pytest.raises(CarryLensError):
            read_source(find_source(str(model)), None)
        (model / name).unlink()
        if (SHIPPED / NAME / name).exists():
            shutil.copy(SHIPPED / NAME / name, model)
    os.mkfifo(model / "steps.json")  # no record: everything is done again
    with _at_most(60):
        assert not is_done(model, "judge", {})


GIVEN: dict[str, Callable[[Path], object]] = {
    "weights.pt": read_tensors,
    "weights.safetensors": read_tensors,
    "method.py": method_from_file,
    "placement.json": lambda path: aligned_plan(ModelName.parse("add_d3_l2_h3_w72_t2K_s1"), path),
    "facts.jsonl": read_facts,
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_pipe_that_was_given_as_a_file_keeps_nobody_waiting(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with _at_most(60), pytest.raises(CarryLensError, match="ordinary file"):
        GIVEN[name](tmp_path / name)


def test_facts_that_are_not_as_they_were_sealed_are_not_read(tmp_path: Path) -> None:
    fact = Fact("swap", {}, Rate(1, 9), Rate(0, 9))
    add_sealed(tmp_path, {"facts.jsonl": (fact.to_json() + "\n").encode()})
    assert read_facts(tmp_path / "facts.jsonl") == [fact]
    write_facts(tmp_path / "facts.jsonl", [replace(fact, effect=Rate(9, 9))])
    with pytest.raises(CarryLensError, match="hash"):
        read_facts(tmp_path / "facts.jsonl")


class StopError(Exception):
    """As Ctrl-C ends a test."""


def _stop(*_: object) -> None:
    raise StopError


def _take(model: Path, progress: Callable[..., None]) -> TestResult:
    return take_test(exams.Exam.start(str(model), 3, 1, "cpu"), progress, keep=False, own=False, restart=True)


KEPT_EDITS: dict[str, Callable[[Record], object]] = {
    "nothing asked, all counted": lambda part: part.update(asked=3, failed=0, failures=[]),
    "fewer than none failed": lambda part: part.update(failed=-1),
    "more failed than were asked": lambda part: part.update(failed=4),
    "more asked than there are": lambda part: part.update(asked=10**12),
}


@pytest.mark.parametrize("what", KEPT_EDITS)
def test_a_kept_test_that_cannot_be_is_set_aside_and_that_is_said_even_if_the_next_is_stopped(
    what: str, model: Path
) -> None:
    (model / "test.json").unlink()
    with pytest.raises(StopError):
        _take(model, _stop)
    (kept,) = Path("cache/carrylens/exams").iterdir()
    said = json.loads(kept.read_bytes())
    KEPT_EDITS[what](said["results"][1])  # of which nothing was asked yet
    kept.write_text(json.dumps(said))
    with pytest.raises(StopError) as stopped:
        _take(model, _stop)
    (note,) = stopped.value.__notes__
    aside = kept.with_suffix(".damaged")
    assert aside.name in note
    assert json.loads(aside.read_bytes()) == said
    assert _take(model, lambda *_: None).notes == ()
