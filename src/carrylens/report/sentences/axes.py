"""The sentence of `axes`: whether both borrows share an axis that the carry does not.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic.battery.axes.measure import BOTH_BORROWS
from carrylens.arithmetic.battery.axes.summarise import AxesTold
from carrylens.arithmetic.questions import Operation


def sentence(given: AxesTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    subject, found, together, layers = given.subject, given.found, given.together, given.layers
    if subject.operation is not Operation.MIX:
        return "Only a model that adds and subtracts has several axes to compare."
    if not found:
        return "The model answers too few of the questions for an axis to be seen."
    parts = []
    for name in dict.fromkeys(angle.name for angle in found):
        values = [angle.cos.value for angle in found if angle.name == name]
        parts.append(f"{name} {min(values):.2f} to {max(values):.2f}")
    null, chance = max(angle.cos.null_high for angle in found), max(angle.chance for angle in found)
    both = [angle.cos.value for angle in together]
    spans = [each for angle in found if angle.name == BOTH_BORROWS for each in angle.principal]
    ranks = dict.fromkeys(each.name.partition(",")[0] for each in spans)
    means = [np.mean([each.value for each in spans if each.name.startswith(rank)]) for rank in ranks]
    nulls = [np.mean([each.null for each in spans if each.name.startswith(rank)]) for rank in ranks]
    shown, beside = (", ".join(f"{mean:.2f}" for mean in some) for some in (means, nulls))
    apart = ", ".join(f"{branch.value} {layer}" for branch, layer in layers.items())
    where = f" before combiners of different layers ({apart})," if len(set(layers.values())) > 1 else ""
    return (
        "The paper says that both borrows share one direction and the addition's carry has another. |cos| by digit,"
        f"{where} each borrow turned alone: {'; '.join(parts)}; sources of the same carry up to {null:.2f}, chance "
        f"{chance:.2f}. Turned together, as one column always turns them, the borrows look like {min(both):.2f} to "
        f"{max(both):.2f}. Principal angles between their subspaces have mean cosines {shown} (those with unrelated "
        f"differences: {beside})."
    )
