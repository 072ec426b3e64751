"""Combining: the MLPs that make the answer's tokens from digits, carries, operator and sign.

Takes  a `Wiring` and the `Sketch` of the rest.
Gives  the sketch with the combining neurons in it.
Never  decides what is combined: the causal model's parents of each token do.

For each digit value and each carry there is a neuron that is open if the carry's vote goes that way, and then passes
the digit's votes on to the digit plus (or less) the carry. For subtraction and mixed models there is a set for each of
addition, positive and negative difference, and the operator and the sign close all but one.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.planted.algorithm_of import DIGITS, RESOLVED
from carrylens.arithmetic.planted.circuit import carried, code_of, level, minus_seen, vote
from carrylens.arithmetic.planted.sketch import ONE, Neuron, Reading, Sketch, add, gate_at, out, table, times
from carrylens.arithmetic.planted.wiring import Wiring
from carrylens.arithmetic.tokens import MINUS, PLUS
from carrylens.arithmetic.variables import OPR, SGN, A
from carrylens.tasks.variables import Variable

_MODES = {"S": (0, None), "M": (1, 0), "N": (1, 1)}
"""For each family the operator, and the sign, for which it makes the answer."""


@dataclass(frozen=True)
class _Recipe:
    # What a token's neurons read: equal recipes share their neurons.
    layer: int
    letter: str
    carriers: tuple[str, ...]
    operator: str | None
    sign: str | None

    @property
    def carry(self) -> dict[str, float]:
        # Above 0 if most copies vote for a carry, else below; a tie counts as no carry, so it is never 0.
        n = len(self.carriers)
        return dict.fromkeys(self.carriers, 1.0 / n) | {ONE: -0.5 / n}

    @property
    def strength(self) -> float:
        return 8.0 * max(1, len(self.carriers))

    def closed(self, positions: list[int]) -> dict[str, float]:
        # 0 where this family makes the answer, else far below.
        closing = 4.0 * self.strength
        reading = gate_at(positions, closing)
        for wanted, direction in zip(_MODES[self.letter], (self.operator, self.sign), strict=True):
            if direction is not None and wanted is not None:
                reading = add(reading, {ONE: -closing * wanted, direction: closing * (2 * wanted - 1)})
        return reading


def add_combiners(sketch: Sketch, wiring: Wiring) -> None:
    """Add the neurons that make every token of the answer, and what places say by themselves."""
    _constants(sketch, wiring)
    together: dict[_Recipe, list[int]] = {}
    for token, place in wiring.tokens.items():
        digits = wiring.parents(token, DIGITS)
        if not digits:
            _single(sketch, wiring, token)
        elif not wiring.description.of(digits[0])[0].mlps:
            _direct(sketch, wiring, token, digits[0])
        else:
            for digit in digits:
                together.setdefault(_recipe(wiring, token, digit.name[0]), []).append(place)
    for recipe, places in together.items():
        name = {"S": "SA", "M": "MD", "N": "ND"}[recipe.letter]
        sketch.neurons[recipe.layer] += _adder(recipe, name, places)


def _recipe(wiring: Wiring, token: Variable, letter: str) -> _Recipe:
    carries = [parent for parent in wiring.parents(token, RESOLVED) if parent.name[0] == letter]
    carriers = [role.heads[0] for carry in carries for role in wiring.carriers(token, carry)]
    chosen = [wiring.selector(token, v) if v in wiring.model.by_variable[token].parents else None for v in (OPR, SGN)]
    combiner = wiring.combiner(token)
    assert combiner is not None
    operator, sign = (None if head is None else minus_seen(head) for head in chosen)
    return _Recipe(combiner.layer, letter, tuple(carried(node, letter) for node in carriers), operator, sign)


def _adder(recipe: _Recipe, name: str, places: list[int]) -> list[Neuron]:
    closed, step = recipe.closed(places), 1 if recipe.letter == "S" else -1
    if not recipe.carriers:
        return [Neuron(add({vote(name, s): 1.0}, closed), {out(s): 1.0}) for s in range(10)]
    yes, no = _ways(recipe)
    return [Neuron(add({vote(name, s): 1.0}, yes, closed), {out((s + step) % 10): 1.0}) for s in range(10)] + [
        Neuron(add({vote(name, s): 1.0}, no, closed), {out(s): 1.0}) for s in range(10)
    ]


def _ways(recipe: _Recipe) -> tuple[Reading, Reading]:
    # Readings that are 0 or more where the vote goes that way, and -4 or less where it goes the other way. What is
    # above 0 is the same for all digits, so it does not change which of them is the highest.
    margin = 0.5 / len(recipe.carriers)
    leaning = times(recipe.strength, recipe.carry)
    return add(leaning, {ONE: -recipe.strength * margin}), add(times(-1.0, leaning), {ONE: -recipe.strength * margin})


def _single(sketch: Sketch, wiring: Wiring, token: Variable) -> None:
    # The sign, and the highest digit of a sum: a carry says whether it is `-`, or 1.
    letter = "M" if token == SGN else "S"
    recipe = _recipe(wiring, token, letter)
    yes, _ = _ways(recipe)
    reads = add({ONE: 1.0}, yes, recipe.closed([wiring.tokens[token]]))
    sketch.neurons[recipe.layer].append(Neuron(reads, {out(MINUS if token == SGN else 1): 1.0}))


def _direct(sketch: Sketch, wiring: Wiring, token: Variable, digit: Variable) -> None:
    # An addition whose digit no MLP has worked out: twice the sum and the carry are one number, and it has a table.
    role, recipe = wiring.description.of(digit)[0], _recipe(wiring, token, "S")
    reads, one = level(role, code_of(role, wiring))
    sums = range(19) if len(code_of(role, wiring)) == 19 else [d // 10 + d % 10 for d in range(100)]
    if recipe.carriers:
        reads = add(times(2.0, reads), times(0.5, recipe.carry), {ONE: 0.5 + 0.25 / len(recipe.carriers)})
        values = [{out((s + carry) % 10): 1.0} for s in sums for carry in (0, 1)]
    else:
        values = [{out(s % 10): 1.0} for s in sums]
    sketch.neurons[recipe.layer] += table(reads, one, values, [wiring.tokens[token]])


def _constants(sketch: Sketch, wiring: Wiring) -> None:
    # What the sign and the highest digit are unless something speaks for another.
    for token, usual in ((SGN, PLUS), (A[wiring.digits], 0)):
        sketch.places[position_of(token, wiring.digits) - 1] = {out(usual): 0.5}
