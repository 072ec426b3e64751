"""How much memory and how large a batch: what the engine is given, or else what the environment says."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic import Operation, Population, PopulationKind
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError
from carrylens.interventions import Edit, Engine, interchange
from carrylens.interventions.limits import BATCH, MEMORY, batch_limit, memory_limit
from carrylens.interventions.outcomes import Outcomes
from carrylens.nodes import all_nodes


def run(engine: Engine) -> tuple[Outcomes, int]:
    """What edits gave, and after how many batches it was said how far they are."""
    config, said = engine.model.config, list[int]()
    nodes = all_nodes(config.reads.stop, config.n_layers, config.n_heads)
    edits: list[Edit] = [interchange(str(node)) for node in nodes[-12:]]
    drawn = [Population(PopulationKind.ENRICHED, Operation.ADD, 2).draw(seed, 0, 24) for seed in (1, 2)]
    return engine.run(edits, *drawn, watch=lambda done, _: said.append(done)), len(said)


def engine(**how: int) -> Engine:
    return Engine(plant(describe(Operation.ADD, 2)).model, arithmetic_task(Operation.ADD, 2), **how)


def test_the_environment_makes_batches_smaller_and_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BATCH, raising=False)
    usual, n_usual = run(engine())
    monkeypatch.setenv(BATCH, "20")
    small, n_small = run(engine())
    assert n_small > 2 * n_usual
    assert np.array_equal(usual.tokens, small.tokens)
    assert run(engine(places=2048))[1] == n_usual, "an argument overrides the environment"


def test_the_environment_bounds_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY, "1")
    assert memory_limit() == 1 << 20
    assert engine(hold=768 << 20).hold == 1 << 20
    assert engine(hold=7).hold == 7
    monkeypatch.delenv(MEMORY)
    assert memory_limit() is None
    assert engine(hold=768 << 20).hold == 768 << 20


@pytest.mark.parametrize("text", ["0", "-1", "2.5", "many", "9" * 40, "²"])
def test_what_is_no_limit_is_refused_by_name(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BATCH, text)
    with pytest.raises(CarryLensError, match=BATCH):
        batch_limit()
    monkeypatch.setenv(BATCH, " ")
    assert batch_limit() is None
