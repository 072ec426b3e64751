"""The sentence of `sufficiency`: how many answers stay right with the useful nodes alone, beside matched random sets.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic.battery.sufficiency.summarise import SufficiencyTold


def sentence(given: SufficiencyTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    found, tagged, subject = given.found, given.tagged, given.subject
    if not found:
        return "There is nothing to keep: no node is useful, all are, or the model answers too few questions."
    parts = [
        f"{each.branch.value} {'/'.join(f'{rate.value:.2f}' for rate in each.whole)} "
        f"(matched random sets {'/'.join(f'{rate.value:.2f}' for rate in each.null)})"
        for each in found
    ]
    text = (
        f"With {len(tagged.nodes)} of {len(subject.nodes)} nodes kept, tagged by {tagged.by}, the share of answers "
        f"that stay right under mean/class-mean/resample is {'; '.join(parts)}. "
    )
    if own := [f"{each.branch.value} {'/'.join(f'{r.value:.2f}' for r in each.own)}" for each in found if each.own]:
        text += (
            "Mean and resample are of all branches alike, so what is ablated does not tell which operation is asked; "
            f"a class mean does. Mean/resample of the asked branch alone would keep {'; '.join(own)}. "
        )
    return text + (
        "Random sets are matched in kind, layer and position, and share "
        f"{np.mean([each.common for each in found]):.2f} of their nodes with those kept."
    )
