"""Node maps without a search: the truth about planted circuits as perfect facts, and lies made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.node_map import NodeMap, Role, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node, parse_nodes
from carrylens.tasks.variables import Variable

SEARCHED: Mapping[str, object] = {"n_find": 48, "n_confirm": 128, "seed": 0, "groups": True}
ALWAYS, NEVER = Rate(48, 48), Rate(0, 48)


def role(nodes: str, variable: str, token: int, hit: Rate = ALWAYS) -> Role:
    return Role(tuple(sorted(parse_nodes(nodes))), Variable.parse(variable), token, hit, NEVER, 1e-9)


def map_of(description: CircuitDescription, wrong: int = 0) -> NodeMap:
    """What a search that never errs would find; `wrong` of 96 questions fail untouched."""
    truth = plant(description).truth
    task, clean = arithmetic_task(description.operation, description.digits), Rate(wrong, 96)
    return NodeMap(
        model=truth.name,
        task=task,
        causal=task.causal,
        n_layers=description.n_layers,
        n_heads=description.n_heads,
        nodes=tuple(Usefulness(node, Rate(96, 96), Rate(96, 96), clean, (), {}) for node in truth.roles),
        roles=tuple(dict.fromkeys(_roles(truth))),
        stimuli=SEARCHED,
    )


def left_to_right_map(operation: Operation, digits: int, dials: Dials | None = None) -> NodeMap:
    return map_of(describe(operation, digits, dials))


def with_roles(found: NodeMap, change: Callable[[Role], Role | None]) -> NodeMap:
    """The map with every role changed, or taken out where the change gives None."""
    changed = (change(each) for each in found.roles)
    return replace(found, roles=tuple(each for each in changed if each is not None))


def _roles(truth: Truth) -> Iterator[Role]:
    # Copies vote, so all of them together surely move the variable.
    tokens = model_of(truth.description).outputs
    for group in truth.groups:
        nodes: tuple[Node, ...] = tuple(sorted(group.nodes))
        for token in group.serves:
            yield Role(nodes, group.variable, tokens.index(token), ALWAYS, NEVER, 1e-9)
