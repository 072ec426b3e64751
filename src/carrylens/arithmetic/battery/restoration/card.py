"""The card of `restoration`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="restoration",
    title="What the map misses, and what brings it back",
    question="Where the useful nodes alone do not suffice, do a few others restore the answers, and not just any?",
    method=(
        "Keep the tagged nodes; the rest write a mean or another question's value, whichever leaves fewer right. Both "
        "are of all branches alike, so that ablated nodes do not tell the operation.",
        "On one split rank untagged nodes by how much adding each alone restores, and choose how many to add.",
        "On another split, of the questions that fail, count those the chosen nodes bring back.",
        "Null: random nodes, neither tagged nor chosen, of the same kinds and layers, at most two places away where "
        "any are left; each failing question has a set of its own.",
        "Paired test of the same questions, chosen against random; the difference has an interval.",
        "Read carry or sign off what the chosen nodes write (floor: shuffled labels); interchange those of a place "
        "together.",
    ),
    refuted_if="on some branch surely fewer than half of the failing questions come back, or random additions bring "
    "back as many, or surely most of them too: then just any do.",
    paper="mix d6: best 5/10/20 nodes .940/.963/1.0 (random .49/.63/.58) on positive differences, .990/1.0 with 5/10 "
    "on negative ones; their write decodes the borrow at 1.00, interchanged together they turn the digit at 1.00, "
    "null 0.00",
    where="Section on mixed models; ranked and scored on the same questions",
)
