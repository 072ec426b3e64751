"""Layout places: where inputs stand and outputs are read.

Takes  one `Slot` for every position.
Gives  names of places, where each input arrives, where each output is predicted.
Never  knows a token's id: `layout.py` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class Slot:
    """One position, called `name`: a constant `token`, the value of an `input`, or an `output` that is fed back.

    `reads` is the output whose logits are read at this very position, where outputs are not fed back.
    """

    name: str
    token: str | None = None
    input: Variable | None = None
    output: Variable | None = None
    reads: Variable | None = None

    def __post_init__(self) -> None:
        if [self.token, self.input, self.output].count(None) != 2:
            raise CarryLensError(f"The place {self.name} holds several things, or nothing. Give a token or a variable.")

    @property
    def variable(self) -> Variable | None:
        """The input or output that stands here."""
        return self.input or self.output


@dataclass(frozen=True)
class LayoutPlaces:
    """The positions of a question and its outputs."""

    vocabulary: tuple[str, ...]
    slots: tuple[Slot, ...]

    @property
    def n_positions(self) -> int:
        """How many tokens a question and its outputs take."""
        return len(self.slots)

    @property
    def place_names(self) -> tuple[str, ...]:
        """The name of every position."""
        return tuple(slot.name for slot in self.slots)

    def arrival_of(self, variable: Variable) -> int:
        """Where an input stands. One that stands nowhere is the same in all questions, and known from the start."""
        return self._arrival.get(variable, 0)

    @cached_property
    def _arrival(self) -> Mapping[Variable, int]:
        return {slot.input: at for at, slot in enumerate(self.slots) if slot.input is not None}

    @cached_property
    def _read_at(self) -> Mapping[Variable, int]:
        found = {slot.output: at - 1 for at, slot in enumerate(self.slots) if slot.output is not None and at}
        return found | {slot.reads: at for at, slot in enumerate(self.slots) if slot.reads is not None}

    @cached_property
    def outputs(self) -> tuple[Variable, ...]:
        """The outputs, in the order in which they are predicted."""
        return tuple(sorted(self._read_at, key=self._read_at.__getitem__))

    def read_position(self, output: Variable) -> int:
        """Where an output is predicted."""
        return self._read_at[output]

    @cached_property
    def read_positions(self) -> tuple[int, ...]:
        """Where each output is predicted, in their order."""
        return tuple(self._read_at[output] for output in self.outputs)

    @cached_property
    def reads(self) -> range:
        """The positions from the first to the last at which an output is predicted."""
        return range(min(self.read_positions), max(self.read_positions) + 1)

    @cached_property
    def n_question(self) -> int:
        """How many positions are there before the first output stands: all, where none is fed back."""
        return next((at for at, slot in enumerate(self.slots) if slot.output is not None), self.n_positions)

    @property
    def is_fed_back(self) -> bool:
        """Whether the model reads its own outputs."""
        return self.n_question < self.n_positions

    def _output_place(self, output: Variable) -> str:
        """The name of the place where an output stands, or is read."""
        at = self._read_at[output]
        return self.slots[at].name if self.slots[at].reads == output else self.slots[at + 1].name

    @cached_property
    def output_places(self) -> tuple[str, ...]:
        """The name of every output's place, in the order of the outputs."""
        return tuple(self._output_place(output) for output in self.outputs)
