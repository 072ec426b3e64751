"""A small task without arithmetic's digits: three steps round a ring of seven places, and where one ends up.

DBL[0] is twice the first step, S[1] and S[2] are the places after two and three steps. SIDE says whether that is in the
far half, POS is the place, or counts from the other end where FLIP says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carrylens.claims.hypothesis import Hypothesis
from carrylens.discovery.node_map import NodeMap, Role, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.tasks.causal import CausalModel, Mechanism, Rule
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.samplers import Uniform
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Family, Variable

RING = tuple(range(7))
X, S, DBL = Family("X", RING, "a step"), Family("S", RING, "a place"), Family("DBL", RING, "a doubled step")
_FLIP = Family("FLIP", (0, 1), "count from the other end", labels=("+", "-"))
_SIDE, _POS = Family("SIDE", (0, 1), "far half", labels=("n", "f")), Family("POS", RING, "the place")
FLIP, SIDE, POS = _FLIP.variable, _SIDE.variable, _POS.variable
FAMILIES = (X, _FLIP, DBL, S, _SIDE, _POS)
INPUTS = (X[0], X[1], X[2], FLIP)
TRUE_MECHANISMS = (
    Mechanism(DBL[0], (X[0],), lambda x: 2 * x % 7),
    Mechanism(S[1], (DBL[0], X[1]), lambda doubled, x: (doubled + x) % 7),
    Mechanism(S[2], (S[1], X[2]), lambda place, x: (place + x) % 7),
    Mechanism(SIDE, (S[2],), lambda place: place > 3),
    Mechanism(POS, (FLIP, S[2]), lambda flip, place: np.where(flip == 1, 6 - place, place)),
)
REQUIRED = ("DBL", "S", "SIDE", "POS")


def walk(name: str = "walk", changed: tuple[Mechanism, ...] = (), *, fed_back: bool = True) -> CausalModel:
    """The algorithm, with some mechanisms stated otherwise."""
    other = {mechanism.variable: mechanism for mechanism in changed}
    mechanisms = tuple(other.get(each.variable, each) for each in TRUE_MECHANISMS)
    return CausalModel(name, FAMILIES, INPUTS, (SIDE, POS), mechanisms, fed_back=fed_back)


def stated(variable: Variable, parents: tuple[Variable, ...], rule: Rule) -> tuple[Mechanism, ...]:
    return (Mechanism(variable, parents, rule),)


def walk_task(model: CausalModel | None = None) -> Task:
    causal = model or walk()
    question = [Slot("X0", input=X[0]), Slot("X1", input=X[1]), Slot("X2", input=X[2]), Slot("flip", input=FLIP)]
    if causal.fed_back:
        answer = [Slot("=", token="="), Slot("side", output=SIDE), Slot("pos", output=POS)]
    else:
        answer = [Slot("side", token="=", reads=SIDE), Slot("pos", token="=", reads=POS)]
    layout = Layout(tuple("0123456+-=nf"), (*question, *answer), FAMILIES)
    values = tuple((each, causal.values_of(each)) for each in INPUTS)
    return Task("walks", causal, layout, {"all": Uniform(values)})


def walk_hypothesis(model: CausalModel | None = None) -> Hypothesis:
    causal = model or walk()
    return Hypothesis(causal.name, causal, REQUIRED)


def walk_map() -> NodeMap:
    """What a search that never errs finds in a model that walks so, one node a variable."""
    task = walk_task()
    places = {
        DBL[0]: Node(0, 0, 0),
        S[1]: Node(1, 1, 0),
        S[2]: Node(2, 2, 0),
        SIDE: Node(4, 3, 0),
        POS: Node(5, 3, None),
    }
    always, never = Rate(48, 48), Rate(0, 48)
    roles = [
        Role((node,), variable, token, always, never, 1e-9)
        for variable, node in places.items()
        for token, output in enumerate(task.outputs)
        if variable == output or variable in task.causal.ancestors(output)
    ]
    useful = [Usefulness(node, Rate(90, 96), Rate(90, 96), Rate(0, 96), (), {}) for node in places.values()]
    searched = {"n_find": 48, "n_confirm": 128, "seed": 0, "groups": True}
    return NodeMap("walker", task, task.causal, 4, 1, tuple(useful), tuple(roles), searched)


def without(found: NodeMap, variable: Variable) -> NodeMap:
    return replace(found, roles=tuple(role for role in found.roles if role.variable != variable))
