"""Outcomes on disk: what was done is kept, what is missing is run, and nothing is taken for what it is not."""

from __future__ import annotations

import copy
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Answers, Operation, Population, PopulationKind, Questions
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.errors import CarryLensError
from carrylens.interventions import Edit, Engine, Outcomes, ablate, edge, interchange, keep_only
from carrylens.interventions.clean import Book, clean_book
from carrylens.interventions.edited_pass import EditedPass
from carrylens.interventions.parts import Parts
from carrylens.model import Transformer
from carrylens.nodes import all_nodes
from interventions.random_edits import random_model

CONFIG = arithmetic_config(digits=2, n_layers=2, n_heads=2, d_model=6, d_head=2, d_mlp=6)
NODES = all_nodes(CONFIG.n_ctx, CONFIG.n_layers, CONFIG.n_heads)
EDITS = [ablate([node]) for node in NODES[:20]] + [
    interchange("P3L0H0"),
    ablate("P4L0MLP", "resample"),
    ablate("P4L0H1", "class-mean"),
]


def some(count: int, seed: int = 0) -> Questions:
    """Distinct questions: equal ones would share their records."""
    drawn = Population(PopulationKind.ENRICHED, Operation.MIX, 2).draw(seed, 0, 3 * count + 9)
    return Questions.parse(list(dict.fromkeys(drawn.text()))[:count])


@pytest.fixture
def model() -> Transformer:
    return random_model(CONFIG, 1)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each edited pass ran, and as 0 each clean book that was made."""
    noted: list[int] = []
    logits = EditedPass.logits

    def counted(self: EditedPass) -> torch.Tensor:
        noted.append(len(self._rows.questions))
        return logits(self)

    def made(parts: Parts, tokens: torch.Tensor) -> Book:
        noted.append(0)
        return clean_book(parts, tokens)

    monkeypatch.setattr(EditedPass, "logits", counted)
    monkeypatch.setattr("carrylens.interventions.engine.clean_book", made)
    return noted


def go(model: Transformer, store: Path | None, watch: Callable[[int, int], None] | None = None) -> Outcomes:
    engine = Engine(model, places=64, memory=30_000)
    return engine.run(EDITS, some(9), some(9, 1), reference=some(40, 2), logits=True, store=store, watch=watch)


def same(one: Outcomes, other: Outcomes) -> bool:
    names = ("tokens", "margins", "close", "right", "clean_tokens", "clean_margins", "logits")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_a_store_changes_nothing_and_a_second_call_runs_nothing(
    model: Transformer, tmp_path: Path, ran: list[int]
) -> None:
    plain, first = go(model, None), go(model, tmp_path / "deep" / "folder" / "outcomes.db")
    assert same(plain, first)
    ran.clear()
    seen: list[tuple[int, int]] = []
    again = go(model, tmp_path / "deep" / "folder" / "outcomes.db", lambda done, total: seen.append((done, total)))
    assert same(again, plain)
    assert ran == []
    assert seen == [(len(EDITS) * 9, len(EDITS) * 9)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_stopped_call_keeps_what_was_done_and_the_next_runs_the_rest(
    model: Transformer, tmp_path: Path, ran: list[int], error: type[BaseException]
) -> None:
    def stop(done: int, total: int) -> None:
        assert total == len(EDITS) * 9
        if done > 60:
            raise error

    whole = go(model, None)
    ran.clear()
    with pytest.raises(error):
        go(model, tmp_path / "outcomes.db", stop)
    done = sum(ran)
    assert 60 < done < len(EDITS) * 9
    ran.clear()
    resumed = go(model, tmp_path / "outcomes.db")
    assert sum(ran) == len(EDITS) * 9 - done
    for name in ("logits", "margins", "clean_margins"):
        np.testing.assert_allclose(getattr(resumed, name), getattr(whole, name), rtol=0, atol=1e-12)
    assert np.array_equal(resumed.tokens, whole.tokens)


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from interventions.test_outcome_store import go, random_model, CONFIG
def watch(done, total):
    print(done, flush=True)
    if done > 60:
        sys.stdin.read()
go(random_model(CONFIG, 1), Path({store!r}), watch)
"""


def test_a_killed_process_leaves_whole_records_behind(model: Transformer, tmp_path: Path, ran: list[int]) -> None:
    store = tmp_path / "outcomes.db"
    code = KILLED.format(tests=str(Path(__file__).parents[1]), store=str(store))
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        done = 0
        while done <= 60:
            done = int(child.stdout.readline())
        os.kill(child.pid, signal.SIGKILL)
    resumed = go(model, store)
    assert sum(ran) == len(EDITS) * 9 - done
    np.testing.assert_allclose(resumed.margins, go(model, None).margins, rtol=0, atol=1e-12)


def test_more_questions_edits_and_another_order_run_only_what_is_new(
    model: Transformer, tmp_path: Path, ran: list[int]
) -> None:
    store, engine = tmp_path / "outcomes.db", Engine(model)
    edits = [interchange([node]) for node in NODES[:8]]
    first = engine.run(edits[:5], some(6), some(6, 1), store=store)
    ran.clear()
    at = np.array([5, 3, 1, 0, 2, 4])
    second = engine.run([edits[4], edits[2], edits[7]], some(6)[at], some(6, 1)[at], store=store)
    assert sum(ran) == 6
    assert np.array_equal(second.margins[:2], first.margins[[4, 2]][:, at])
    ran.clear()
    each = engine.run_each([edits[0]] * 6, some(6), some(6, 1), store=store)
    assert ran == []
    assert np.array_equal(each.margins, first.margins[0])


def other_weights(model: Transformer) -> Transformer:
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.unembed.b_U[3] += 1e-6
    return other


READ = Answers(np.zeros(4, dtype=np.bool_), np.full((4, 3), 5, dtype=np.int8))
DIFFERENT: dict[str, tuple[Edit, dict[str, object]]] = {
    "weights": (interchange("P3L0H0"), {"model": other_weights}),
    "precision": (interchange("P3L0H0"), {"model": lambda model: copy.deepcopy(model).float()}),
    "source": (interchange("P3L0H0"), {"sources": some(4, 5)}),
    "edge source": (edge("P3L0H0", "P3L1MLP"), {"sources": some(4, 5)}),
    "reference": (ablate("P3L0H0"), {"reference": some(20, 5)}),
    "reference count": (ablate("P3L0H0"), {"reference": some(19, 2)}),
    "class reference": (ablate("P3L0H0", "class-mean"), {"reference": some(21, 2)}),
    "kept reference": (keep_only("P3L0H0"), {"reference": some(20, 5)}),
    "drawn": (ablate("P3L0H0", "resample"), {"reference": some(20, 5)}),
    "read": (interchange("P3L0H0"), {"read": READ.outputs}),
    "question": (interchange("P3L0H0"), {"questions": some(4, 9)}),
    "logits": (interchange("P3L0H0"), {"logits": True}),
    "activations": (interchange("P3L0H0"), {"keep": ["blocks.0.hook_mlp_out"]}),
    "edit": (interchange("P3L0H0"), {"edits": [interchange("P3L0H1")]}),
    "share": (interchange("P3L0H0"), {"edits": [edge("P3L0H0", "P3L1MLP")]}),
}  # fmt: skip
ALIKE: dict[str, tuple[Edit, dict[str, object]]] = {
    "unused source": (ablate("P3L0H0", "zero"), {"sources": some(4, 5)}),
    "unused reference": (interchange("P3L0H0"), {"reference": some(20, 5)}),
    "order of reference": (ablate("P3L0H0"), {"reference": some(20, 2)[np.arange(20)[::-1]]}),
    "order for a draw": (ablate("P3L0H0", "resample"), {"reference": some(20, 2)[np.arange(20)[::-1]]}),
    "a second slot": (interchange("P3L0H0"), {"sources": [some(4, 1), some(4, 5)]}),
    "a copy": (interchange("P3L0H0"), {"model": copy.deepcopy}),
    "one of four": (interchange("P3L0H0"), {"questions": some(4)[1:2], "sources": some(4, 1)[1:2]}),
    "answers that are right": (interchange("P3L0H0"), {"questions": some(4)}),
}


def rows_run_anew(model: Transformer, tmp_path: Path, ran: list[int], edit: Edit, other: dict[str, object]) -> int:
    def call(edits: list[Edit] | None = None, model: Transformer = model, **given: object) -> None:
        plain: dict[str, object] = {"questions": some(4), "sources": some(4, 1), "reference": some(20, 2)}
        Engine(model).run(edits or [edit], store=tmp_path / "outcomes.db", **(plain | given))  # type: ignore[arg-type]

    call()
    ran.clear()
    make = other.get("model", lambda model: model)
    assert callable(make)
    call(**(other | {"model": make(model)}))  # type: ignore[arg-type]
    return sum(ran)


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_row_is_run_anew_when_anything_that_matters_differs(
    model: Transformer, tmp_path: Path, ran: list[int], name: str
) -> None:
    expected = {"drawn": range(1, 5)}.get(name, [4])  # a draw may fall on the same question
    assert rows_run_anew(model, tmp_path, ran, *DIFFERENT[name]) in expected


@pytest.mark.parametrize("name", ALIKE)
def test_a_row_is_not_run_again_when_nothing_that_matters_differs(
    model: Transformer, tmp_path: Path, ran: list[int], name: str
) -> None:
    assert rows_run_anew(model, tmp_path, ran, *ALIKE[name]) == 0


def test_a_record_of_another_length_is_run_again(model: Transformer, tmp_path: Path, ran: list[int]) -> None:
    whole = go(model, tmp_path / "outcomes.db")
    with sqlite3.connect(tmp_path / "outcomes.db") as file:
        file.execute("UPDATE outcomes SET record = substr(record, 2) WHERE key IN (SELECT key FROM outcomes LIMIT 7)")
    file.close()
    ran.clear()
    again = go(model, tmp_path / "outcomes.db")
    assert 0 < sum(ran) <= 7
    np.testing.assert_allclose(again.margins, whole.margins, rtol=0, atol=1e-12)


def spoil(path: Path, name: str) -> Path:
    store = path / "outcomes.db"
    if name == "foreign":
        store.write_text("P3L0H0 answers nothing\n" * 50)
    elif name == "truncated":
        go(random_model(CONFIG, 1), store)
        store.write_bytes(store.read_bytes()[:5000])
    elif name == "another database":
        with sqlite3.connect(store) as file:
            file.execute("CREATE TABLE outcomes (name TEXT)")
        file.close()
    elif name == "folder":
        store.mkdir()
    else:  # a folder nobody can write to, root included: one that is a file
        store.write_text("")
        return store / "outcomes.db"
    return store


@pytest.mark.parametrize("name", ["foreign", "truncated", "another database", "folder", "unwritable"])
def test_a_file_that_cannot_serve_is_refused_with_one_line(model: Transformer, tmp_path: Path, name: str) -> None:
    store = spoil(tmp_path, name)
    with pytest.raises(CarryLensError) as caught:
        go(model, store)
    assert str(caught.value).startswith(str(store))
    assert "\n" not in str(caught.value)


def test_nothing_is_left_of_a_call_also_after_an_error(model: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same engine, model and edits, before and after calls that went wrong in every place they can."""
    engine = Engine(model, places=64)
    before = engine.run(EDITS, some(5), some(5, 1), reference=some(20, 2), logits=True)
    state, attributes = {name: tensor.clone() for name, tensor in model.state_dict().items()}, dict(vars(engine))

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.run(EDITS, some(7, 3), some(7, 4), reference=some(20, 2), watch=stop)
    with pytest.raises(CarryLensError):
        engine.run([interchange("P99L0H0")], some(7, 3))
    with monkeypatch.context() as patch:
        patch.setattr(EditedPass, "look_anew", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.run([edge("P3L0H0", "P5L1H0.k")], some(7, 3), some(7, 4))
    engine.run([keep_only("", "zero")], some(9, 6), keep=["blocks.0.attn.hook_z"])
    assert not torch.is_inference_mode_enabled()
    assert same(engine.run(EDITS, some(5), some(5, 1), reference=some(20, 2), logits=True), before)
    assert vars(engine) == attributes
    assert all(torch.equal(tensor, state[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_a_model_that_changed_between_calls_is_run_as_it_is_now(model: Transformer, tmp_path: Path) -> None:
    engine = Engine(model)
    before = engine.run([interchange("P5L0H0")], some(3), some(3, 1), store=tmp_path / "outcomes.db")
    with torch.no_grad():
        model.unembed.b_U[4] += 50
    after = engine.run([interchange("P5L0H0")], some(3), some(3, 1), store=tmp_path / "outcomes.db")
    assert (after.tokens == 4).all()
    assert (after.clean_tokens == 4).all()
    assert not (before.tokens == 4).all()


def test_progress_counts_every_row_once(model: Transformer) -> None:
    seen: list[tuple[int, int]] = []
    go(model, None, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(EDITS) * 9, len(EDITS) * 9)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_several_threads_give_the_same_rows_and_can_be_stopped_and_resumed(model: Transformer, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done > 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(model, tmp_path / "outcomes.db", stop)
    assert torch.get_num_threads() == 2
    outcomes = [go(model, None), go(model, tmp_path / "outcomes.db")]
    torch.set_num_threads(1)
    outcomes.append(go(model, None))
    for outcome in outcomes[:2]:
        np.testing.assert_allclose(outcome.margins, outcomes[2].margins, rtol=0, atol=1e-12)
        assert np.array_equal(outcome.tokens, outcomes[2].tokens)
        assert np.array_equal(outcome.clean_tokens, outcomes[2].clean_tokens)
