"""The card of `necessity`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="necessity",
    title="Single heads, all heads of a place, untagged heads",
    question="Is no single head that makes or delivers a carry necessary, while all heads of its place together are?",
    method=(
        "Delivery: the combiner's layer's heads where digit j is predicted. Making: earlier heads at a column's place.",
        "Delivery: heads write the mean of two questions, with the carry and without. Making: their mean over many.",
        "Do so to all heads of the place, each alone, and untagged ones; count digits that are off by just the carry.",
        "The worst single head is picked on one split and scored on another.",
        "Paired tests of the same questions, Holm over places; those that stay open get four times as many questions.",
    ),
    refuted_if="at some place one head alone is surely missed at least half as much as all of them.",
    paper="no single node is necessary; necessity appears at the class level, and the gap grows with digits",
    where="Table of family invariants",
)
