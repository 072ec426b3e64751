"""Rival plants: models that add by another algorithm, so that it can be tested which one a method reports.

Takes  a description of the one-layer or of the place-value method.
Gives  its sketch, and its groups and edges.
Never  claims that a rival is exact: the one-layer algorithm fails on cascades, place values fail past float32.

- One layer: at the place of A[k] one head brings the sum of column k, another that of column k-1; the MLP adds 1 where
  the latter is 10 or more. A carry that must pass a column that sums to 9 is lost.
- Place value: at the place of A[k] one head brings all columns up to k, weighted by powers of ten; the MLP reads the
  digit off the size of that number. Nothing is ever carried. Two neighbouring numbers differ by one part in 10**k.
"""

from __future__ import annotations

import math

from carrylens.arithmetic.layout import position_of, predicting_place, sequence_length
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.node_truth import group
from carrylens.arithmetic.planted.sketch import DIGIT, ONE, Neuron, Reading, Sketch, add, out, pos, table, times
from carrylens.arithmetic.planted.truth import PlantedEdge, PlantedGroup
from carrylens.arithmetic.planted.wiring_checks import check_nodes, check_order
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.tokens import PLUS
from carrylens.arithmetic.variables import D_PRIME, SA, SC, SGN, A, D
from carrylens.errors import CarryLensError
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

_SHARP = 25.0
_ANCHOR = 4.0  # before the first layer all vectors are equally long, and no layer comes after
_MEASURE = 2.5  # the weights of all columns and the operator together; those of the columns come to at most 2.23
_LOUD = 4.0  # how large the weighed sum is written, to stand out from rounding
NodeTruth = tuple[tuple[PlantedGroup, ...], tuple[PlantedEdge, ...]]


def sketch_one_layer(description: CircuitDescription) -> Sketch:
    """Heads for SA[k] and SC[k-1] at the place of A[k], and the MLP that adds them."""
    sketch, n = _start(description), description.digits
    for k in range(n, -1, -1):
        place = predicting_place(A[k], n)
        mlp = _node(description, A[k], place, mlp=True)
        own = {} if k == n else _sum(sketch, _node(description, SA[k], place), k, n)
        below = _sum(sketch, _node(description, SC[k - 1], place), k - 1, n) if k else {}
        reads = add(times(20.0, own), below)
        if k == n:
            values: list[Reading] = [{out(1): 1.0} if t >= 10 else {} for t in range(20)]
        elif k:
            values = [{out((y // 20 + (y % 20 >= 10)) % 10): 1.0} for y in range(380)]
        else:
            reads, values = own, [{out(s % 10): 1.0} for s in range(19)]
        sketch.neurons[mlp.layer] += table(reads, {ONE: 1.0}, values, [place])
    return sketch


def one_layer_truth(description: CircuitDescription) -> NodeTruth:
    """What is true of a one-layer plant."""
    groups, edges, n = [], [], description.digits
    for k in range(n, -1, -1):
        place = predicting_place(A[k], n)
        mlp = _node(description, A[k], place, mlp=True)
        for variable in (*([SA[k]] if k < n else []), *([SC[k - 1]] if k else [])):
            head = _node(description, variable, place)
            groups.append(group(variable, "fetch", [A[k]], [[head]]))
            edges.append(PlantedEdge(head, mlp, "mlp", variable))
        groups.append(group(A[k], "combine", [A[k]], [[mlp]]))
        edges.append(PlantedEdge(mlp, None, "logits", A[k]))
    return tuple(groups), tuple(edges)


def sketch_place_value(description: CircuitDescription) -> Sketch:
    """A head that weighs columns by powers of ten, and the MLP that reads a digit off their sum."""
    sketch, n = _start(description), description.digits
    sketch.anchor = _ANCHOR
    sketch.places = {predicting_place(SGN, n): {out(PLUS): 3.0}}  # louder than the digit that is read off there too
    operands = {position_of(family[j], n): j for j in range(n) for family in (D, D_PRIME)}
    readers: dict[tuple[int, str], None] = {}
    for k in range(n, -1, -1):
        place = predicting_place(A[k], n)
        node, mlp = _node(description, A[k], place), _node(description, A[k], place, mlp=True)
        head, brought = sketch.head(node.layer, node.head or 0), f"weighed {node.layer}.{node.head}"
        for position in range(sequence_length(n)):
            head.show(pos(position), f"column {operands[position]}" if position in operands else "elsewhere")
        head.show(pos(n), "elsewhere", 0.0)
        head.show(pos(n), "nothing")
        # The operator, whose digit is 0, takes the weight that is left, so that every place weighs by one measure.
        weights = {j: 10.0 ** (j - k) for j in range(min(k, n - 1) + 1)}
        wanted = {f"column {j}": math.log(weights[j]) if j in weights else -_SHARP for j in range(n)}
        head.ask(place, wanted | {"elsewhere": -_SHARP, "nothing": math.log(_MEASURE - 2 * sum(weights.values()))})
        head.move(DIGIT, brought, _LOUD)
        readers[mlp.layer, brought] = None
    for layer, brought in readers:
        sketch.neurons[layer] += _read_off({brought: 9.0 * _MEASURE / _LOUD}, n)
    return sketch


def place_value_truth(description: CircuitDescription) -> NodeTruth:
    """What is true of a place-value plant: each answer digit is made by one head and one MLP."""
    groups, edges, n = [], [], description.digits
    for k in range(n, -1, -1):
        place = predicting_place(A[k], n)
        head, mlp = _node(description, A[k], place), _node(description, A[k], place, mlp=True)
        groups += [group(A[k], "fetch", [A[k]], [[head]]), group(A[k], "combine", [A[k]], [[mlp]])]
        edges += [PlantedEdge(head, mlp, "mlp", A[k]), PlantedEdge(mlp, None, "logits", A[k])]
    return tuple(groups), tuple(edges)


def _read_off(level: Reading, decimals: int) -> list[Neuron]:
    # The level is a number with so many decimals; each whole number that it reaches turns the digit over.
    smallest = 10.0**-decimals
    steep = 2.0 / smallest
    neurons = [Neuron({ONE: 1.0}, {out(0): 1.0})]
    for i in range(1, 20):
        turn = {out(i % 10): 1.0, out((i - 1) % 10): -1.0}
        for share, sign in ((0.75, 1.0), (0.25, -1.0)):
            reads = add(times(steep, level), {ONE: -steep * (i - share * smallest)})
            neurons.append(Neuron(reads, times(sign, turn)))
    return neurons


def _start(description: CircuitDescription) -> Sketch:
    if description.operation is not Operation.ADD:
        raise CarryLensError(
            f"A {description.method.value} plant was asked to {description.operation.value}. It can only add."
        )
    model = model_of(description)
    check_nodes(description, model)
    check_order(description, model)
    sketch = Sketch(description.n_layers, description.n_heads)
    for token, usual in ((SGN, PLUS), (A[description.digits], 0)):
        sketch.places[predicting_place(token, description.digits)] = {out(usual): 0.5}
    return sketch


def _sum(sketch: Sketch, node: Node, k: int, digits: int) -> dict[str, float]:
    # Let a head bring the sum of column k; how to read it.
    head = sketch.head(node.layer, node.head or 0)
    for j in range(digits):
        for family in (D, D_PRIME):
            head.show(pos(position_of(family[j], digits)), f"column {j}")
    head.ask(node.position, {f"column {k}": _SHARP})
    brought = f"brought {node.layer}.{node.head}"
    head.move(DIGIT, brought)
    return {brought: 18.0}


def _node(description: CircuitDescription, variable: Variable, place: int, mlp: bool = False) -> Node:
    # The head, or the MLP, that a rival has for a variable at a place.
    for role in description.of(variable):
        for node in role.mlps if mlp else role.heads:
            if node.position == place:
                return node
    kind = f"P{place}L0MLP" if mlp else f"P{place}L0H0"
    raise CarryLensError(f"{variable} has no {'MLP' if mlp else 'head'} at P{place}. Add a role such as {kind}.")
