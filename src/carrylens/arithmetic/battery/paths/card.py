"""The card of `paths`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="paths",
    title="Which edges deliver the carry to the combiner",
    question="Do the heads of the combiner's own layer deliver the resolved carry to it at each digit, on every branch "
    "and at every cascade depth?",
    method=(
        "Pairs in which the deciding column is turned, below d uncertain ones; null: other digits, same carry.",
        "The combiner: the layer whose MLP turns the digit most often, found for each branch on other pairs.",
        "It, where the digit is predicted, and no other component, reads senders of its place as for the source.",
        "Senders: all; its layer's heads, each alone, all but one; all earlier nodes; all, to the logits only.",
        "The best head alone, and the one missed most, are picked on half of the pairs and scored on the other.",
        "Is = an origin or a depot: interchange all nodes there, all before it, and those with = held as it was.",
    ),
    refuted_if="on some branch, at some depth, the heads of its layer surely leave most digits as they were, or the "
    "null moves them as often.",
    paper="delivered carry-specifically to an answer-position combiner by redundant heads; = is a depot, not the "
    "source",
    where="Table of family invariants; App. techniques; worked examples",
)
