"""The sentence of `paths`: which edges deliver the carry, how many heads share it, and what = is.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.paths.measure import (
    ALL_EDGES,
    EARLIER,
    LAYER_HEADS,
)
from carrylens.arithmetic.battery.paths.summarise import (
    PathsTold,
    counted_roles,
    delivery_of,
    joined_paths,
    role_of_equals,
)


def sentence(given: PathsTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    cells, digits, layers = given.cells, given.digits, given.layers
    if not cells:
        return "The model answers too few of the questions for a carry to be delivered."
    parts = []
    for branch in dict.fromkeys(cell.branch for cell in cells):
        mine = [cell for cell in cells if cell.branch is branch]
        heads, earlier, every = (joined_paths(mine, name) for name in (LAYER_HEADS, EARLIER, ALL_EDGES))
        parts.append(
            f"{branch.value}, combined by the MLP of layer {layers[branch]}: through the heads of that layer the digit "
            f"turns in {heads.effect.value:.2f} of pairs (null {heads.null.value:.2f}), from earlier nodes there "
            f"in {earlier.effect.value:.2f}, all edges {every.effect.value:.2f}"
        )
    heads_of, equals = map(delivery_of, digits), map(role_of_equals, cells)
    return (
        f"{'; '.join(parts)}. Digits by what delivers their carry: {counted_roles(list(heads_of))}. Columns that "
        f"decide a digit by what = is for them: {counted_roles(list(equals))}."
    )
