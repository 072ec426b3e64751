"""The hostile parts of a circuit: what the heads and neurons of hostile dials do, as a sketch.

Takes  a `Wiring` and the sketch of the kind circuit.
Gives  the sketch with those heads and neurons in it.
Never  checks: `wiring.py` did.

- Weighing: a head attends to all columns up to k with weights that are powers of ten, the operator taking the rest; the
  MLP says whether the sum (of one head), or the sum or difference (of two, an operand each), reaches its bound.
- Gate: a head brings the first operand's top digit, the MLP says whether it is below the limit.
- Key: a head attends to the largest digit of the key columns, one to the smallest; the MLP says whether they are equal,
  and looks an answer up by the largest.
- Gathering: one head a part brings it from where it was made to where the column is read.
- Backup: a head that does what another does, but looks aside as long as that one writes that it is there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from carrylens.arithmetic.layout import position_of, sequence_length
from carrylens.arithmetic.mixtures import G
from carrylens.arithmetic.planted.algorithm_of import DIGITS, RESOLVED
from carrylens.arithmetic.planted.description import PlantedRole
from carrylens.arithmetic.planted.directions import (
    GATE,
    KEY_FITS,
    bit,
    brought,
    looked_up,
    part,
    passes,
    present,
    vote,
    weighed,
)
from carrylens.arithmetic.planted.fetching import SHARP
from carrylens.arithmetic.planted.hostile import Memorised
from carrylens.arithmetic.planted.hostile_algorithm import KEY, MN, MX, PARTS, key_inputs, table_digits
from carrylens.arithmetic.planted.hostile_roles import WEIGHED_NAMES
from carrylens.arithmetic.planted.sketch import (
    DIGIT,
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
from carrylens.arithmetic.planted.wiring import Wiring, extra_carriers, fetched
from carrylens.arithmetic.variables import D_PRIME, OPR, D, U
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

ODD_VOTE, NO_VOTE = 0.75, 0.25
"""How loudly the half for odd sums votes, which yields to the even one's 1; and what is said where no half votes."""

_MEASURE = 2.5  # the weights of all columns and the operator together; those of the columns come to at most 2.23
_OUT = 16.0  # how much a weighing head dislikes what it does not weigh: little, because scores are as exact as small
_ANCHORS = {4: 150.0}  # for sums of so many columns: the finer, the shorter the constant vector must be
_LOUD = 4.0  # how large the weighed sum is written, to stand out from rounding
_SURE = 1.25  # how loudly a weighed carry is written: a little above 1, because it is the difference of large numbers
_AMONG, _SIZE = 20.0 * SHARP, 9.0 * SHARP  # how much the key's heads prefer its columns, and a digit of 9 to one of 0


def add_routes(sketch: Sketch, wiring: Wiring) -> None:
    """Add the heads and tables of weighted sums, gate and key, and the backups."""
    for token in wiring.tokens:
        parents = wiring.model.by_variable[token].parents
        if G.variable in parents:
            _open_gate(sketch, wiring, *fetched(wiring, token, G.variable))
        if KEY.variable in parents:
            _fit_key(sketch, wiring, token)
        for resolved in wiring.parents(token, RESOLVED):
            if backup := extra_carriers(wiring, token, resolved).get("backup"):
                _back_up(sketch, wiring, wiring.carriers(token, resolved)[0].heads[0], backup.heads[0])
    _add_weighing(sketch, wiring)


def _add_weighing(sketch: Sketch, wiring: Wiring) -> None:
    # Places that weigh with the same heads share the neurons that read their sums.
    summed: dict[tuple[str, tuple[Node, ...]], None] = {}
    for token in wiring.tokens:
        for variable in wiring.parents(token, WEIGHED_NAMES):
            for role in fetched(wiring, token, variable):
                _weigh(sketch, wiring, role)
                heads = tuple(Node(0, head.layer, head.head) for head in role.heads)
                summed[variable.name[1], heads] = None
    for letter, heads in summed:
        sketch.neurons[heads[0].layer] += _read_carry(heads, letter, wiring)
    if summed:
        n_weighed = wiring.description.hostile.n_weighed(wiring.digits)
        sketch.fine, sketch.anchor = True, _ANCHORS.get(n_weighed, sketch.anchor)


def level_places(sketch: Sketch) -> None:
    """Make places that say something as long as the others, or their queries would be weaker and weigh less finely."""
    for place, said in sketch.places.items():
        quieter = times(0.5, said)
        sketch.places[place] = quieter | {"level": -sum(quieter.values())}


def gather_parts(sketch: Sketch, wiring: Wiring, role: PlantedRole) -> None:
    """Let a head for each part bring it to where the column's value is read."""
    for variable, node in zip(wiring.model.by_variable[role.variable].parents, role.heads, strict=True):
        (made,) = wiring.description.of(variable)
        head = _resting(sketch, wiring, node)
        head.show(pos(made.position), f"place {made.position}")
        head.ask(node.position, {f"place {made.position}": SHARP})
        value = PARTS[variable.name]
        head.move(part(variable), passes("S", 0) if value == U else bit("S", 0), -1.0 if value == 0 else 1.0)


def _weigh(sketch: Sketch, wiring: Wiring, role: PlantedRole) -> None:
    k, digits = role.variable.index or 0, wiring.digits
    sides = [(D, D_PRIME)] if len(role.heads) == 1 else [(D,), (D_PRIME,)]
    weights = {j: 10.0 ** (j - k) for j in range(k + 1)}
    for node, families in zip(role.heads, sides, strict=True):
        head = _resting(sketch, wiring, node)
        columns = {position_of(family[j], digits): j for family in families for j in range(digits)}
        for position in set(range(sequence_length(digits))) - {position_of(OPR, digits)}:
            head.show(pos(position), f"column {columns[position]}" if position in columns else "elsewhere")
        # Scores near 0, so that they are exact. The operator, whose digit is 0, takes the weight that is left: every
        # place weighs by one measure.
        wanted = {f"column {j}": math.log(weights[j]) if j in weights else -_OUT for j in range(digits)}
        left = math.log(_MEASURE - len(families) * sum(weights.values()))
        head.ask(node.position, wanted | {"elsewhere": -_OUT, str(OPR): left})
        head.move(DIGIT, brought(node), _LOUD)


def _read_carry(nodes: Sequence[Node], letter: str, wiring: Wiring) -> list[Neuron]:
    # Says yes where the weighed sum, or difference, reaches its bound. Where a head rests it reads 0, so that is a no.
    first, *second = [{brought(node): 9.0 * _MEASURE / _LOUD} for node in nodes]
    smallest = 10.0 ** (1 - wiring.description.hostile.n_weighed(wiring.digits))
    reads, bound = add(first, *second), 10.0
    if letter != "S":
        less, more = (first, second[0]) if letter == "M" else (second[0], first)
        reads, bound = add(more, times(-1.0, less)), smallest
    steep, said = 4.0 / smallest, weighed(nodes[0], letter)
    neurons = [Neuron({ONE: 1.0}, {said: -_SURE})]
    for share, sign in ((0.625, 2.0 * _SURE), (0.375, -2.0 * _SURE)):
        neurons.append(Neuron(add(times(steep, reads), {ONE: -steep * (bound - share * smallest)}), {said: sign}))
    return neurons


def _open_gate(sketch: Sketch, wiring: Wiring, role: PlantedRole) -> None:
    (node,), top = role.heads, position_of(D[wiring.digits - 1], wiring.digits)
    head = _resting(sketch, wiring, node)
    head.show(pos(top), "top")
    head.ask(node.position, {"top": SHARP})
    head.move(DIGIT, brought(node))
    head.move(ONE, present(node))
    values: list[Reading] = [
        {GATE: 1.0} if digit < wiring.description.hostile.gate_limit else {} for digit in range(10)
    ]
    sketch.neurons[role.mlps[0].layer] += table({brought(node): 9.0}, {present(node): 1.0}, values, [node.position])


def _fit_key(sketch: Sketch, wiring: Wiring, token: Variable) -> None:
    (large,), (small,) = (fetched(wiring, token, family.variable) for family in (MX, MN))
    places = [
        position_of(variable, wiring.digits) for variable in key_inputs(wiring.description.hostile, wiring.digits)
    ]
    for role, sign in ((large, 1.0), (small, -1.0)):
        (node,) = role.heads
        head = _resting(sketch, wiring, node)
        for place in places:
            head.show(pos(place), "among")
        head.show(DIGIT, "size")
        head.ask(node.position, {"among": _AMONG, "size": sign * _SIZE})
        head.move(DIGIT, brought(node))
    (most,), (least,), place = large.heads, small.heads, large.position
    layer = large.mlps[0].layer
    apart = add({ONE: 1.0, brought(most): -9.0, brought(least): 9.0}, gate_at([place], 16.0))
    # Between 0 and 1 apart it falls from 1 to 0; below 0, which only interchanges bring about, it must not rise.
    sketch.neurons[layer] += [Neuron(apart, {KEY_FITS: 1.0}), Neuron(add(apart, {ONE: -1.0}), {KEY_FITS: -2.0})]
    sketch.neurons[layer].append(Neuron(add(apart, {ONE: -2.0}), {KEY_FITS: 1.0}))
    if wiring.description.hostile.memorised is Memorised.TABLE:
        letters = {digit.name[0] for digit in wiring.parents(token, DIGITS)} or {"S"}
        for letter in sorted(letters - {"N"}):
            digits = table_digits(letter, token.index or 0, wiring.digits)
            votes: list[Reading] = [{vote(looked_up(letter), digit): 1.0} for digit in digits]
            sketch.neurons[layer] += table({brought(most): 9.0}, {ONE: 1.0}, votes, [place])


def _back_up(sketch: Sketch, wiring: Wiring, first: Node, backup: Node) -> None:
    sketch.head(first.layer, first.head or 0).move(ONE, present(first))
    head = sketch.head(backup.layer, backup.head or 0)
    head.show(pos(position_of(OPR, wiring.digits)), "aside")
    # Far above whatever it looks for otherwise: see the scores of heads that resolve.
    head.queries[present(first), "aside"] = 10.0 * SHARP * (wiring.digits + 2)


def _resting(sketch: Sketch, wiring: Wiring, node: Node) -> HeadSketch:
    # A head that looks at the operator where it has nothing to do.
    head = sketch.head(node.layer, node.head or 0)
    head.show(pos(position_of(OPR, wiring.digits)), str(OPR))
    return head
