"""A map of a model that does no arithmetic: the parity of three bits, and all that was saved about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrylens.discovery.behaviours import AttentionSummary, Behaviour, Look
from carrylens.discovery.node_map import Group, NodeMap, Role, Usefulness, Way
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.report.page.saved import Saved
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.samplers import Uniform
from carrylens.tasks.task import Task
from carrylens.tasks.variables import INPUT, OUTPUT, Family, Variable, VariableKind

RUNNING = VariableKind("Running parity!", "parity <so far>", ("#a0b1c2", "#112233"), ("#332211", "#c2b1a0"), "cyan")
X = Family("X", (0, 1), "bit of the question", INPUT)
P = Family("P", (0, 1), "parity of the bits up to here", RUNNING, labels=("even", "odd"), title="running parity")
Y = Family("Y", (0, 1), "parity", OUTPUT)
SMALL, BIG = Node(2, 0, 0), Node(3, 0, None)


def xor(first: Any, second: Any) -> Any:
    return first ^ second


def copy(value: Any) -> Any:
    return value


CAUSAL = CausalModel(
    "left-to-right parity",
    (X, P, Y),
    tuple(X[k] for k in range(3)),
    (Y.variable,),
    (
        Mechanism(P[1], (X[0], X[1]), xor),
        Mechanism(P[2], (P[1], X[2]), xor),
        Mechanism(Y.variable, (P[2],), copy),
    ),
    fed_back=False,
)
LAYOUT = Layout(
    ("0", "1", "?"),
    (*(Slot(f"X{k}", input=X[k]) for k in range(3)), Slot("?", token="?", reads=Y.variable)),
    (X, Y),
)
SPEC = {"kind": "parity"}
TASK = Task(
    "parity of 3 bits",
    CAUSAL,
    LAYOUT,
    {"all": Uniform(tuple((X[k], (0, 1)) for k in range(3)))},
    spec=SPEC,
)


def find_parity(spec: Mapping[str, object]) -> Task:
    assert spec == SPEC
    return TASK


def use(node: Node, failed: int) -> Usefulness:
    return Usefulness(
        node, Rate(failed, 32), Rate(failed, 32), Rate(0, 32), (Rate(failed, 32),), {"all": Rate(failed, 32)}
    )


def role(nodes: tuple[Node, ...], variable: Variable, way: Way = Way.INTERCHANGE) -> Role:
    return Role(nodes, variable, 0, Rate(48, 48), Rate(0, 48), 1e-9, way=way)


def parity_map(causal: CausalModel = CAUSAL) -> NodeMap:
    """A map of two useful nodes with a role each, and a set with one."""
    pair = (Node(1, 0, 0), Node(2, 0, None))
    return NodeMap(
        model="parity-model",
        task=TASK,
        causal=causal,
        n_layers=1,
        n_heads=1,
        nodes=[
            use(Node(at, 0, head), 9 if Node(at, 0, head) in (SMALL, BIG) else 0)
            for at in range(4)
            for head in (0, None)
        ],
        roles=[role((SMALL,), P[1]), role((BIG,), Y.variable, Way.DIFFERENCE), role(pair, P[2])],
        behaviours=[Behaviour(SMALL, (AttentionSummary("all", (Look("X0", 0.9),), 16),))],
        groups=[Group(P[2], 0, (pair,))],
    )


def claims_record(hypothesis: str = CAUSAL.name) -> dict[str, Any]:
    hit, null = ({"hits": hits, "n": 32, "interval": list(Rate(hits, 32).interval)} for hits in (32, 0))
    rate = {"hit": hit, "null": null, "p": 1e-9, "confidence": 0.99, "token": 0}
    part, whole = ({"nodes": str(node), "variable": name, **rate} for node, name in ((SMALL, "P[1]"), (BIG, "Y")))
    about = {"required": True, "verdict": "SUPPORTED", "sentence": "So.", "why": "it is", "refuted_if": "it is not"}
    return {
        "model": "parity-model",
        "hypothesis": hypothesis,
        "skeleton": "present",
        "required": {"supported": 2, "refuted": 0, "inconclusive": 0, "untested": 0},
        "thresholds": {"least_hit": 0.5, "level": 0.01},
        "claims": [
            {"claim": "carried P[1] for Y", "kind": "carried", "evidence": [part], **about},
            {"claim": "order P[1] before Y for Y", "kind": "order", "evidence": [part, whole], **about},
        ],
        "unexplained": [],
        "not_asked_for": [],
        "nodes_without_role": [],
        "rivals": [],
    }


def worked_record() -> dict[str, Any]:
    moved: dict[str, Any] = {"variable": "P[1]", "value": "odd", "nodes": str(SMALL), "place": "X2", "source": "110?"}
    moved |= {"source_value": "even", "token": "?", "expected": "0", "given": "0", "agrees": True}
    moved |= {"hit": {"hits": 32, "n": 32}, "null": {"hits": 0, "n": 32}}
    tokens = [{"place": "?", "token": "1", "p": 0.9}]
    one = {"question": "100?", "given": "100?", "answer": "1", "right": "1", "tokens": tokens, "swaps": [moved]}
    return {"model": "parity-model", "questions": [one]}


def parity_saved() -> Saved:
    """All that was saved about the model."""
    part = {"name": "all", "operation": "", "asked": 1000, "failed": 3, "interval": [0.001, 0.009], "failures": []}
    test = {"model": "parity-model", "parts": [part]}
    return Saved("mine", parity_map(), (), claims_record(), test=test, worked=worked_record())
