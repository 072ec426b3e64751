"""Question record: the questions that a page draws from, and those its ablations refer to.

Takes  a task.
Gives  populations drawn by the task's own samplers, questions of every class, ladders of growing difficulty, the
       reference that means and resampling use.
Never  repeats a question within a population: a rate needs different ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.explorer.ladders import class_samples, ladders
from carrylens.explorer.packed import packed_values
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.draws import below, draw
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task

POOL, REFERENCE, SEED, REFERENCE_SEED = 2048, 256, 90_001, 90_002
_PREFERRED = ("enriched", "natural")
_TRIED = 2048  # questions with other values put in, to see whether any may be


def reference_of(task: Task) -> Batch:
    """The questions that ablations refer to."""
    return next(iter(chosen_samplers(task).values())).draw(REFERENCE_SEED, 0, REFERENCE)


def chosen_samplers(task: Task) -> dict[str, Sampler]:
    """The populations that a page has, the hardest first: at most two."""
    named = {name: task.samplers[name] for name in _PREFERRED if name in task.samplers}
    return named or dict(list(task.samplers.items())[:2])


def question_record(task: Task) -> dict[str, Any]:
    """Everything that questions are drawn from, as plain data."""
    pools = {name: _distinct(sampler.draw(SEED, 0, POOL)) for name, sampler in chosen_samplers(task).items()}
    first = next(iter(pools.values()))
    values = [sorted(set(first.values[:, at].tolist())) for at in range(len(task.causal.inputs))]
    return {
        "populations": [
            {"name": name, "seed": SEED, "count": len(pool), "rows": packed_values(pool.values)}
            for name, pool in pools.items()
        ],
        "reference": {
            "population": next(iter(pools)),
            "seed": REFERENCE_SEED,
            "count": REFERENCE,
            "rows": packed_values(reference_of(task).values),
        },
        "classes": list(_classes(task, first)),
        "ladders": ladders(task) if isinstance(task, ArithmeticTask) else [],
        "values": values,
        "free": _may_be_changed(task, first, values),
    }


def _distinct(batch: Batch) -> Batch:
    _, first = np.unique(batch.values, axis=0, return_index=True)
    return batch[np.sort(first)]


def _classes(task: Task, pool: Batch) -> Iterator[dict[str, Any]]:
    if isinstance(task, ArithmeticTask):
        for name, batch in class_samples(task):
            yield {"name": name, "rows": packed_values(batch.values)}
    elif task.strata is not None:
        found = task.classes(pool)
        for code, name in enumerate(found.names):
            if (rows := found.code == code).any():
                yield {"name": name, "rows": packed_values(pool[rows][:32].values)}


def _may_be_changed(task: Task, pool: Batch, values: list[list[int]]) -> bool:
    # Whether any input may take any of its values, whatever the others are: then a hunt makes questions of its own.
    rows: Columns = np.array(pool.values[np.arange(_TRIED) % len(pool)])
    draws = draw((SEED, 1), 0, _TRIED, 2 * rows.shape[1])
    for at, some in enumerate(values):
        other = np.array(some, dtype=np.int8)[below(draws[:, 2 * at], len(some))]
        rows[:, at] = np.where(draws[:, 2 * at + 1] < 2**31, other, rows[:, at])
    return bool(task.causal.admits(pool.with_values(np.asfortranarray(rows))).all())
