"""Weights of others: taken in where they fit the layout, refused where they do not, and never run."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from carrylens.arithmetic import Operation
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.model import ModelConfig, Transformer
from carrylens.model.weights import hash_of
from carrylens.workflow.importing import Unseen, import_model, load_foreign_model, task_of

QUERIES = QuestionLayout(
    2, units_first=True, sign=False, operator=False, start=("*",), end=("/",), output_vocabulary=tuple("0123456789")
)


def model_for(task: ArithmeticTask, normalization: str = "LN") -> Transformer:
    layout = task.layout
    config = ModelConfig(
        n_layers=1,
        n_heads=2,
        d_model=8,
        d_head=4,
        d_mlp=16,
        n_ctx=layout.n_positions,
        d_vocab=len(layout.vocabulary),
        d_vocab_out=len(layout.output_vocabulary or layout.vocabulary),
        reads=layout.reads,
        normalization=normalization,
        seed=3,
    )
    model = Transformer(config).eval()
    model.task = task
    return model


def saved(path: Path, task: ArithmeticTask) -> Transformer:
    model = model_for(task)
    torch.save(dict(model.state_dict()), path)
    return model


@pytest.mark.parametrize(
    "task",
    [arithmetic_task(Operation.ADD, 2), arithmetic_task(Operation.MIX, 3), arithmetic_task(Operation.ADD, 2, QUERIES)],
    ids=lambda task: task.name,
)
def test_weights_in_transformer_lens_names_become_a_folder_of_the_same_model(
    task: ArithmeticTask, tmp_path: Path
) -> None:
    original = saved(tmp_path / "theirs.pt", task)
    import_model(tmp_path / "theirs.pt", tmp_path / "ours", task)
    source = find_source(str(tmp_path / "ours"))
    assert source.task == task
    model = source.load()
    assert hash_of(model) == hash_of(original) == source.sha256
    questions = task.samplers["natural"].draw(0, 0, 8)
    ids = torch.from_numpy(task.token_ids(questions))
    assert torch.equal(model(ids), original(ids))


def test_places_that_no_question_reaches_are_left_out(tmp_path: Path) -> None:
    task = arithmetic_task(Operation.ADD, 2)
    state = dict(model_for(task).state_dict())
    state["pos_embed.W_pos"] = torch.cat([state["pos_embed.W_pos"], torch.ones(5, 8)])
    torch.save(state, tmp_path / "long.pt")
    assert load_foreign_model(tmp_path / "long.pt", task, Unseen()).config.n_ctx == task.layout.n_positions


@pytest.mark.parametrize(
    "other",
    [
        arithmetic_task(Operation.ADD, 3),
        arithmetic_task(Operation.ADD, 2, QuestionLayout(2, end=("*",))),
        arithmetic_task(Operation.ADD, 2, QuestionLayout(2, vocabulary=tuple("0123456789+-="))),
        arithmetic_task(Operation.ADD, 2, QuestionLayout(2, output_vocabulary=tuple("0123456789+-"))),
    ],
    ids=["digits", "an end", "fewer tokens", "fewer output tokens"],
)
def test_weights_of_another_layout_are_refused_and_nothing_is_written(other: ArithmeticTask, tmp_path: Path) -> None:
    saved(tmp_path / "theirs.pt", arithmetic_task(Operation.ADD, 2))
    with pytest.raises(CarryLensError):
        import_model(tmp_path / "theirs.pt", tmp_path / "ours", other)
    assert not (tmp_path / "ours").exists()


def test_a_folder_that_holds_a_model_is_left_as_it_is(tmp_path: Path) -> None:
    task = arithmetic_task(Operation.ADD, 2)
    saved(tmp_path / "theirs.pt", task)
    import_model(tmp_path / "theirs.pt", tmp_path / "ours", task)
    before = {path.name: path.read_bytes() for path in (tmp_path / "ours").iterdir()}
    with pytest.raises(CarryLensError):
        import_model(tmp_path / "theirs.pt", tmp_path / "ours", task)
    assert {path.name: path.read_bytes() for path in (tmp_path / "ours").iterdir()} == before


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.path, "run")


@pytest.mark.parametrize("how", ["torch", "pickle"])
def test_what_a_file_would_run_is_not_run(how: str, tmp_path: Path) -> None:
    mark, file = tmp_path / "mark", tmp_path / "theirs.pt"
    content = {"embed.W_E": Hostile(mark)}
    if how == "torch":
        torch.save(content, file)
    else:
        file.write_bytes(pickle.dumps(content))
    with pytest.raises(CarryLensError):
        import_model(file, tmp_path / "ours", arithmetic_task(Operation.ADD, 2))
    assert not mark.exists()
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize("content", [b"", b"no weights", b"PK\x03\x04"])
def test_a_file_without_weights_is_one_clear_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "theirs.pt").write_bytes(content)
    for path in (tmp_path / "theirs.pt", tmp_path / "nonesuch.pt"):
        with pytest.raises(CarryLensError) as caught:
            import_model(path, tmp_path / "ours", arithmetic_task(Operation.ADD, 2))
        assert "\n" not in str(caught.value)


def test_a_layout_is_described_in_words_or_by_a_file(tmp_path: Path) -> None:
    words = ["units_first=yes", "sign=no", "operator=no", "start=*", "end=/", "output-vocabulary=0123456789"]
    assert task_of("add", 2, words) == arithmetic_task(Operation.ADD, 2, QUERIES)
    record = {name: value for name, value in QUERIES.record().items() if name != "digits"}
    (tmp_path / "layout.json").write_text(json.dumps(record))
    assert task_of("add", 2, [str(tmp_path / "layout.json")]) == arithmetic_task(Operation.ADD, 2, QUERIES)
    changed = task_of("add", 2, [str(tmp_path / "layout.json"), "units_first=no"])
    assert isinstance(changed, ArithmeticTask)
    assert not changed.question_layout.units_first
    assert task_of("mix", 3, []) == arithmetic_task(Operation.MIX, 3)


@pytest.mark.parametrize(
    "word", ["sign=perhaps", "answer_digits=two", "colour=red", "nonesuch.json", "answer_digits=9", "sign=no"]
)
def test_a_description_that_makes_no_layout_is_refused(word: str) -> None:
    with pytest.raises(CarryLensError):
        task_of("sub", 2, [word])


def test_a_file_that_is_no_layout_is_refused(tmp_path: Path) -> None:
    for content in ("{", "[]", '{"colour": 1}'):
        (tmp_path / "layout.json").write_text(content)
        with pytest.raises(CarryLensError):
            task_of("add", 2, [str(tmp_path / "layout.json")])


@pytest.mark.parametrize("layout", [(), ("units_first=yes", "sign=no", "end=*")], ids=["the paper's", "another"])
def test_an_imported_folder_works_with_ask_and_test(
    layout: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    task = task_of("add", 2, layout)
    assert isinstance(task, ArithmeticTask)
    saved(tmp_path / "theirs.pt", task)
    folder, run = tmp_path / "ours", CliRunner()
    words = [part for word in layout for part in ("--layout", word)]
    made = run.invoke(
        app, ["import", str(tmp_path / "theirs.pt"), "--digits", "2", *words, "--out", str(folder), "--json"]
    )
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["places"] == list(task.layout.place_names)
    asked = run.invoke(app, ["ask", str(folder), "12+34", "--json"])
    record = json.loads(asked.stdout)
    assert int(record["true_answer"]) == 46, "its highest digit first, whichever the model predicts first"
    assert task.layout.outputs[-1].index == (2 if "units_first=yes" in layout else 0)
    assert record["answer"] == find_source(str(folder)).load().answer("12+34")
    tested = run.invoke(app, ["test", str(folder), "--questions", "50", "--per-class", "2", "--json", "--save"])
    assert json.loads(tested.stdout)["meets_bar"] is False
    assert json.loads((folder / "test.json").read_text())["model"] == "ours"
