"""The suite of aligned models: which algorithms, variants, widths and seeds are trained.

Takes  nothing.
Gives  `AlignedRow` for each model: its name, which tells nothing of its circuit, and its alignment.
Never  trains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from carrylens.alignment import Alignment
from carrylens.arithmetic.aligned.named_algorithms import algorithm_called
from carrylens.arithmetic.aligned.sites import Variant, alignment_of, shape_for
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation

_ADD, _SUB, _MIX = Operation.ADD, Operation.SUB, Operation.MIX
_USUAL, _BINARY = "left-to-right {}", "left-to-right {} with binary carries"
_WEIGHTED, _GATED = "weighted-sum {}", "left-to-right {}, weighted-sum on {}0%"
_ONE, _NINE = "one-layer add", "one-layer add with sum 9"


@dataclass(frozen=True)
class AlignedRow:
    """One model to train."""

    operation: Operation
    digits: int
    algorithm: str
    variant: Variant
    seed: int
    n_steps: int
    width: int

    @property
    def name(self) -> ModelName:
        """What the model is called."""
        shape = shape_for(self.operation)
        return ModelName(
            operation=self.operation,
            digits=self.digits,
            n_layers=shape.n_layers,
            n_heads=shape.n_heads,
            n_steps=self.n_steps,
            seed=self.seed,
            width=self.width,
        )

    @property
    def alignment(self) -> Alignment:
        """Where its variables are to stand."""
        return alignment_of(algorithm_called(self.algorithm, self.operation, self.digits), self.variant)


@dataclass(frozen=True)
class _Kind:
    """Models of one algorithm and variant; `seeds` has how many there are for each number of digits, from the first."""

    first_seed: int
    operation: Operation
    algorithm: str
    seeds: tuple[tuple[int, int], ...]
    variant: Variant = Variant.PLAIN
    n_steps: int = 2000
    width: int = 72


_KINDS = (
    _Kind(100, _ADD, _USUAL.format("add"), ((3, 3), (4, 2), (5, 1))),
    _Kind(110, _ADD, _GATED.format("add", 3), ((3, 3), (4, 1)), n_steps=3000),
    _Kind(120, _ADD, _WEIGHTED.format("add"), ((3, 3), (4, 1))),
    _Kind(130, _SUB, _USUAL.format("sub"), ((3, 3), (4, 1))),
    _Kind(140, _ADD, _ONE, ((3, 3), (4, 1))),
    _Kind(150, _ADD, _BINARY.format("add"), ((3, 3),)),
    _Kind(160, _MIX, _USUAL.format("mix"), ((3, 3),), n_steps=3000),
    _Kind(170, _ADD, _GATED.format("add", 5), ((3, 3),), n_steps=3000),
    _Kind(181, _ADD, _GATED.format("add", 1), ((3, 3),), n_steps=5000),
    _Kind(190, _ADD, _USUAL.format("add"), ((3, 1),), Variant.REDUNDANT),
    _Kind(200, _ADD, _USUAL.format("add"), ((3, 2),), Variant.POLYSEMANTIC),
    _Kind(210, _ADD, _USUAL.format("add"), ((3, 2), (5, 1)), Variant.LEAN),
    _Kind(220, _ADD, _NINE, ((4, 2),)),
    _Kind(230, _SUB, _GATED.format("sub", 3), ((3, 1),), n_steps=3000),
)


def aligned_rows() -> Iterator[AlignedRow]:
    """Every model of the suite; no two have one seed."""
    for kind in _KINDS:
        seed = kind.first_seed
        for digits, count in kind.seeds:
            for _ in range(count):
                yield AlignedRow(kind.operation, digits, kind.algorithm, kind.variant, seed, kind.n_steps, kind.width)
                seed += 1
