"""Held clean passes: the same outcomes, made once, and no more of them than fit."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrylens.arithmetic import Operation, Population, PopulationKind, Questions
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError
from carrylens.interventions import Engine, ablate, interchange
from carrylens.interventions import engine as engine_module
from carrylens.interventions.clean import sequence_bytes
from carrylens.interventions.parts import Parts
from carrylens.tasks.batches import Batch
from carrylens.tasks.task import Strata
from interventions.random_edits import random_model

MODEL = random_model(arithmetic_config(digits=3, n_layers=2, n_heads=2, d_model=10, d_head=4, d_mlp=12), seed=4)
ROOM = 1 << 24


def some(count: int, seed: int) -> Questions:
    return Population(PopulationKind.ENRICHED, Operation.MIX, 3).draw(seed, 0, count)


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
        fresh = Engine(MODEL).run([interchange(nodes)], asked, source, logits=True)
        again = held.run([interchange(nodes)], asked, source, logits=True)
        assert np.array_equal(np.asarray(fresh.logits), np.asarray(again.logits))
    assert len(n_passes) == 3 + 1


def test_equal_questions_in_other_objects_share_their_passes(n_passes: list[int]) -> None:
    held = Engine(MODEL, hold=ROOM)
    for _ in range(2):
        held.run([interchange("P3L0H1")], some(12, 1), some(12, 2))
    assert len(n_passes) == 1


def test_a_call_adds_only_the_passes_that_are_not_held(n_passes: list[int]) -> None:
    asked, source, held = some(12, 1), some(12, 2), Engine(MODEL, hold=ROOM)
    held.run([interchange("P3L0H1")], asked[:8], source[:8])
    given = held.run([interchange("P5L0MLP")], asked, source, logits=True)
    fresh = Engine(MODEL).run([interchange("P5L0MLP")], asked, source, logits=True)
    assert np.allclose(np.asarray(given.logits), np.asarray(fresh.logits), atol=1e-5)
    assert len(n_passes) == 2 + 1


def test_what_does_not_fit_is_made_again(n_passes: list[int]) -> None:
    first, second, held = some(12, 1), some(12, 2), Engine(MODEL, hold=1)
    for _ in range(2):
        held.run([interchange("P3L0H1")], first, second)
    assert len(n_passes) == 2


def test_the_call_that_was_asked_longest_ago_makes_room(n_passes: list[int]) -> None:
    calls = [(some(40, 2 * at), some(40, 2 * at + 1)) for at in range(3)]
    taken = len({text for side in calls[0] for text in side.text()}) * sequence_bytes(Parts(MODEL))
    held = Engine(MODEL, hold=2 * taken + taken // 2)
    made = []
    for at in (0, 1, 0, 2, 0, 1):  # 2 makes 1 go, and 1 makes 2 go; 0 stays
        n_before = len(n_passes)
        held.run([interchange("P3L0H1")], *calls[at])
        made.append(len(n_passes) > n_before)
    assert made == [True, True, False, True, False, True]


def test_a_store_that_stays_open_has_each_call_on_disk_and_notices_when_its_file_goes(tmp_path: Path) -> None:
    asked, source, path = some(12, 1), some(12, 2), tmp_path / "outcomes.sqlite"
    held, nodes = Engine(MODEL, hold=ROOM), ("P3L0H1", "P5L0MLP")
    given = [held.run([interchange(node)], asked, source, store=path).tokens for node in nodes]
    runs: list[int] = []
    again = Engine(MODEL).run(
        [interchange(node) for node in nodes], asked, source, store=path, watch=lambda done, _all: runs.append(done)
    )
    assert runs == [24], "all of it was there"
    assert np.array_equal(np.concatenate(given), again.tokens)
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"outcomes.sqlite{ending}").unlink(missing_ok=True)
    assert np.array_equal(held.run([interchange(nodes[0])], asked, source, store=path).tokens, given[0])
    assert path.exists()


def is_locked(path: Path) -> bool:
    """Whether some connection holds the file open: the files that go beside an open one are there."""
    return path.with_name(f"{path.name}-wal").exists()


def test_leaving_the_engine_closes_its_store(tmp_path: Path) -> None:
    asked, source, path = some(6, 1), some(6, 2), tmp_path / "outcomes.sqlite"
    with Engine(MODEL, hold=ROOM) as engine:
        given = engine.run([interchange("P3L0H1")], asked, source, store=path).tokens
        assert is_locked(path)
    assert not is_locked(path)
    assert np.array_equal(engine.run([interchange("P3L0H1")], asked, source, store=path).tokens, given), (
        "it opens it again"
    )
    engine.close()
    engine.close()
    assert not is_locked(path)


@pytest.mark.parametrize("stopped", [KeyboardInterrupt, CarryLensError])
def test_an_engine_that_is_stopped_closes_its_store_and_keeps_what_it_had(
    tmp_path: Path, stopped: type[BaseException]
) -> None:
    asked, source, path = some(40, 1), some(40, 2), tmp_path / "outcomes.sqlite"

    def stop(done: int, _total: int) -> None:
        raise stopped

    with pytest.raises(stopped), Engine(MODEL, hold=ROOM, places=64) as engine:
        engine.run([interchange("P3L0H1")], asked, source, store=path, watch=stop)
    assert not is_locked(path)
    seen: list[int] = []
    Engine(MODEL).run([interchange("P3L0H1")], asked, source, store=path, watch=lambda done, _all: seen.append(done))
    assert 0 < seen[0] < 40, "the rows from before it was stopped are there"


def refuse(_batch: Batch) -> Strata:
    raise AssertionError("nobody asked for classes")


def test_classes_are_looked_up_only_where_class_means_are_wanted() -> None:
    asked, source, reference = some(4, 1), some(4, 2), some(8, 3)
    engine = Engine(MODEL, replace(arithmetic_task(Operation.MIX, 3), strata=refuse))
    plain = [interchange("P3L0H1"), ablate("P3L0H1", "zero"), ablate("P3L0H1", "resample")]
    found = engine.run(plain, asked, source, reference=reference)
    assert np.array_equal(found.tokens, Engine(MODEL).run(plain, asked, source, reference=reference).tokens)
    with pytest.raises(AssertionError, match="asked for classes"):
        engine.run([ablate("P3L0H1", "class-mean")], asked, source, reference=reference)


def test_a_mean_over_all_questions_is_the_class_mean_of_a_task_without_classes() -> None:
    asked, reference = some(6, 1), some(12, 3)
    engine = Engine(MODEL, replace(arithmetic_task(Operation.MIX, 3), strata=None))
    logits = engine.run(
        [ablate("P3L0H1"), ablate("P3L0H1", "class-mean")], asked, reference=reference, logits=True
    ).logits
    assert logits is not None
    np.testing.assert_allclose(logits[0], logits[1], rtol=0, atol=1e-12)


def test_a_model_without_a_task_or_with_one_that_does_not_fit_has_no_engine() -> None:
    unknown = copy.deepcopy(MODEL)
    unknown.task = None
    with pytest.raises(CarryLensError):
        Engine(unknown)
    assert Engine(unknown, arithmetic_task(Operation.MIX, 3)).task.name == "mix 3 digits"
    for layout in (QuestionLayout(2), QuestionLayout(3, sign=False), QuestionLayout(3, query="=")):
        with pytest.raises(CarryLensError):
            Engine(MODEL, arithmetic_task(Operation.ADD, layout.digits, layout))
