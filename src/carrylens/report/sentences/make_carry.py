"""The sentence of `make-carry`: where each carry is made, and with how many values.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.battery.make_carry.summarise import MADE_IN_PLACE, NOT_ASKED, MakeCarryTold, column_name
from carrylens.arithmetic.battery.make_carry.written_classes import BESIDE, Cut, classes_told, pool


def sentence(given: MakeCarryTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    found, kinds, cuts = given.found, given.kinds, given.cuts
    counts = {
        kind: [column_name(c) for c, each in zip(found, kinds, strict=True) if each == kind]
        for kind in dict.fromkeys(kinds)
    }
    if set(counts) == {NOT_ASKED}:
        return "The model answers too few of the questions for any column to be asked."
    parts = [
        f"{len(names)} {kind}" + ("" if kind == MADE_IN_PLACE else f" ({', '.join(names)})")
        for kind, names in counts.items()
    ]
    return f"Of {len(found)} columns' carries, made: {'; '.join(parts)}{_says_written(cuts)}."


def _says_written(cuts: Sequence[Cut]) -> str:
    if not cuts:
        return ""
    classes = classes_told(cuts)
    kinds = {kind: [name for name in classes if classes[name][0] == kind] for kind, _ in classes.values()}
    plain = {cut: [name for name in classes if cut in classes[name][1]] for cut in BESIDE}
    held = ", ".join(kind if len(kinds) == 1 else f"{kind} ({', '.join(names)})" for kind, names in kinds.items())
    but = " and ".join(f"{cut} ({', '.join(names)})" for cut, names in plain.items() if names)
    rates = {name: pool([cut for cut in cuts if cut.name == name]) for name in BESIDE}
    figures = ", ".join(f"{name} in {told.value:.2f} ({sums.value:.2f})" for name, (told, sums, _) in rates.items())
    return (
        f". What the columns' places write holds apart: {held}; for digits left out {figures}, in brackets "
        "neighbouring sums, or differences, of one value" + (f"; no surer than those: {but}" if but else "")
    )
