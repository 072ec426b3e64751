"""The card of `axes`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="axes",
    title="Angles between carry and borrow axes",
    question="Do both borrows come to the combiner along one shared direction, and the addition's carry along another?",
    method=(
        "Pairs in which nothing differs at the digit's place but the carry; the streams' difference before the MLP "
        "that combines the branch, which is found on other pairs, is its axis.",
        "Pure pairs: what the other two branches would carry into the digit, which else turns too, stays as it is.",
        "|cos| between the mean differences of two branches, with a bootstrap interval.",
        "Null: the mean difference to sources of the same carry, in units of the effect's length.",
        "Chance: differences of unrelated questions of the same carry. Ceiling: two halves of one branch.",
        "Cosines of all principal angles between the spans of the three largest directions; null: of unrelated "
        "differences.",
        "Pairs of one branch whose difference lies along the other's axis, beyond chance; null: the same carry.",
    ),
    refuted_if="at some digit the borrows' |cos| is surely below one half, or the addition's with one surely above it.",
    paper="|cos| positive-negative .898 (digit 2), .828 (digit 3); add-positive .207, add-negative .226",
    where="Section on mixed models",
)
