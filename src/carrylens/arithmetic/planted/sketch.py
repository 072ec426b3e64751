"""The sketch: what every head and neuron of a planted model is to do, in named directions and before any matrix.

Takes  what to attend to, what to read and what to write, by the names of residual directions.
Gives  `Sketch`, which `assembly.py` turns into weights.
Never  knows an algorithm, a width or a basis.

A direction is a name such as `pos 9` or `ST bit 0`. `ONE` is 1 at every place and in every pass; thresholds are read
from it rather than from a bias, so that a neuron compares two parts of one vector and LayerNorm's scale cancels out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

ONE = "one"
DIGIT, MINUS = "digit", "minus"
"""What a token says: its digit over 9, and whether it is `-`."""

Reading = Mapping[str, float]
"""Directions and the weights they are read or written with."""


def pos(position: int) -> str:
    """The direction that marks a position."""
    return f"pos {position}"


def out(token: int) -> str:
    """The direction that votes for a token as the next one."""
    return f"out {token}"


@dataclass(frozen=True)
class Neuron:
    """One ReLU neuron: the positive part of what it reads, written to some directions."""

    reads: Reading
    writes: Reading


@dataclass
class HeadSketch:
    """One head: queries, keys and values, each from a residual direction to a named dimension of the head."""

    queries: dict[tuple[str, str], float] = field(default_factory=dict)
    keys: dict[tuple[str, str], float] = field(default_factory=dict)
    moves: dict[tuple[str, str], float] = field(default_factory=dict)

    def ask(self, position: int, wanted: Reading) -> None:
        """From `position`, look for places whose key has these dimensions."""
        for dimension, weight in wanted.items():
            self.queries[pos(position), dimension] = weight

    def show(self, direction: str, dimension: str, weight: float = 1.0) -> None:
        """Let a residual direction be seen in a key dimension."""
        self.keys[direction, dimension] = weight

    def move(self, source: str, target: str, weight: float = 1.0) -> None:
        """Bring what stands in direction `source` home to direction `target`."""
        self.moves[source, target] = weight

    @property
    def size(self) -> int:
        """How many dimensions the head needs."""
        dimensions = {dimension for _, dimension in (*self.queries, *self.keys)}
        return max(len(dimensions), len({source for source, _ in self.moves}), 1)


@dataclass
class Sketch:
    """All heads and neurons, and what places write before the first layer.

    The constant vector's length is `anchor` times the square root of 2: the longer it is, the less LayerNorm's scale
    depends on all else, and the coarser float32 is. In a `fine` sketch numbers are compared to one part in ten
    thousand: what stands before the first layer must be equally long, and a rotation leaves the constant vector alone.
    """

    n_layers: int
    n_heads: int
    anchor: float = 300.0
    fine: bool = False
    heads: dict[tuple[int, int], HeadSketch] = field(default_factory=dict)
    neurons: list[list[Neuron]] = field(default_factory=list)
    places: dict[int, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.neurons = [[] for _ in range(self.n_layers)]

    def head(self, layer: int, number: int) -> HeadSketch:
        """The head with that number."""
        return self.heads.setdefault((layer, number), HeadSketch())

    def directions(self) -> list[str]:
        """Every direction that is read or written, without `ONE`."""
        names = [name for place in self.places.values() for name in place]
        for head in self.heads.values():
            names += [direction for direction, _ in (*head.queries, *head.keys)]
            names += [name for move in head.moves for name in move]
        for neuron in (neuron for layer in self.neurons for neuron in layer):
            names += [*neuron.reads, *neuron.writes]
        return [name for name in dict.fromkeys(names) if name != ONE]


def gate_at(positions: Iterable[int], strength: float) -> dict[str, float]:
    """A reading that is 0 at these positions and -strength at all others."""
    return {ONE: -strength} | {pos(position): strength for position in positions}


def add(*readings: Reading) -> dict[str, float]:
    """The sum of readings."""
    total: dict[str, float] = {}
    for reading in readings:
        for name, weight in reading.items():
            total[name] = total.get(name, 0.0) + weight
    return total


def times(factor: float, reading: Reading) -> dict[str, float]:
    """A reading, scaled."""
    return {name: factor * weight for name, weight in reading.items()}


def table(level: Reading, one: Reading, values: Sequence[Reading], positions: Iterable[int]) -> list[Neuron]:
    """Neurons that write `values[i]` where `level` reads i, at these positions only.

    Between whole numbers the values change in a straight line, so that every bend is one neuron. `one` reads 1 where
    the level is there. If it and the level read 0, as when a head is removed, nothing is written.
    """
    steps = [add(upper, times(-1.0, lower)) for lower, upper in pairwise(values)]
    gate = gate_at(positions, len(values) + 4.0)
    bends = [_nonzero(values[0])]
    bends += [
        _nonzero(add(step, times(-1.0, before))) for before, step in zip([{}, *steps], [*steps, {}], strict=False)
    ]
    neurons = [Neuron(add(one, gate), bends[0])]
    neurons += [Neuron(add(level, times(-float(i), one), gate), bend) for i, bend in enumerate(bends[1:-1])]
    return [neuron for neuron in neurons if neuron.writes]


def _nonzero(reading: Reading) -> dict[str, float]:
    return {name: weight for name, weight in reading.items() if weight}
