"""The circuit: what a left-to-right description's heads and neurons do, as a sketch.

Takes  a `Wiring`.
Gives  the `Sketch` that carries it out.
Never  checks: `wiring.py` did.

1. Fetch: a head attends to column k. To both digits alike, it brings their sum; with ten times the weight on D, the
   number 10 D + D', from which everything about the column follows; two sharing heads bring a digit each.
2. Table: an MLP turns that number into the column's value, by steps between neighbouring numbers.
3. Resolve: a head attends to the highest column below the digit that is not U, and brings its carry. At the tail,
   an MLP sorts columns into slots, a head gathers the slots, an MLP resolves all of them by weights that more than
   double from column to column, and a head attends to `=` exactly if the carry wanted there is 1.
4. Combine: an MLP adds the carry to the digit, for the operation and sign at hand, and votes for the answer's token.
Copies vote: each writes its share of the votes, and a copy that is removed abstains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layout import position_of, sequence_length
from carrylens.arithmetic.planted.algorithm_of import BINARY, DIGITS, TRI_STATE
from carrylens.arithmetic.planted.description import PlantedRole
from carrylens.arithmetic.planted.sketch import (
    DIGIT,
    MINUS,
    ONE,
    HeadSketch,
    Neuron,
    Reading,
    Sketch,
    add,
    gate_at,
    pos,
    table,
    times,
)
from carrylens.arithmetic.planted.wiring import Wiring
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN, D
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

SHARP = 25.0
"""How much a head prefers what it looks for."""

_STEP = 25.0  # how much a resolving head prefers a column to the one below it
_GROWTH = 2.25  # of the weights of columns at the tail: with 2, lower columns would come too close to a decided one
_LOUD = 4.0  # how large slots are written, to stand out from rounding once they are weighted
_SUMS, _PAIRS, _DIFFERENCES = range(19), range(100), range(-9, 10)


def sketch_circuit(wiring: Wiring) -> Sketch:
    """Everything but the combining MLPs, which `answer_mlps.py` adds."""
    description = wiring.description
    sketch = Sketch(description.n_layers, description.n_heads)
    for role in (*description.roles, *description.decoys):
        if role.variable.name in (*DIGITS, *TRI_STATE, *BINARY):
            fetch(sketch, wiring, role)
    for token in wiring.tokens:
        for variable in (OPR, SGN):
            head = wiring.selector(token, variable)
            if variable in wiring.model.by_variable[token].parents and head is not None:
                fetch_token(sketch, head, variable, wiring.digits)
    _digit_tables(sketch, wiring)
    _column_tables(sketch, wiring)
    _decoy_tables(sketch, wiring)
    if wiring.resolver is None:
        _resolve_lazily(sketch, wiring)
    else:
        _resolve_at_tail(sketch, wiring)
    _rest(sketch, wiring)
    return sketch


def fetch(sketch: Sketch, wiring: Wiring, role: PlantedRole) -> None:
    """Let the role's heads fetch its column."""
    k, digits = role.variable.index or 0, wiring.digits
    code = code_of(role, wiring)
    for order, node in enumerate(role.heads):
        head = _fetching_head(sketch, node, digits)
        if len(role.heads) == 2:
            wanted = {f"column {k}": 2 * SHARP, "first": SHARP if order == 0 else -SHARP}
        else:
            wanted = {f"column {k}": SHARP, "first": math.log(10) / 2 if code is _PAIRS else 0.0}
        head.ask(node.position, wanted)
        head.move(DIGIT, _brought(node))
        head.move(ONE, _present(node))


def fetch_token(sketch: Sketch, node: Node, variable: Variable, digits: int) -> None:
    """Let a head fetch the operator or the sign."""
    head = _fetching_head(sketch, node, digits)
    head.ask(node.position, {str(variable): SHARP})
    head.move(MINUS, minus_seen(node))


def minus_seen(node: Node) -> str:
    """The direction in which a head says that the token it fetched is `-`."""
    return f"minus {node.layer}.{node.head}"


def code_of(role: PlantedRole, wiring: Wiring) -> range:
    """What the role's heads bring: a sum or a difference where all their roles need no more, else both digits."""
    same = [other for other in wiring.description.roles if set(other.heads) & set(role.heads)]
    adds = {other.variable.name[0] == "S" for other in (*same, role)}
    if len(role.heads) == 2 and adds == {False}:
        return _DIFFERENCES
    return _SUMS if adds == {True} else _PAIRS


def level(role: PlantedRole, code: range) -> tuple[dict[str, float], dict[str, float]]:
    """How to read what the heads brought as a whole number, and as 1 if it is there."""
    brought, present = [_brought(node) for node in role.heads], [_present(node) for node in role.heads]
    if len(brought) == 1:
        return {brought[0]: float(len(code) - 1)}, {present[0]: 1.0}
    one = dict.fromkeys(present, 0.5)
    if code is _DIFFERENCES:
        return add({brought[0]: 9.0, brought[1]: -9.0}, times(9.0, one)), one
    return {brought[0]: 9.0 if code is _SUMS else 90.0, brought[1]: 9.0}, one


def column_values(variable: Variable, code: range, model: Algorithm) -> tuple[list[int], list[bool]]:
    """The variable's value, and whether the two digits are equal, for every number that heads can bring."""
    numbers = np.array(code, dtype=np.int8)
    if code is _PAIRS:
        d, e = numbers // 10, numbers % 10
    elif code is _SUMS:
        d = np.minimum(numbers, 9)
        e = numbers - d
    else:
        d = np.maximum(numbers, 0)
        e = d - numbers
    mechanism = model.by_variable[variable]
    values = mechanism.rule(*(d if parent.name == "D" else e for parent in mechanism.parents))
    return [int(value) for value in np.asarray(values)], [bool(equal) for equal in d == e]


def bit(letter: str, lane: int) -> str:
    """The direction of a column's own carry: 1 yes, -1 no, 0 where it says nothing."""
    return f"{letter} bit {lane}"


def passes(letter: str, lane: int) -> str:
    """The direction that is 1 where a column passes on what comes from below."""
    return f"{letter} passes {lane}"


def carried(node: Node, letter: str) -> str:
    """The direction in which a head says which carry it brought: 1 or -1."""
    return f"{letter} carried {node.layer}.{node.head}"


def vote(name: str, value: int) -> str:
    """The direction that votes for a digit such as SA."""
    return f"{name} is {value}"


def _brought(node: Node) -> str:
    return f"brought {node.layer}.{node.head}"


def _present(node: Node) -> str:
    return f"present {node.layer}.{node.head}"


def _fetching_head(sketch: Sketch, node: Node, digits: int) -> HeadSketch:
    assert node.head is not None
    head = sketch.head(node.layer, node.head)
    for k in range(digits):
        for family, sign in ((D, 1.0), (D_PRIME, -1.0)):
            place = pos(position_of(family[k], digits))
            head.show(place, f"column {k}")
            head.show(place, "first", sign)
    for variable in (OPR, SGN):
        head.show(pos(position_of(variable, digits)), str(variable))
    return head


def _tables(sketch: Sketch, wiring: Wiring, roles: Iterable[tuple[PlantedRole, Node, Sequence[Reading]]]) -> None:
    # What one place makes of the same heads is one table; places that make the same of them share it.
    by_place: dict[tuple[Node, tuple[Node, ...]], tuple[PlantedRole, list[Reading]]] = {}
    for role, mlp, values in roles:
        _, so_far = by_place.get((mlp, role.heads), (role, [{} for _ in values]))
        by_place[mlp, role.heads] = (role, [add(old, new) for old, new in zip(so_far, values, strict=True)])
    shared: dict[tuple[object, ...], list[Node]] = {}
    for (mlp, heads), (_, values) in by_place.items():
        alike = (mlp.layer, *((head.layer, head.head) for head in heads), *(tuple(sorted(v.items())) for v in values))
        shared.setdefault(alike, []).append(mlp)
    for (mlp, heads), (role, values) in by_place.items():
        alike = (mlp.layer, *((head.layer, head.head) for head in heads), *(tuple(sorted(v.items())) for v in values))
        places = shared.pop(alike, [])
        if places:
            reads, one = level(role, code_of(role, wiring))
            sketch.neurons[mlp.layer] += table(reads, one, values, [node.position for node in places])


def _digit_tables(sketch: Sketch, wiring: Wiring) -> None:
    wanted = []
    for token in wiring.tokens:
        for variable in wiring.parents(token, DIGITS):
            copies = wiring.description.of(variable)
            for role in copies:
                values, _ = column_values(variable, code_of(role, wiring), wiring.model)
                votes = tuple({vote(variable.name, value): 1.0 / len(copies)} for value in values)
                wanted += [(role, mlp, votes) for mlp in role.mlps]
    _tables(sketch, wiring, wanted)


def _column_tables(sketch: Sketch, wiring: Wiring) -> None:
    wanted = []
    for letter, columns in wiring.columns.items():
        for k in columns:
            for lane, roles in enumerate(wiring.lanes(letter, k)):
                for name, role in roles.items():
                    if name[0] != letter:
                        continue  # NC belongs to N, though MV is made of it too
                    values, equal = column_values(role.variable, code_of(role, wiring), wiring.model)
                    writes = tuple(
                        _says(name, letter, lane, value, alike and k > 0)
                        for value, alike in zip(values, equal, strict=True)
                    )
                    wanted.append((role, role.mlps[0], writes))
    _tables(sketch, wiring, wanted)


def _says(name: str, letter: str, lane: int, value: int, equal: bool) -> dict[str, float]:
    if name == "S9":
        return {passes(letter, lane): 1.0} if value else {}
    own = {passes(letter, lane): 1.0} if value == 2 else {bit(letter, lane): 2.0 * value - 1.0}
    return own | ({passes(letter, lane): 1.0} if name in ("MC", "NC") and equal else {})


def _decoy_tables(sketch: Sketch, wiring: Wiring) -> None:
    wanted = []
    for role in wiring.description.decoys:
        values, _ = column_values(role.variable, code_of(role, wiring), wiring.model)
        writes = tuple({f"decoy {role.variable.name} is {value}": 1.0} for value in values)
        wanted += [(role, mlp, writes) for mlp in role.mlps]
    _tables(sketch, wiring, wanted)


def _resolve_lazily(sketch: Sketch, wiring: Wiring) -> None:
    lowest = -8 * _STEP * (wiring.digits + 2)
    for token, place in wiring.tokens.items():
        for resolved in wiring.parents(token, ("SV", "MV", "NV")):
            letter = resolved.name[0]
            for lane, carrier in enumerate(wiring.carriers(token, resolved)):
                node = carrier.heads[0]
                head = sketch.head(node.layer, node.head or 0)
                wanted = {"anywhere": lowest, f"{letter}{lane} passes": -_STEP * (wiring.digits + 2)}
                head.show(ONE, "anywhere")
                head.show(passes(letter, lane), f"{letter}{lane} passes")
                for k in wiring.columns[letter]:
                    role = next(iter(wiring.lanes(letter, k)[lane].values()))
                    head.show(pos(role.position), f"{letter}{lane} column {k}")
                    if k <= (resolved.index or 0):
                        wanted[f"{letter}{lane} column {k}"] = _STEP * (k + 1) - lowest
                head.ask(place, wanted)
                head.move(bit(letter, lane), carried(node, letter))


def _resolve_at_tail(sketch: Sketch, wiring: Wiring) -> None:
    resolver = wiring.resolver
    assert resolver is not None
    gather, mlp = resolver.heads[0], resolver.mlps[0]
    head = sketch.head(gather.layer, gather.head or 0)
    sources = set()
    for letter, columns in wiring.columns.items():
        for lane in range(len(wiring.lanes(letter, 0))):
            for k in columns:
                role = next(iter(wiring.lanes(letter, k)[lane].values()))
                sources.add(role.position)
                slot, gathered = f"{letter} slot {lane} {k}", f"{letter} gathered {lane} {k}"
                sketch.neurons[role.mlps[1].layer] += _slot(letter, lane, slot, role.position)
                head.move(slot, gathered)
            for k in columns:
                reads = {f"{letter} gathered {lane} {j}": _GROWTH**j / _LOUD for j in range(k + 1)}
                sketch.neurons[mlp.layer] += _settle(reads, f"{letter} resolved {lane} {k}")
    for (slot, gathered), _ in list(head.moves.items()):
        if " slot " in slot:
            head.move(slot, gathered, float(len(sources)))
    for place in sources:
        head.show(pos(place), "column")
    for position in range(sequence_length(wiring.digits)):  # elsewhere it looks at the start, where no slot is filled
        if pos(position) not in {direction for direction, _ in head.queries}:
            head.ask(position, {"start": SHARP})
    head.show(pos(0), "start")
    head.ask(gather.position, {"column": SHARP, "start": 0.0})
    _deliver(sketch, wiring, mlp.position)


def _slot(letter: str, lane: int, slot: str, place: int) -> list[Neuron]:
    gate = add(gate_at([place], 8.0), {passes(letter, lane): -2.0})
    own = bit(letter, lane)
    return [Neuron(add({own: sign}, gate), {slot: _LOUD * sign}) for sign in (1.0, -1.0)]


def _settle(reads: Reading, target: str) -> list[Neuron]:
    # 1 where the weighted sum is positive, -1 where it is negative: weights grow so fast from column to column that all
    # lower ones together weigh a fifth less than a decided one, and small errors do not matter.
    high, low = times(2.0, reads), times(-2.0, reads)
    return [
        Neuron(high, {target: 1.0}),
        Neuron(add(high, {ONE: -1.0}), {target: -1.0}),
        Neuron(low, {target: -1.0}),
        Neuron(add(low, {ONE: -1.0}), {target: 1.0}),
    ]


def _deliver(sketch: Sketch, wiring: Wiring, tail: int) -> None:
    # The first position stands for "no carry": the head attends to it unless the carry draws it to the tail.
    for token, place in wiring.tokens.items():
        for resolved in wiring.parents(token, ("SV", "MV", "NV")):
            for lane, carrier in enumerate(wiring.carriers(token, resolved)):
                node, letter = carrier.heads[0], resolved.name[0]
                head = sketch.head(node.layer, node.head or 0)
                head.show(ONE, "anywhere")
                head.show(pos(0), "ends")
                head.show(pos(tail), "ends")
                for k in wiring.columns[letter]:
                    head.show(f"{letter} resolved {lane} {k}", f"{letter}{lane} column {k}")
                head.ask(place, {"anywhere": -100.0, "ends": 100.0, f"{letter}{lane} column {resolved.index}": SHARP})
                head.move(pos(tail), carried(node, letter))
                head.move(pos(0), carried(node, letter), -1.0)


def _rest(sketch: Sketch, wiring: Wiring) -> None:
    # Where a fetching head has nothing to do it looks at the operator, which says nothing about any digit.
    for head in sketch.heads.values():
        if any(dimension == str(OPR) for _, dimension in head.keys):
            busy = {direction for direction, _ in head.queries}
            for position in range(wiring.digits, sequence_length(wiring.digits)):
                if pos(position) not in busy:
                    head.ask(position, {str(OPR): SHARP})
