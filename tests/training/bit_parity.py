"""A task that is no arithmetic: running parity of four bits, written after them or read at queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carrylens.model import ModelConfig
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.samplers import Sampler, Uniform
from carrylens.tasks.task import Condition, Strata, Task
from carrylens.tasks.variables import INPUT, OUTPUT, Family, Variable
from carrylens.training.plan import TrainingPlan
from carrylens.training.recipe import TrainingRecipe

N_BITS = 4
BITS = tuple(Variable("B", at) for at in range(N_BITS))
PARITIES = tuple(Variable("P", at) for at in range(1, N_BITS))


def _odd(*bits: NDArray[np.int8]) -> NDArray[np.int8]:
    return np.bitwise_xor.reduce(bits)


def n_ones(batch: Batch) -> Strata:
    """The classes: how many bits are set."""
    return Strata(tuple(f"{n} ones" for n in range(N_BITS + 1)), batch.values.sum(1).astype(np.int8))


def parity_task(*, fed_back: bool = True) -> Task:
    """The parity of the first two, three and four bits."""
    bit = Family("B", (0, 1), "a bit", INPUT)
    parity = Family("P", (0, 1), "whether so many bits have an odd sum", OUTPUT, labels=("e", "o"))
    mechanisms = tuple(Mechanism(each, BITS[: (each.index or 0) + 1], _odd) for each in PARITIES)
    causal = CausalModel("parity", (bit, parity), BITS, PARITIES, mechanisms, fed_back=fed_back)
    slots = [Slot(f"B{at}", input=each) for at, each in enumerate(BITS)]
    if fed_back:
        slots += [Slot(f"P{each.index}", output=each) for each in PARITIES]
    else:
        slots += [Slot(f"P{each.index}", token="?", reads=each) for each in PARITIES]
        slots.insert(-1, Slot("gap", token="."))
    layout = Layout(("0", "1", "e", "o", "?", "."), tuple(slots), (bit, parity))
    every = Uniform(tuple((each, (0, 1)) for each in BITS))
    odd_start = Uniform(((BITS[0], (1,)), *((each, (0, 1)) for each in BITS[1:])))
    conditions = (Condition("first set", odd_start, ((BITS[0], 1),)),)
    return Task("parity", causal, layout, {"every": every, "first set": odd_start}, n_ones, conditions)


def parity_plan(
    n_steps: int = 60, seed: int = 1, task: Task | None = None, hard: tuple[Sampler, ...] = ()
) -> TrainingPlan:
    """A plan for a model as small as will do."""
    chosen = task or parity_task()
    layout = chosen.layout
    n_tokens = len(layout.vocabulary)
    config = ModelConfig(
        n_layers=2,
        n_heads=2,
        d_model=16,
        d_head=8,
        d_mlp=32,
        n_ctx=layout.n_positions,
        d_vocab=n_tokens,
        d_vocab_out=n_tokens,
        reads=layout.reads,
        seed=seed,
    )
    recipe = TrainingRecipe(batch=32, adam_rate=3e-3, muon_rate=0.02, tail=0.2)
    return TrainingPlan("parity", chosen, config, recipe, chosen.samplers["every"], n_steps, seed, hard)
