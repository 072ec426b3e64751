"""The hostile suite: planted circuits that mislead, each with the verdict that every hypothesis about it deserves.

Takes  an operation, a number of digits, a seed.
Gives  `HostilePlant`: a name, a description, the deserved verdicts.
Never  plants: a description is turned into a model by whoever scores with it.

Every dial by itself, then some with kind dials, then some together. What a width or operation cannot have is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.deserved import DeservedVerdict, deserved_verdicts
from carrylens.arithmetic.planted.dials import Carry, Dials, Timing, describe
from carrylens.arithmetic.planted.hostile import MOST_WEIGHED, Hostile, Memorised
from carrylens.arithmetic.questions import Operation


@dataclass(frozen=True)
class HostilePlant:
    """A hostile circuit, by a name that a file can have."""

    name: str
    description: CircuitDescription

    @property
    def deserved(self) -> tuple[DeservedVerdict, ...]:
        """The verdict that each known hypothesis deserves, the left-to-right one first."""
        return deserved_verdicts(self.description)


def hostile_descriptions(operation: Operation, digits: int, seed: int = 0) -> tuple[HostilePlant, ...]:
    """All hostile circuits for `operation`, rotated by `seed`.

    >>> plant = hostile_descriptions(Operation.ADD, 3)[1]
    >>> plant.name, plant.deserved[0].verdict.value, plant.deserved[0].questions
    ('gate-30', 'runs in part', 0.7)
    """
    turned = {name: replace(dials, rotated=True, seed=seed) for name, dials in _dials(operation, digits)}
    return tuple(HostilePlant(name, describe(operation, digits, dials)) for name, dials in turned.items())


def _dials(operation: Operation, digits: int) -> Iterator[tuple[str, Dials]]:
    for name, hostile in _singles(operation, digits).items():
        yield name, Dials(hostile=hostile)
    if digits <= MOST_WEIGHED:
        gate = Hostile(gate=0.3)
        yield "gate-30_copies", Dials(redundancy=3, hostile=gate)
        yield "gate-30_shared", Dials(sharing=True, decoys=1, hostile=gate)
        yield "gate-30_tail", Dials(timing=Timing.TAIL, noise=1, hostile=gate)
        yield "gate-30_binary", Dials(carry=Carry.BINARY, polysemy=True, hostile=gate)
        yield "gate-30_superposed", Dials(hostile=replace(gate, cancel=True, backup=True, split=True, superposed=True))
    kept = Hostile(split=True, backup=True, cancel=True, superposed=True)
    yield "kept_together", Dials(decoys=1, noise=1, hostile=replace(kept, spread=operation is Operation.ADD))
    yield "cancel_shared", Dials(sharing=True, decoys=2, hostile=Hostile(cancel=True))
    yield "backdoor_copies", Dials(redundancy=3, hostile=Hostile(memorised=Memorised.BACKDOOR))


def _singles(operation: Operation, digits: int) -> dict[str, Hostile]:
    found = {}
    if digits <= MOST_WEIGHED:
        found = {f"gate-{tenths}0": Hostile(gate=tenths / 10) for tenths in (1, 3, 5)}
        found["weighted-all"] = Hostile(weighted=digits)
    if digits > 2:
        found["weighted-some"] = Hostile(weighted=min(digits - 1, MOST_WEIGHED))
    found |= {"split": Hostile(split=True), "backup": Hostile(backup=True), "cancel": Hostile(cancel=True)}
    found["superposed"] = Hostile(superposed=True)
    if operation is Operation.ADD:
        found["spread"] = Hostile(spread=True)
    return found | {each.value: Hostile(memorised=each) for each in (Memorised.TABLE, Memorised.BACKDOOR)}
