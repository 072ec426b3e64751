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

from collections.abc import Iterable, Sequence

from carrylens.arithmetic.layout import sequence_length
from carrylens.arithmetic.planted.algorithm_of import BINARY, DIGITS, TRI_STATE
from carrylens.arithmetic.planted.description import PlantedRole
from carrylens.arithmetic.planted.directions import bit, carried, part, passes, vote
from carrylens.arithmetic.planted.fetching import SHARP, code_of, column_values, fetch, fetch_token, level
from carrylens.arithmetic.planted.hostile_algorithm import HALVES, NONE, PARTS
from carrylens.arithmetic.planted.hostile_circuit import NO_VOTE, ODD_VOTE, add_routes, gather_parts
from carrylens.arithmetic.planted.sketch import ONE, Neuron, Reading, Sketch, add, gate_at, pos, table, times
from carrylens.arithmetic.planted.wiring import Wiring, bringers, halves
from carrylens.arithmetic.variables import OPR, SGN
from carrylens.nodes import Node

_STEP = 25.0  # how much a resolving head prefers a column to the one below it
_GROWTH = 2.25  # of the weights of columns at the tail: with 2, lower columns would come too close to a decided one
_LOUD = 4.0  # how large slots are written, to stand out from rounding once they are weighted


def sketch_circuit(wiring: Wiring) -> Sketch:
    """Everything but the combining MLPs, which `answer_mlps.py` adds."""
    description = wiring.description
    sketch = Sketch(description.n_layers, description.n_heads)
    for role in (*description.roles, *description.decoys):
        if wiring.description.hostile.spread and role.variable.name == "ST" and role in description.roles:
            gather_parts(sketch, wiring, role)
        elif role.variable.name in (*DIGITS, *TRI_STATE, *BINARY, *PARTS):
            for half in halves(wiring, role):
                fetch(sketch, wiring, half)
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
    add_routes(sketch, wiring)
    _rest(sketch, wiring)
    return sketch


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
            for role in (half for copy in copies for half in halves(wiring, copy)):
                values, _ = column_values(role.variable, code_of(role, wiring), wiring.model)
                loud = (ODD_VOTE if role.variable == HALVES[variable.name][1][variable.index or 0] else 1.0) / len(
                    copies
                )
                votes = tuple({} if value == NONE else {vote(variable.name, value): loud} for value in values)
                wanted += [(role, mlp, votes) for mlp in role.mlps]
            if wiring.description.hostile.split:  # what is said where neither half says anything
                said = sketch.places.setdefault(wiring.tokens[token], {})
                said[vote(variable.name, 0)] = NO_VOTE
    _tables(sketch, wiring, wanted)


def _column_tables(sketch: Sketch, wiring: Wiring) -> None:
    wanted = []
    for letter, columns in wiring.columns.items():
        for k in columns:
            for lane, roles in enumerate(wiring.lanes(letter, k)):
                for name, role in roles.items():
                    if name[0] != letter or not role.mlps:
                        continue  # NC belongs to N, though MV is made of it too; parts have tables of their own
                    values, equal = column_values(role.variable, code_of(role, wiring), wiring.model)
                    writes = tuple(
                        _says(name, letter, lane, value, alike and k > 0)
                        for value, alike in zip(values, equal, strict=True)
                    )
                    wanted.append((role, role.mlps[0], writes))
    for role in wiring.description.roles:
        if role.variable.name in PARTS:
            values, _ = column_values(role.variable, code_of(role, wiring), wiring.model)
            wanted.append((role, role.mlps[0], tuple({part(role.variable): 1.0} if v else {} for v in values)))
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
            for lane, node in bringers(wiring, token, resolved):
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
            for lane, node in bringers(wiring, token, resolved):
                letter = resolved.name[0]
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
