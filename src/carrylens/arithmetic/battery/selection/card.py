"""The card of `selection`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="selection",
    title="How a sum or a difference is chosen",
    question="Does the selector's state choose among sum, positive and negative difference at every digit, and is the "
    "choice more than one direction of that state?",
    method=(
        "Level of a turn: the first entry of a layer at which the whole state where the digit is predicted, taken from "
        "the same operands with the other operator or from the same question read with the other sign, turns half the "
        "digits of some questions.",
        "State: the same on other questions; for the sign also its place, from a question of other operands. Null: a "
        "source of the same branch, with the same column and digit, other digits elsewhere.",
        "Rank: at that level, go to the source's state within the best subspace of rank r, by the best share, both "
        "found on other questions; sources of the same operands, and of others; ceiling: the whole state; null: random "
        "subspaces.",
        "Beside the paper alone: behind the last heads, where the digit is chosen already.",
    ),
    refuted_if="some digit surely does not follow the selector's state, or the null moves it as often; or one "
    "direction surely turns most digits, and more than random ones do.",
    paper="state patch .96 (54 pairs, digit 2); rank-1 steering turns none",
    where="Section on mixed models and polysemantic reuse",
)
