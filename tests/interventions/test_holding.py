"""Held clean passes: the same outcomes, made once, and no more of them than fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrylens.arithmetic import Operation, Questions, Stream, StreamKind
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.interventions import Engine, swap
from carrylens.interventions import engine as engine_module
from interventions.random_edits import random_model

MODEL = random_model(arithmetic_config(digits=3, n_layers=2, n_heads=2, d_model=10, d_head=4, d_mlp=12), seed=4)
ROOM = 1 << 24


def some(count: int, seed: int) -> Questions:
    return Stream(StreamKind.ENRICHED, Operation.MIX, 3, seed).take(0, count)


@pytest.fixture
def n_passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how often clean passes are made."""
    made: list[int] = []
    real: Any = vars(engine_module)["clean_book"]

    def counted(*given: Any) -> Any:
        made.append(1)
        return real(*given)

    monkeypatch.setattr(engine_module, "clean_book", counted)
    return made


def test_the_same_questions_are_passed_once_and_answered_alike(n_passes: list[int]) -> None:
    asked, source, held = some(12, 1), some(12, 2), Engine(MODEL, hold=ROOM)
    for nodes in ("P3L0H1", "P5L0MLP", "P8L1H0 + P8L1H1"):
        fresh = Engine(MODEL).run([swap(nodes)], asked, source, logits=True)
        again = held.run([swap(nodes)], asked, source, logits=True)
        assert np.array_equal(np.asarray(fresh.logits), np.asarray(again.logits))
    assert len(n_passes) == 3 + 1


def test_equal_questions_in_other_objects_are_another_call(n_passes: list[int]) -> None:
    held = Engine(MODEL, hold=ROOM)
    for _ in range(2):
        held.run([swap("P3L0H1")], some(12, 1), some(12, 2))
    assert len(n_passes) == 2


def test_what_does_not_fit_is_made_again(n_passes: list[int]) -> None:
    first, second, held = some(12, 1), some(12, 2), Engine(MODEL, hold=1)
    for _ in range(2):
        held.run([swap("P3L0H1")], first, second)
    assert len(n_passes) == 2


def test_the_call_that_was_asked_longest_ago_makes_room(n_passes: list[int]) -> None:
    calls = [(some(40, 2 * at), some(40, 2 * at + 1)) for at in range(3)]
    both = Engine(MODEL, hold=ROOM)
    both.run([swap("P3L0H1")], *calls[0])
    (taken,) = [n for call in both._holding._calls for _, n in call.books.values()]
    held = Engine(MODEL, hold=2 * taken + taken // 2)
    n_passes.clear()
    for at in (0, 1, 0, 2, 0, 1):  # 2 makes 1 go, and 1 makes 2 go; 0 stays
        held.run([swap("P3L0H1")], *calls[at])
    assert len(n_passes) == 4


def test_a_store_that_stays_open_has_each_call_on_disk_and_notices_when_its_file_goes(tmp_path: Path) -> None:
    asked, source, path = some(12, 1), some(12, 2), tmp_path / "outcomes.sqlite"
    held, nodes = Engine(MODEL, hold=ROOM), ("P3L0H1", "P5L0MLP")
    given = [held.run([swap(node)], asked, source, store=path).tokens for node in nodes]
    runs: list[int] = []
    again = Engine(MODEL).run(
        [swap(node) for node in nodes], asked, source, store=path, watch=lambda done, _all: runs.append(done)
    )
    assert runs == [24], "all of it was there"
    assert np.array_equal(np.concatenate(given), again.tokens)
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"outcomes.sqlite{ending}").unlink(missing_ok=True)
    assert np.array_equal(held.run([swap(nodes[0])], asked, source, store=path).tokens, given[0])
    assert path.exists()
