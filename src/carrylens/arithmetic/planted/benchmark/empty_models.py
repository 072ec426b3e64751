"""Empty models of arithmetic: untrained ones, and twins of planted and of trained models with shuffled weights.

Takes  circuits, and how many untrained models and twins of a trained one.
Gives  models in which no node carries anything.
Never  builds one before it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.model_facts import model_name
from carrylens.arithmetic.zoo.shipped import find_model, load
from carrylens.benchmark.empty_models import twin_of
from carrylens.benchmark.known_models import BenchmarkCircuit, EmptyModel, permuted_twin
from carrylens.model.transformer import Transformer
from carrylens.tasks.task import Task

UNTRAINED, PLANTED_TWIN, TRAINED_TWIN = "untrained", "twins of planted", "twins of trained"
TRAINED = "add_d6_l2_h3_w96_t3K_s1"
"""The shipped model whose twins are evaluated."""

_UNTRAINED_DIGITS = 3


def empty_models(circuits: Sequence[BenchmarkCircuit], n_untrained: int, n_trained: int) -> list[EmptyModel]:
    """Untrained models of each operation in turn, a twin of each circuit, twins of a trained model."""
    operations = list(Operation)
    untrained = [untrained_model(operations[seed % len(operations)], seed) for seed in range(n_untrained)]
    planted = [twin_of(circuit, PLANTED_TWIN) for circuit in circuits]
    trained = [
        EmptyModel(TRAINED_TWIN, f"twin_{TRAINED}_{seed}", seed, partial(_trained_twin, seed))
        for seed in range(n_trained)
    ]
    return [*untrained, *planted, *trained]


def untrained_model(operation: Operation, seed: int) -> EmptyModel:
    """A model as it is before training."""
    return EmptyModel(UNTRAINED, f"untrained_s{seed}", seed, partial(_untrained, operation, seed))


def _untrained(operation: Operation, seed: int) -> tuple[Transformer, Task]:
    config = config_of_width(_UNTRAINED_DIGITS, n_layers=2, n_heads=3, width=48, seed=seed)
    return Transformer(config).eval(), arithmetic_task(operation, _UNTRAINED_DIGITS)


def _trained_twin(seed: int) -> tuple[Transformer, Task]:
    name = model_name(find_model(TRAINED))
    return permuted_twin(load(TRAINED), seed), arithmetic_task(name.operation, name.digits)
