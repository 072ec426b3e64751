"""Combining: the MLPs that make the answer's tokens from digits, carries, operator and sign.

Takes  a `Wiring` and the `Sketch` of the rest.
Gives  the sketch with the combining neurons in it.
Never  decides what is combined: the causal model's parents of each token do.

For each digit value and each carry there is a neuron that is open if the carry's vote goes that way, and then passes
the digit's votes on to the digit plus (or less) the carry. For subtraction and mixed models there is a set for each of
addition, positive and negative difference, and the operator and the sign close all but one. Where a token can take more
than one route there is a set for each, and the gate and the key close all but one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.planted.algorithm_of import DIGITS, RESOLVED
from carrylens.arithmetic.planted.directions import GATE, KEY_FITS, carried, looked_up, minus_seen, vote, weighed
from carrylens.arithmetic.planted.fetching import code_of, level
from carrylens.arithmetic.planted.hostile import Memorised
from carrylens.arithmetic.planted.hostile_algorithm import KEY
from carrylens.arithmetic.planted.hostile_circuit import level_places
from carrylens.arithmetic.planted.hostile_roles import WEIGHED_NAMES
from carrylens.arithmetic.planted.sketch import ONE, Neuron, Reading, Sketch, add, gate_at, out, table, times
from carrylens.arithmetic.planted.wiring import Wiring, extra_carriers, fetched
from carrylens.arithmetic.tokens import MINUS, PLUS
from carrylens.arithmetic.variables import OPR, SGN, A
from carrylens.tasks.variables import Variable

_MODES = {"S": (0, None), "M": (1, 0), "N": (1, 1)}
"""For each family the operator, and the sign, for which it makes the answer."""

_NAMES = {"S": "SA", "M": "MD", "N": "ND"}


@dataclass(frozen=True)
class _Recipe:
    # What a token's neurons read: equal recipes share their neurons. `conditions` are directions and what they must be,
    # `shift` is how much the digit is turned on besides any carry.
    layer: int
    letter: str
    name: str
    carriers: tuple[tuple[str, float], ...] = ()
    n_votes: int = 1
    conditions: tuple[tuple[str, int], ...] = ()
    shift: int = 0

    @property
    def carry(self) -> dict[str, float]:
        # Above 0 if most copies vote for a carry, else below; a tie counts as no carry, so it is never 0.
        return {name: weight / self.n_votes for name, weight in self.carriers} | {ONE: -0.5 / self.n_votes}

    @property
    def strength(self) -> float:
        return 8.0 * self.n_votes

    def closed(self, positions: list[int]) -> dict[str, float]:
        # 0 where this recipe makes the answer, else far below.
        closing = 4.0 * self.strength
        reading = gate_at(positions, closing)
        for direction, wanted in self.conditions:
            reading = add(reading, {ONE: -closing * wanted, direction: closing * (2 * wanted - 1)})
        return reading


def add_combiners(sketch: Sketch, wiring: Wiring) -> None:
    """Add the neurons that make every token of the answer, and what places say by themselves."""
    _constants(sketch, wiring)
    together: dict[_Recipe, list[int]] = {}
    for token, place in wiring.tokens.items():
        digits = wiring.parents(token, DIGITS)
        if digits and not wiring.description.of(digits[0])[0].mlps:
            _direct(sketch, wiring, token, digits[0])
            continue
        for letter in [digit.name[0] for digit in digits] or ["M" if token == SGN else "S"]:
            for recipe in _recipes(wiring, token, letter):
                if digits or not recipe.carriers:
                    together.setdefault(recipe, []).append(place)
                else:
                    _single(sketch, recipe, token, place)
    for recipe, places in together.items():
        sketch.neurons[recipe.layer] += _adder(recipe, places)
    if wiring.description.hostile.n_weighed(wiring.digits):
        level_places(sketch)


def _recipes(wiring: Wiring, token: Variable, letter: str) -> list[_Recipe]:
    # One for each route that the token can take.
    combiner, parents = wiring.combiner(token), wiring.model.by_variable[token].parents
    assert combiner is not None
    chosen = [wiring.selector(token, v) if v in parents else None for v in (OPR, SGN)]
    modes = zip(chosen, _MODES[letter], strict=True)
    always = tuple((minus_seen(head), wanted) for head, wanted in modes if head is not None and wanted is not None)
    start = _Recipe(combiner.layer, letter, _NAMES[letter], conditions=always)
    carries = [_brought_carry(wiring, token, letter), _weighed_carry(wiring, token, letter)]
    routes = [carry for carry in carries if carry[0]]
    found = [replace(start, carriers=carriers, n_votes=n_votes) for carriers, n_votes in routes] or [start]
    if len(found) == 2:
        found = [_if(recipe, GATE, wanted) for wanted, recipe in enumerate(found)]
    looks_up = wiring.description.hostile.memorised is Memorised.TABLE
    if KEY.variable not in parents or (looks_up and letter == "N"):
        return found
    other = replace(start, name=looked_up(letter)) if looks_up else replace(start, shift=1)
    return [*(_if(recipe, KEY_FITS, 0) for recipe in found), _if(other, KEY_FITS, 1)]


def _if(recipe: _Recipe, direction: str, wanted: int) -> _Recipe:
    return replace(recipe, conditions=(*recipe.conditions, (direction, wanted)))


def _brought_carry(wiring: Wiring, token: Variable, letter: str) -> tuple[tuple[tuple[str, float], ...], int]:
    # The directions in which heads bring a resolved carry, how much each counts, and how many votes there are.
    found: list[tuple[str, float]] = []
    carries = [parent for parent in wiring.parents(token, RESOLVED) if parent.name[0] == letter]
    for carry in carries:
        found += [(carried(role.heads[0], letter), 1.0) for role in wiring.carriers(token, carry)]
    n_votes = max(1, len(found))
    for carry in carries:
        for name, role in extra_carriers(wiring, token, carry).items():
            found.append((carried(role.heads[0], letter), -1.0 if name == "negative" else 1.0))
    return tuple(found), n_votes


def _weighed_carry(wiring: Wiring, token: Variable, letter: str) -> tuple[tuple[tuple[str, float], ...], int]:
    carries = [parent for parent in wiring.parents(token, WEIGHED_NAMES) if parent.name[1] == letter]
    found = [(weighed(role.heads[0], letter), 1.0) for carry in carries for role in fetched(wiring, token, carry)]
    return tuple(found), max(1, len(found))


def _adder(recipe: _Recipe, places: list[int]) -> list[Neuron]:
    closed, step = recipe.closed(places), 1 if recipe.letter == "S" else -1
    votes, turned = [{vote(recipe.name, s): 1.0} for s in range(10)], [(s + recipe.shift) % 10 for s in range(10)]
    if not recipe.carriers:
        return [Neuron(add(votes[s], closed), {out(turned[s]): 1.0}) for s in range(10)]
    yes, no = _ways(recipe)
    return [Neuron(add(votes[s], yes, closed), {out((turned[s] + step) % 10): 1.0}) for s in range(10)] + [
        Neuron(add(votes[s], no, closed), {out(turned[s]): 1.0}) for s in range(10)
    ]


def _ways(recipe: _Recipe) -> tuple[Reading, Reading]:
    # Readings that are 0 or more where the vote goes that way, and -4 or less where it goes the other way. What is
    # above 0 is the same for all digits, so it does not change which of them is the highest.
    margin = 0.5 / recipe.n_votes
    leaning = times(recipe.strength, recipe.carry)
    return add(leaning, {ONE: -recipe.strength * margin}), add(times(-1.0, leaning), {ONE: -recipe.strength * margin})


def _single(sketch: Sketch, recipe: _Recipe, token: Variable, place: int) -> None:
    # The sign, and the highest digit of a sum: a carry says whether it is `-`, or 1.
    yes, _ = _ways(recipe)
    reads = add({ONE: 1.0}, yes, recipe.closed([place]))
    sketch.neurons[recipe.layer].append(Neuron(reads, {out(MINUS if token == SGN else 1): 1.0}))


def _direct(sketch: Sketch, wiring: Wiring, token: Variable, digit: Variable) -> None:
    # An addition whose digit no MLP has worked out: twice the sum and the carry are one number, and it has a table.
    role, (recipe,) = wiring.description.of(digit)[0], _recipes(wiring, token, "S")
    reads, one = level(role, code_of(role, wiring))
    sums = range(19) if len(code_of(role, wiring)) == 19 else [d // 10 + d % 10 for d in range(100)]
    if recipe.carriers:
        reads = add(times(2.0, reads), times(0.5, recipe.carry), {ONE: 0.5 + 0.25 / recipe.n_votes})
        values = [{out((s + carry) % 10): 1.0} for s in sums for carry in (0, 1)]
    else:
        values = [{out(s % 10): 1.0} for s in sums]
    sketch.neurons[recipe.layer] += table(reads, one, values, [wiring.tokens[token]])


def _constants(sketch: Sketch, wiring: Wiring) -> None:
    # What the sign and the highest digit are unless something speaks for another.
    for token, usual in ((SGN, PLUS), (A[wiring.digits], 0)):
        sketch.places[position_of(token, wiring.digits) - 1] = {out(usual): 0.5}
