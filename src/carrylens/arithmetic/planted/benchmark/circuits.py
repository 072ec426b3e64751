"""Circuits: the planted circuits that methods are scored on, and others on which thresholds are chosen.

Takes  nothing, or the names of dials, operations and digits to keep.
Gives  `PlantedSetting`: one planted circuit, by a name that a file can have.
Never  has a circuit among the training circuits that is also scored, whatever its seed.

Scored circuits turn one dial at a time, and all at once. Training circuits have two digits and several dials
turned together, and are always rotated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Carry, Copies, Dials, Timing, describe
from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.benchmark.known_models import KnownModel
from carrylens.errors import CarryLensError

DIALS = {
    "plain": Dials(),
    "redundancy": Dials(redundancy=3),
    "places": Dials(redundancy=2, copies=Copies.PLACES),
    "sharing": Dials(sharing=True),
    "decoys": Dials(decoys=2),
    "noise": Dials(noise=2),
    "delay": Dials(delay=1),
    "tail": Dials(timing=Timing.TAIL),
    "binary": Dials(carry=Carry.BINARY),
    "rotated": Dials(rotated=True),
    "polysemy": Dials(polysemy=True),
    "all": Dials(redundancy=3, sharing=True, polysemy=True, decoys=2, noise=2, rotated=True),
}
"""What is scored: every dial by itself, then all of those that go together."""

TRAINING_DIALS = {
    "copies and decoys": Dials(redundancy=2, decoys=1, rotated=True),
    "halves and noise": Dials(sharing=True, noise=1, rotated=True),
    "one head, late": Dials(polysemy=True, delay=1, decoys=3, rotated=True),
    "two places, noise": Dials(redundancy=2, copies=Copies.PLACES, noise=1, rotated=True),
}
"""What thresholds are chosen on."""

_IDLE = ("polysemy", Operation.ADD)  # a head serves one operation there, so the circuit is the plain one

DIGITS = (3, 4, 5, 6)
TRAINING_DIGITS = 2
_TRAINING_SEED = 1000
_QUICK = {
    ("plain", Operation.ADD),
    ("redundancy", Operation.ADD),
    ("sharing", Operation.ADD),
    ("decoys", Operation.ADD),
}


@dataclass(frozen=True)
class PlantedSetting:
    """One planted circuit; `seed` is that of its noise and rotation, and of the questions a method draws.

    >>> PlantedSetting("decoys", Operation.ADD, 3, 0).name
    'decoys_add_d3_s0'
    """

    dial: str
    operation: Operation
    digits: int
    seed: int

    @property
    def name(self) -> str:
        """A name for people and files."""
        return f"{self.dial.replace(', ', ' ').replace(' ', '-')}_{self.operation.value}_d{self.digits}_s{self.seed}"

    @property
    def description(self) -> CircuitDescription:
        """The circuit, to be planted."""
        dials = (DIALS | TRAINING_DIALS)[self.dial]
        return describe(self.operation, self.digits, replace(dials, seed=self.seed))

    @property
    def labels(self) -> Mapping[str, object]:
        """What a result says of the circuit besides its name."""
        return {"dial": self.dial, "operation": self.operation.value, "digits": self.digits, "seed": self.seed}

    @property
    def task(self) -> ArithmeticTask:
        """What the circuit is for."""
        return arithmetic_task(self.operation, self.digits)

    @property
    def causal(self) -> Algorithm:
        """The algorithm that the circuit runs."""
        return model_of(self.description)

    def build(self) -> KnownModel:
        """The circuit, planted."""
        planted = plant(self.description)
        return KnownModel(planted.model, self.task, self.causal, known_truth(planted.truth))


def scored_circuits(
    dials: Collection[str] = (), operations: Collection[str] = (), digits: Collection[int] = (), n_seeds: int = 1
) -> list[PlantedSetting]:
    """All circuits, small ones first, or those of the dials, operations and digits named."""
    _check("dial", dials, DIALS)
    _check("operation", operations, [operation.value for operation in Operation])
    if bad := [n for n in digits if not 2 <= n <= 10]:
        raise CarryLensError(f"{bad[0]} digits is not a size of the benchmark's circuits. Give 2 to 10.")
    if n_seeds < 1:
        raise CarryLensError(f"The number of seeds is {n_seeds}. Give at least 1.")
    found = [
        PlantedSetting(dial, operation, n, seed)
        for n in sorted(set(digits) or DIGITS)
        for seed in range(n_seeds)
        for operation in Operation
        if not operations or operation.value in operations
        for dial in DIALS
        if (not dials or dial in dials) and (dial, operation) != _IDLE
    ]
    if not found:
        raise CarryLensError(f"In additions the dial {_IDLE[0]!r} turns nothing. Give another operation.")
    return found


def quick_circuits() -> list[PlantedSetting]:
    """A few small circuits, to see that everything works."""
    return [PlantedSetting(dial, operation, 2, 0) for dial, operation in sorted(_QUICK, key=lambda each: each[0])]


def training_circuits(*, quick: bool = False) -> Iterator[PlantedSetting]:
    """The circuits that thresholds are chosen on."""
    for operation in (Operation.ADD,) if quick else Operation:
        for dial in TRAINING_DIALS:
            yield PlantedSetting(dial, operation, TRAINING_DIGITS, _TRAINING_SEED)


def _check(kind: str, given: Collection[str], known: Collection[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise CarryLensError(f"There is no {kind} {unknown[0]!r}. Write one of {', '.join(known)}.")
