"""`carrylens settle` and what follows training under an alignment, as a user meets them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from msgspec import structs
from typer.testing import CliRunner

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.aligned.named_algorithms import algorithm_called, named_algorithms
from carrylens.arithmetic.aligned.plans import aligned_plan
from carrylens.arithmetic.aligned.sites import Variant, alignment_of
from carrylens.arithmetic.aligned.suite import aligned_rows
from carrylens.arithmetic.aligned.truth import aligned_truth
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.cli import app
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment, read_alignment
from carrylens.errors import CarryLensError
from carrylens.folders import add_sealed, check_sealed
from carrylens.model.config import ModelConfig
from carrylens.training.interchange import nodes_of
from carrylens.training.run import start, train
from carrylens.workflow.acceptance import ACCEPTANCE, TRUTH, accept_model, is_unaccepted
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.settling import Settlement, settle_source
from training.quiet import Quiet

NAME = "add_d2_l2_h3_w12_t1K_s1"


def run(*words: str) -> str:
    result = CliRunner().invoke(app, [*words], catch_exceptions=True)
    if isinstance(result.exception, CarryLensError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def aligned(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], Path]:
    """A planted model with what `settle --json` printed."""
    folder = tmp_path_factory.mktemp("settle") / "model"
    plant(describe(Operation.ADD, 2)).save(folder)
    return json.loads(run("settle", str(folder), "--quick", "--json")), folder


def test_a_planted_circuit_is_aligned_and_the_file_gives_back_what_was_printed(
    aligned: tuple[dict[str, object], Path],
) -> None:
    printed, folder = aligned
    saved = read_alignment(folder / "alignment.json")
    joint, scrubbed = printed["joint_interchange"], printed["scrubbed"]
    assert isinstance(joint, dict)
    assert isinstance(scrubbed, dict)
    assert isinstance(printed["rivals"], list)
    assert min(joint["low"], scrubbed["low"]) > 0.9
    assert joint["n"] == saved.rates.interchange.n
    assert printed["verdict"] == "runs"
    assert printed["carriers"] == {"supported": 5, "required": 5}
    assert [each["standing"] for each in printed["rivals"]] == ["surely worse"]
    assert MeasuredAlignment.from_json(saved.to_json()) == saved


def test_what_was_settled_is_not_measured_again_unless_it_is_asked_for(aligned: tuple[object, Path]) -> None:
    _, folder = aligned
    file = folder / "alignment.json"
    known = file.read_bytes()

    def settled(**how: object) -> Settlement:
        return settle_source(Analysis(find_source(str(folder)), quick=True, **how))  # type: ignore[arg-type]

    before = settled()
    assert before.is_known
    assert before.path == file
    assert before.judgement.verdict is RunVerdict.RUNS
    saved = MeasuredAlignment.from_json(known)
    for other in (
        replace(saved, sha256="0" * 64),
        replace(saved, hypothesis="another"),
        replace(saved, drawn=structs.replace(saved.drawn, rows=saved.drawn.rows - 1)),
        replace(saved, drawn=structs.replace(saved.drawn, seed=1)),
    ):
        add_sealed(folder, {file.name: other.to_json()})
        assert not settled().is_known
        assert file.read_bytes() == known, "it was measured as before"
    assert not settled(restart=True).is_known
    assert file.read_bytes() == known


def test_bad_input_to_align_and_train_is_one_line(aligned: tuple[dict[str, object], Path], tmp_path: Path) -> None:
    _, folder = aligned
    with pytest.raises(CarryLensError, match="nonsense"):
        run("settle", str(folder), "--algorithm", "nonsense")
    with pytest.raises(CarryLensError, match="mine.json"):
        run("train", NAME, "--aligned", str(tmp_path / "mine.json"))
    (tmp_path / "mine.json").write_text('{"algorithm": "no such", "sites": []}')
    with pytest.raises(CarryLensError, match="no such"):
        run("train", NAME, "--aligned", str(tmp_path / "mine.json"))
    with pytest.raises(CarryLensError, match="--aligned"):
        run("train", NAME, "--aligned", str(tmp_path / "mine.json"), "--recipe", "paper")
    (tmp_path / "alignment.json").write_text("[]")
    with pytest.raises(CarryLensError, match=r"alignment\.json"):
        read_alignment(tmp_path / "alignment.json")


def test_a_model_that_was_not_accepted_gets_no_truth(tmp_path: Path) -> None:
    file = tmp_path / "aligned.json"
    file.write_text(alignment_of(algorithm(Operation.ADD, 2)).to_json())
    plan = replace(aligned_plan(ModelName.parse(NAME), file), n_steps=2)
    folder = tmp_path / "model"
    assert train(start(plan, folder, torch.device("cpu")), Quiet(), checkpoint_seconds=1e9)
    assert is_unaccepted(folder)
    found = accept_model(plan, folder, count=64)
    assert not found.accepted
    assert not is_unaccepted(folder)
    assert ACCEPTANCE in check_sealed(folder)
    assert not (folder / TRUTH).exists()
    exam = Exam.start(str(folder), 3, 1, "cpu")
    list(exam.sit())
    exam.save()  # which leaves the card as it is
    assert "not accepted" in (folder / "README.md").read_text()


def test_every_model_of_the_suite_has_a_name_of_its_own_and_an_alignment_that_fits() -> None:
    rows = list(aligned_rows())
    assert len({str(row.name) for row in rows}) == len(rows) >= 40
    for row in rows:
        model = algorithm_called(row.algorithm, row.operation, row.digits)
        name = row.name
        config = ModelConfig(
            name.n_layers,
            name.n_heads,
            12,
            4,
            48,
            3 * row.digits + 4,
            15,
            15,
            range(2 * row.digits + 1, 3 * row.digits + 3),
        )
        row.alignment.check(model, nodes_of(config))
        placed = {variable for site in row.alignment.sites for variable in site.variables}
        assert set(model.outputs) - placed <= {o for o in model.outputs if not model.by_variable[o].parents}


@pytest.mark.parametrize(
    ("of", "under", "deserved"),
    [
        ("left-to-right add", "left-to-right add", RunVerdict.RUNS),
        ("left-to-right add", "one-layer add", RunVerdict.DOES_NOT_RUN),
        ("weighted-sum add", "left-to-right add", RunVerdict.DOES_NOT_RUN),
        ("left-to-right add with binary carries", "left-to-right add", RunVerdict.RUNS),
        ("left-to-right add, weighted-sum on 30%", "left-to-right add", RunVerdict.IN_PART),
        ("one-layer add", "left-to-right add", RunVerdict.DOES_NOT_RUN),
    ],
)
def test_what_a_model_deserves_to_be_called_follows_from_what_it_runs(
    of: str, under: str, deserved: RunVerdict
) -> None:
    model = named_algorithms(Operation.ADD, 3)[of]
    truth = aligned_truth(alignment_of(model), model, ())
    assert truth.deserved[under] is deserved


def test_a_variant_that_an_algorithm_does_not_have_is_refused() -> None:
    with pytest.raises(CarryLensError, match="polysemantic"):
        alignment_of(algorithm(Operation.SUB, 2), Variant.POLYSEMANTIC)
