"""The statement of a hypothesis: the causal model, and what of it must be seen in a network.

Takes  a causal model and the names of families.
Gives  `Hypothesis`: which positions a variable may stand at, derived from when it can be known and when it is read.
Never  lists claims: `claims.py` derives them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from carrylens.arithmetic.layout import position_of, sequence_length
from carrylens.arithmetic.timeline import first_computable
from carrylens.arithmetic.tokens import place_names
from carrylens.arithmetic.variables import FAMILIES
from carrylens.errors import CarryLensError, quote
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable

Places = Callable[[int], Collection[str]]
"""From a digit to the names of the places at which its variable may stand, such as `lambda k: [f"D'{k}"]`."""


@dataclass(frozen=True)
class Hypothesis:
    """An account of a model: that it runs `model`, and that the variables of the `required` families can be seen to.

    A required variable must be carried for every token of the answer that depends on it. One of a `folded` family only
    for the tokens that read it themselves: TriAdd is associative, so the carries on the way to the one that is read may
    never stand anywhere. `optional` families are looked for and reported. Where `places` has a family, its variables
    may stand only there; else anywhere from where they can be known to where they are read.
    """

    name: str
    model: CausalModel
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    places: Mapping[str, Places] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        known = {variable.name for variable in self.model.variables}
        for name in (*self.required, *self.optional, *self.folded, *self.places):
            if name not in known:
                what = "is no family" if name not in FAMILIES else f"is no family of {self.model.name!r}"
                names = " ".join(sorted(known))
                raise CarryLensError(f"{quote(str(name))} {what}. Name some of {names}.")

    def valid_positions(self, variable: Variable, token: Variable | None) -> tuple[int, ...]:
        """Where `variable` may stand to serve `token`, or any token: known by then, and not after it is read.

        >>> from carrylens.arithmetic import Operation
        >>> from carrylens.arithmetic.variables import A, SV
        >>> from carrylens.arithmetic.hypotheses import left_to_right
        >>> left_to_right(Operation.ADD, 3).valid_positions(SV[1], A[2])  # D'0, =, sign, A3
        (6, 7, 8, 9)
        """
        digits = self.model.digits
        last = sequence_length(digits) - 2 if token is None else predicting_position(token, digits)
        window = range(first_computable(self.model, variable), last + 1)
        if variable.name not in self.places:
            return tuple(window)
        allowed = set(self.places[variable.name](variable.index or 0))
        strangers = allowed - set(place_names(digits))
        if strangers:
            raise CarryLensError(
                f"{self.name!r} puts {variable} at {', '.join(sorted(strangers))}, which is no place of a question "
                f"with {digits} digits. Name some of {' '.join(place_names(digits))}."
            )
        return tuple(position for position in window if place_names(digits)[position] in allowed)


def predicting_position(token: Variable, digits: int) -> int:
    """Where a token of the answer is predicted: the position before it stands."""
    return position_of(token, digits) - 1
