"""The card of `sufficiency`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="sufficiency",
    title="Only the useful nodes kept",
    question="Do the nodes that are useful one by one suffice: does the model answer when all others are ablated?",
    method=(
        "Useful nodes: those of the map, or those without which a question fails when ablated alone.",
        "Natural questions the model answers; all other nodes write a mean, a class mean, or another question's value.",
        "Mean and other question are of all branches alike, so that ablated nodes do not tell the operation; a class "
        "mean, being of the question's own class, does.",
        "Null: random sets with as many heads and MLPs of each layer at each position, or part of the sequence.",
        "Rates for each token, with only the most important nodes kept, and with mean and other question of the "
        "question's branch alone, are facts too; no verdict rests on them.",
    ),
    refuted_if="on some branch, under some fill, surely fewer than half of the answers stay right, or matched random "
    "sets do as well.",
    paper="add d5: mean .943, resample .623, random sets .000; mix d6, add/positive/negative: mean .893/.483/.357, "
    "resample .527/.047/.047; mix d8: mean .923/.190/.663; signs stay right at 1.00 in all",
    where="Section on the shared skeleton",
)
