"""Planted subjects for the battery's tests: small, and of either outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import experiments_called
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.planted.description import CircuitDescription, PlantedRole
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.node_map import NodeMap, Role, Usefulness
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.report.sentences.sentence_registry import sentence_of
from heavy_outcomes import content_of, once

SMALL = BatterySettings(quick=True, n_pairs=24, n_questions=96, n_reference=96, n_draws=5, n_train=256)


@cache
def planted_subject(operation: Operation, digits: int, dials: Dials | None = None) -> Subject:
    return subject_of(describe(operation, digits, dials))


def subject_of(description: CircuitDescription) -> Subject:
    planted = plant(description)
    return Subject(planted.truth.name, planted.model, description.operation)


def combined_a_layer_later(operation: Operation, digits: int) -> CircuitDescription:
    """A circuit whose heads bring the carry in one layer, while the next one's MLP makes the digit."""
    plain = describe(operation, digits)

    def moved(role: PlantedRole) -> PlantedRole:
        later = frozenset(Node(node.position, 2, None) for node in role.nodes)
        return replace(role, nodes=later) if role.variable.name == "A" else role

    return replace(plain, roles=tuple(map(moved, plain.roles)), n_layers=3)


def untrained_subject(operation: Operation, digits: int = 3) -> Subject:
    model = Transformer(config_of_width(digits, n_layers=2, n_heads=3, width=24, seed=5)).eval()
    model.task = arithmetic_task(operation, digits)
    return Subject("untrained", model, operation)


class Unread:
    """In the place of a map, for experiments that say they do not read it."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"An experiment that says it does not read the map reads its {name}")


def outcome_of(name: str, subject: Subject, settings: BatterySettings = SMALL) -> Outcome:
    """What the experiment gives, computed once for all tests in which nothing is patched."""
    (experiment,) = experiments_called(name)
    given = subject if experiment.reads_map else replace(subject, map=Unread())  # type: ignore[arg-type]

    def run() -> Outcome:
        summary = experiment.run(ExperimentContext(given, settings))
        return replace(summary.outcome, says=sentence_of(summary.told))

    return once(run, name, settings, content_of(subject))


def arithmetic_map(
    model: str,
    operation: Operation,
    shape: tuple[int, int, int],
    nodes: Sequence[Usefulness] = (),
    roles: Sequence[Role] = (),
) -> NodeMap:
    """A map of a model for `operation`; `shape` is how many digits, layers and heads there are."""
    task = arithmetic_task(operation, shape[0])
    return NodeMap(model, task, task.causal, shape[1], shape[2], tuple(nodes), tuple(roles))
