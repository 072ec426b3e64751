"""The card of `patching`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="patching",
    title="Patching of carry, borrow and sign",
    question="Is the deciding column's carry (borrow, sign) held at that column's own place and brought to each digit "
    "by the heads of the layer that combines it, at every digit and cascade depth and on every branch?",
    method=(
        "Pairs that differ in the deciding column alone: below d uncertain columns its carry is turned.",
        "Interchange all nodes of the deciding column's own place: all digits above it must become the source's.",
        "Interchange the heads of the combiner's layer alone where the digit is predicted: it must follow, every "
        "other token stay. The layer whose MLP combines is found for each branch on other pairs.",
        "Null: the deciding column has other digits and the same carry.",
        "Subtractions: the same for the sign, whose place is =.",
        "Check: all heads where the digit is predicted, a copy of the source's pass there. No verdict rests on it.",
    ),
    refuted_if="on some branch, at some digit and depth, one of the two interchanges surely leaves most answers as "
    "they were, or its null moves them as often.",
    paper="an interchange of the deciding carry flips exactly the affected digit at 1.00, same-class controls 0.00",
    where="Sections on the resolved carry and on mixed models; one stimulus repeated",
)
