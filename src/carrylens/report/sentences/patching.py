"""The sentence of `patching`: at which digits and depths the answer follows each interchange.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.battery.patching.measure import (
    COLUMN_PLACE,
    COMBINER_HEADS,
    PatchedCell,
)
from carrylens.arithmetic.battery.patching.summarise import PatchingTold, joined_cells
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.rates import Rate

_NAMED = 4  # how many failing cells the sentence names


def sentence(given: PatchingTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    cells, verdicts = given.cells, given.verdicts
    if not any(cell.answered.hits for cell in cells):
        return "The model answers none of the pairs of questions, so nothing can follow."
    parts = {
        COLUMN_PLACE: "Interchanged at its column's own place, the deciding carry turns all digits above in",
        COMBINER_HEADS: "through the combiner's heads alone, where a digit is predicted, it turns that and no other in",
    }
    told = [f"{parts[site]} {_told(cells, site, some)}" for site, some in verdicts.items()]
    right = sum((cell.answered for cell in cells), Rate(0, 0))
    few = "" if right.hits == right.n else f". Pairs that the model answers: {right.hits} of {right.n}"
    return f"{'; '.join(told)}{few}."


def _told(cells: Sequence[PatchedCell], site: str, verdicts: Sequence[Verdict]) -> str:
    whole = joined_cells(cells, site)
    text = f"{whole.effect}, null {whole.null.value:.3f}"
    if set(verdicts) == {Verdict.SUPPORTED}:
        return f"{text}, surely in most at every digit and depth"
    failing = [str(cell) for cell, each in zip(cells, verdicts, strict=True) if each is Verdict.REFUTED]
    more = f" and {len(failing) - _NAMED} more" if len(failing) > _NAMED else ""
    named = f", surely not in {len(failing)} ({', '.join(failing[:_NAMED])}{more})" if failing else ""
    return f"{text}, surely in most in {verdicts.count(Verdict.SUPPORTED)} of {len(verdicts)} digits and depths{named}"
