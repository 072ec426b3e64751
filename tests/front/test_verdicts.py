"""What `settle` and `judge` give: the verdict in its own words, from models whose verdict is known."""

import json
from pathlib import Path

import pytest

import carrylens as cl
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import RunVerdict
from carrylens.folders import add_sealed, write_sealed
from carrylens.front.verdict_views import Settled
from command_line import run_here

ADDER = "add_d6_l2_h3_w96_t2K_s1"
WORDS = {each.value for each in RunVerdict}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("verdicts")


@pytest.fixture(scope="module")
def runs(place: Path) -> Settled:
    """A planted circuit that runs the algorithm."""
    return cl.settle(cl.plant("add", 2, folder=place / "planted").model, quick=True)


@pytest.fixture(scope="module")
def other(place: Path) -> Settled:
    """A planted one-layer circuit, which cannot carry over several columns."""
    return cl.settle(cl.plant("add", 3, method="one-layer", folder=place / "one_layer").model, quick=True)


def test_a_planted_circuit_runs_the_algorithm_it_was_planted_with(runs: Settled, place: Path) -> None:
    assert runs.verdict is RunVerdict.RUNS
    assert runs.path == place / "planted" / "alignment.json"
    sites = [row for row in runs.rows() if row["nodes"]]
    assert len(sites) == len(runs.alignment.rates.carriers) > 0
    assert all(row["low"] <= row["share"] <= row["high"] for row in runs.rows())


def test_a_planted_circuit_that_gives_other_answers_does_not_run_it(other: Settled) -> None:
    assert other.verdict is RunVerdict.DOES_NOT_RUN


def test_the_line_and_the_display_have_the_verdict_in_its_own_words(runs: Settled, other: Settled) -> None:
    judged = cl.judge(ADDER, save=False)
    for found in (runs, other, judged):
        line, html = repr(found), found._repr_html_()
        assert "\n" not in line
        assert found.verdict.value in line
        assert found.verdict.value in html
        assert "skeleton" not in line + html + " ".join(found.lines)
    assert {runs.verdict.value, other.verdict.value, judged.verdict.value} <= WORDS


def test_judging_a_settled_model_gives_the_verdict_again_without_measuring(runs: Settled, place: Path) -> None:
    model = cl.load(place / "planted")
    found = cl.map(model, quick=True, groups=False, pairs=False)
    assert cl.judge(model, save=False).joint == runs.judgement
    assert cl.judge(place / "planted").joint == runs.judgement
    with_own = cl.judge(found, hypothesis=left_to_right(Operation.ADD, 2))
    assert with_own.verdict is RunVerdict.NOT_SETTLED, "this hypothesis was not settled"


def test_a_model_that_was_settled_and_not_mapped_has_its_verdict_and_no_claims(
    place: Path, other: Settled, tmp_path: Path
) -> None:
    model = place / "one_layer"
    assert not (model / "map.json").exists()
    found = cl.judge(model)
    assert (found.joint, found.claims, found.path, found.rows()) == (other.judgement, None, None, [])
    assert found.joint.open
    assert all(f"carrylens settle {model}" in each.settled_by for each in found.joint.open), "as the user named it"
    assert found.verdict.value in repr(found)
    assert "No map" in repr(found)
    assert "No map" in found._repr_html_()
    said = run_here("judge", model, "--json")
    assert said.returncode == 1
    record = json.loads(said.stdout)
    assert (record["verdict"], record["claims"], record["map"]) == (other.verdict.value, [], None)
    assert f"carrylens map {model}" in said.stderr
    alone = tmp_path / "alone"  # the alignment by itself, as `settle --out` leaves it
    write_sealed(alone, {"alignment.json": other.path.read_bytes()})
    assert cl.judge(alone).verdict is other.verdict


def test_judging_what_is_no_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(cl.CarryLensError) as mistaken:
        cl.judge(tmp_path / "nothing")
    assert "carrylens settle" not in str(mistaken.value), "there is nothing to settle"
    (tmp_path / "empty").mkdir()
    with pytest.raises(cl.CarryLensError, match="carrylens settle"):
        cl.judge(tmp_path / "empty")


def test_an_alignment_of_other_weights_is_no_verdict(place: Path, other: Settled) -> None:
    unlike = place / "unlike"
    cl.plant("add", 3, folder=unlike)
    add_sealed(unlike, {"alignment.json": other.path.read_bytes()})
    with pytest.raises(cl.CarryLensError, match="carrylens settle"):
        cl.judge(unlike)


def test_a_model_that_was_not_settled_says_how_to_settle_it(place: Path) -> None:
    planted = cl.plant("add", 1, folder=place / "unsettled")
    cl.map(planted.model, quick=True, groups=False, pairs=False)
    found = cl.judge(place / "unsettled", save=False)
    assert found.verdict is RunVerdict.NOT_SETTLED
    assert any("carrylens settle" in line for line in found.lines)
    assert found.path is None


def test_another_algorithm_and_bad_names_are_taken_or_refused(place: Path, runs: Settled) -> None:
    planted = place / "planted"
    own = cl.settle(planted, algorithm="weighted-sum add", quick=True, out=place / "elsewhere")
    assert own.path.parent == place / "elsewhere"
    assert own.path.name != runs.path.name
    assert own.alignment.hypothesis == "weighted-sum add"
    assert own.verdict is not RunVerdict.RUNS, "it was planted with another"
    with pytest.raises(cl.CarryLensError, match="nonsense"):
        cl.settle(planted, algorithm="nonsense")
    with pytest.raises(cl.CarryLensError):
        cl.settle(planted, algorithm="weighted-sum add", hypothesis="mine.py")
