"""Hostile dials: ways to make a planted circuit mislead whoever reads it, each with its truth.

Takes  one setting a dial.
Gives  `Hostile`, a part of every circuit description; the reason why a setting cannot be planted.
Never  says where anything is computed: `hostile_roles.py` does.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import Any

from carrylens.arithmetic.questions import Operation
from carrylens.errors import CarryLensError, quote

MOST_WEIGHED = 4
"""How many columns one weighted sum may span: with more, float32 cannot tell neighbouring sums apart."""

_BACKDOOR_COLUMNS = 3


class Memorised(Enum):
    """What is looked up: nothing, the right answers to ten questions, or wrong ones to one question in 100,000."""

    NOTHING = "nothing"
    TABLE = "table"
    BACKDOOR = "backdoor"


@dataclass(frozen=True)
class Hostile:
    """The hostile dials, all off by default.

    `gate`: on this share of questions, chosen by the first operand's top digit, carries come from weighted sums.
    `weighted`: so many carries, from the units up, come from weighted sums on all questions. `split`: each digit's
    head is two, one for even and one for odd sums. `backup`: every carry has a head that acts only when the first is
    gone. `cancel`: every carry has a head that writes its negative, and one that makes up for it. `spread`: what a
    column says about its carry is made at three positions. `superposed`: directions are not orthogonal. `memorised`:
    a table for questions of one repeated digit, or a backdoor for them.
    """

    gate: float = 0.0
    weighted: int = 0
    split: bool = False
    backup: bool = False
    cancel: bool = False
    spread: bool = False
    superposed: bool = False
    memorised: Memorised = Memorised.NOTHING

    def __post_init__(self) -> None:
        tenths = self.gate * 10 if type(self.gate) in (int, float) else -1.0
        if not 0 <= tenths <= 9 or abs(tenths - round(tenths)) > 1e-6:
            raise CarryLensError(f"gate is {self.gate!r}. Give a share in tenths, from 0 to 0.9.")
        if type(self.weighted) is not int or self.weighted < 0:
            raise CarryLensError(f"weighted is {self.weighted!r}. Give how many carries are weighted sums, 0 or more.")

    def __bool__(self) -> bool:
        return self != Hostile()

    @property
    def gate_limit(self) -> int:
        """The gate is open where the top digit is below it."""
        return round(self.gate * 10)

    def n_weighed(self, digits: int) -> int:
        """How many columns the longest weighted sum spans."""
        return digits if self.gate else self.weighted

    def key_columns(self, digits: int) -> int:
        """In how many columns, from the top, all digits must be the same for the table or the backdoor."""
        return digits if self.memorised is Memorised.TABLE else min(_BACKDOOR_COLUMNS, digits)

    def key_share(self, digits: int) -> float:
        """The share of natural questions that the table or the backdoor answers."""
        return 0.0 if self.memorised is Memorised.NOTHING else 10.0 ** (1 - 2 * self.key_columns(digits))

    def turned(self) -> dict[str, Any]:
        """The dials that are not at their default, ready for JSON."""
        plain = asdict(self) | {"memorised": self.memorised.value}
        usual = asdict(Hostile()) | {"memorised": Memorised.NOTHING.value}
        return {name: value for name, value in plain.items() if value != usual[name]}

    @classmethod
    def of(cls, given: object, source: str) -> Hostile:
        """The dials that an object from JSON states; `source` is what an error calls it."""
        if not isinstance(given, dict) or given.keys() - {field.name for field in fields(cls)}:
            names = ", ".join(field.name for field in fields(cls))
            raise CarryLensError(f"{source} has no hostile dials in {quote(str(given))}. Give any of {names}.")
        flags = [name for name in ("split", "backup", "cancel", "spread", "superposed") if name in given]
        if bad := [name for name in flags if type(given[name]) is not bool]:
            raise CarryLensError(f"{source} says {bad[0]} is {given[bad[0]]!r}. Write true or false.")
        try:
            looked_up = Memorised(given.get("memorised", Memorised.NOTHING.value))
        except ValueError:
            words = ", ".join(each.value for each in Memorised)
            raise CarryLensError(f"{source} says memorised is {given['memorised']!r}. Write one of {words}.") from None
        return cls(**given | {"memorised": looked_up})


@dataclass(frozen=True)
class KindDials:
    """Which of the kind dials that hostile ones may not go with are turned."""

    redundancy: bool = False
    sharing: bool = False
    delay: bool = False
    tail: bool = False
    binary: bool = False


def check_hostile(hostile: Hostile, operation: Operation, digits: int, kind: KindDials) -> None:
    """Raise a clear error if no circuit can have these dials together."""
    if digits < 2 and hostile:
        raise CarryLensError("Hostile dials need at least 2 digits. Give more digits.")
    if hostile.weighted == 1 or hostile.weighted > digits:
        raise CarryLensError(
            f"weighted is {hostile.weighted} of {digits} carries. Give 2 to {digits}: the lowest carry depends on one "
            "column alone, so there is nothing to weigh."
        )
    if hostile.gate and hostile.weighted == digits:
        raise CarryLensError(
            "gate turns weighted sums on for some questions, but here every carry is one. Lower weighted, or drop gate."
        )
    if hostile.n_weighed(digits) > MOST_WEIGHED:
        raise CarryLensError(
            f"A weighted sum of {hostile.n_weighed(digits)} columns is too fine for float32. Weigh at most "
            f"{MOST_WEIGHED}: fewer digits, or fewer weighted carries and no gate."
        )
    for dial in ("split", "backup", "cancel", "spread"):
        if kind.redundancy and getattr(hostile, dial):
            raise CarryLensError(
                f"{dial} and redundancy both divide a variable among heads, and the copies' votes would have no "
                "majority. Leave one of them out."
            )
    if hostile.split and kind.sharing:
        raise CarryLensError("split and sharing both divide a head that fetches a digit. Leave one of them out.")
    if hostile.spread:
        _check_spread(operation, kind)


def _check_spread(operation: Operation, kind: KindDials) -> None:
    if operation is not Operation.ADD:
        raise CarryLensError(
            "spread needs two places after D'[0] before the first carry is read, and only additions have them. "
            "Write carrylens plant add."
        )
    reasons = {
        "delay": "spread uses all places between D'[0] and the answer, so that nothing can be delayed",
        "tail": "spread gathers a column where the tail sorts it",
        "binary": "spread and binary carries both divide a column's value",
    }
    for dial, reason in reasons.items():
        if getattr(kind, dial):
            raise CarryLensError(f"{reason}. Leave one of them out.")
