"""Suites: the fixed lists of models that methods of circuit discovery are scored on.

Takes  the names of suites, a split, and whether a few small ones are enough.
Gives  `BenchmarkModel` values, in a fixed order.
Never  builds a model before it is needed, and never has models of one circuit in both splits.

| suite | models | what they deserve |
|---|---|---|
| `kind` | planted circuits of the left-to-right algorithm, one dial turned at a time, and all at once; two and three digits; additions in three random rotations | to be found to run it |
| `hostile` | planted circuits that mislead: one layer, gates, weighted sums, split, backup and cancelling heads, spread and superposed values, tables, backdoors | what each was made to deserve |
| `aligned` | models trained under an alignment, which come with their truth | what their `truth.json` says |
| `empty` | untrained models, and planted ones with shuffled weights | to be found to run nothing |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial

from carrylens.arithmetic import hypotheses
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.benchmark.aligned import aligned_models
from carrylens.arithmetic.planted.benchmark.circuits import DIALS, TRAINING_DIALS
from carrylens.arithmetic.planted.benchmark.empty_models import untrained_model
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Carry, Dials, describe, one_layer, place_value
from carrylens.arithmetic.planted.hostile_suite import hostile_descriptions
from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.benchmark.known_models import DEV, SPLITS, TEST, BenchmarkModel, EmptyModel, KnownModel, permuted_twin
from carrylens.benchmark.known_truth import KnownTruth, RunVerdict
from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer
from carrylens.tasks.task import Task

KIND, HOSTILE, ALIGNED, EMPTY = "kind", "hostile", "aligned", "empty"
N_ROTATIONS = 3
_SIZES = ((Operation.ADD, 2), (Operation.ADD, 3), (Operation.SUB, 2), (Operation.MIX, 2))
_QUICK_HOSTILE = {TEST: ("one-layer", "place-value", "weighted-all"), DEV: ("gate-30",)}
_QUICK_DIALS = {2: ("redundancy", "decoys"), 3: ("plain",)}
_TWINS = ("plain", "redundancy", "sharing", "decoys")
_REPEATED = (("sharing", Operation.ADD, 2), ("plain", Operation.ADD, 3))  # with many seeds of questions
_QUICKLY_REPEATED = "one-layer"  # the only one of them in a quick run: the cheapest
_DEV_SEED = 1000


def suite_models(names: Collection[str], split: str, *, quick: bool = False) -> list[BenchmarkModel]:
    """The models of the suites' split; all suites if none is named; a few small ones if `quick`."""
    if unknown := [name for name in names if name not in SUITES]:
        raise CarryLensError(f"There is no suite {unknown[0]!r}. Write one of {', '.join(SUITES)}.")
    if split not in SPLITS:
        raise CarryLensError(f"There is no split {split!r}. Write one of {', '.join(SPLITS)}.")
    chosen = [name for name in SUITES if not names or name in names]
    every = [model for name in chosen for model in SUITES[name]() if model.split == split]
    return [model for model in every if not quick or model.labels.get("quick")]


def kind_models() -> Iterator[BenchmarkModel]:
    """Planted circuits of the left-to-right algorithm."""
    for operation, digits in _SIZES:
        for dial, dials in DIALS.items():
            if dial != "rotated" and (dial, operation) != ("polysemy", Operation.ADD):
                for seed in range(N_ROTATIONS if operation is Operation.ADD else 1):
                    quick = (operation, seed) == (Operation.ADD, 0) and dial in _QUICK_DIALS[digits]
                    yield _kind(TEST, dial, dials, operation, digits, seed, quick)
    for operation in Operation:
        for at, (dial, dials) in enumerate(TRAINING_DIALS.items()):
            yield _kind(DEV, dial, dials, operation, 2, _DEV_SEED, operation is Operation.ADD and at < 2)


def hostile_models() -> Iterator[BenchmarkModel]:
    """Planted circuits that mislead: most do not run the left-to-right algorithm, or not on all questions."""
    for split, digits, n_seeds in ((TEST, 3, N_ROTATIONS), (DEV, 2, 1)):
        for seed in range(n_seeds):
            turned = Dials(rotated=True, seed=seed)
            plants = {"one-layer": one_layer(digits, turned), "place-value": place_value(digits, turned)}
            plants |= {each.name: each.description for each in hostile_descriptions(Operation.ADD, digits, seed)}
            for name, description in plants.items():
                quick = seed == 0 and name in _QUICK_HOSTILE[split]
                made = _model(HOSTILE, split, f"{name}_add_d{digits}", description, quick)
                repeated = (split, name, seed) == (TEST, _QUICKLY_REPEATED, 0)
                yield replace(made, labels={**made.labels, "repeated": repeated, "repeated_quickly": repeated})


def empty_suite() -> Iterator[BenchmarkModel]:
    """Models that hold nothing."""
    for seed in range(9):
        split = DEV if seed < 3 else TEST
        yield _empty(split, untrained_model(list(Operation)[seed % 3], seed), quick=False)
    for model in kind_models():
        of_additions = model.labels["operation"] == Operation.ADD.value and model.labels["digits"] == 2
        if of_additions and model.labels["dial"] in (*_TWINS, *TRAINING_DIALS) and model.seed in (0, _DEV_SEED):
            is_quick = model.labels["dial"] == "sharing"
            yield _empty(
                model.split, EmptyModel("twin", f"twin_{model.name}", model.seed, partial(_twin, model)), is_quick
            )


SUITES: Mapping[str, Callable[[], Iterator[BenchmarkModel]]] = {
    KIND: kind_models,
    HOSTILE: hostile_models,
    ALIGNED: aligned_models,
    EMPTY: empty_suite,
}
"""Every suite by its name."""


def _kind(
    split: str, dial: str, dials: Dials, operation: Operation, digits: int, seed: int, quick: bool
) -> BenchmarkModel:
    description = describe(operation, digits, replace(dials, rotated=True, seed=seed))
    circuit = f"{dial.replace(', ', ' ').replace(' ', '-')}_{operation.value}_d{digits}"
    made = _model(KIND, split, circuit, description, quick, told=dials.carry is Carry.BINARY)
    repeated = split == TEST and seed == 0 and (dial, operation, digits) in _REPEATED
    return replace(made, labels={**made.labels, "dial": dial, "repeated": repeated})


def _model(
    suite: str, split: str, circuit: str, description: CircuitDescription, quick: bool, told: bool = False
) -> BenchmarkModel:
    labels = {"operation": description.operation.value, "digits": description.digits, "quick": quick}
    name, make = f"{circuit}_r{description.seed}", partial(_planted, description, told)
    return BenchmarkModel(name, make, suite, split, circuit, description.seed, labels)


def _planted(description: CircuitDescription, told: bool) -> KnownModel:
    # A method that is told of binary carries, as it could not name them otherwise, is asked for no verdict.
    planted, task = plant(description), arithmetic_task(description.operation, description.digits)
    truth, judged = known_truth(planted.truth), () if told else _hypotheses(task)
    asked = {each.name for each in judged}
    truth = replace(truth, deserved={name: each for name, each in truth.deserved.items() if name in asked})
    return KnownModel(planted.model, task, model_of(description) if told else task.causal, truth, judged)


def _empty(split: str, empty: EmptyModel, quick: bool) -> BenchmarkModel:
    labels = {"kind": empty.kind, "quick": quick}
    return BenchmarkModel(empty.name, partial(_nothing, empty), EMPTY, split, empty.name, empty.seed, labels)


def _nothing(empty: EmptyModel) -> KnownModel:
    model, task = empty.build()
    assert isinstance(task, ArithmeticTask)
    judged = _hypotheses(task)
    truth = KnownTruth((), deserved={each.name: RunVerdict.DOES_NOT_RUN for each in judged})
    return KnownModel(model, task, task.causal, truth, judged)


def _twin(model: BenchmarkModel) -> tuple[Transformer, Task]:
    known = model.build()
    return permuted_twin(known.model, model.seed), known.task


def _hypotheses(task: ArithmeticTask) -> tuple[Hypothesis, ...]:
    usual = hypotheses.usual_for(task)
    if task.digits > 2:
        return (usual, *hypotheses.rivals_for(task))
    # With two digits a carry passes one column at most. So what ripples, and what looks through one 9, does the same as
    # the left-to-right circuit, carrier by carrier: neither verdict would be wrong of it, and none is asked.
    distinct = [hypotheses.one_layer(task.digits).name] if task.operation is Operation.ADD else []
    return (usual, *(each for each in hypotheses.rivals_for(task) if each.name in distinct))
