"""The card of `combiner`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="combiner",
    title="How an MLP combines digit and carry",
    question="Is the map from the carry that the combiner reads to what it writes a step, rather than a straight line?",
    method=(
        "Pairs in which nothing differs at the digit's place but the carry; the token there is the same.",
        "The combiner: the layer whose MLP turns the digit most often, found for each branch on other pairs.",
        "Its MLP alone reads the writes of its place a share of the way to the source's, in eleven steps.",
        "Logit of the source's digit less the base's, and the MLP's own output along its change, from 0 to 1.",
        "A curve between line and step is fitted to every other share; both are scored on the shares between.",
        "Null: the same way to a source of the same carry.",
        "Null: as far along the carry's direction with its coordinates permuted, in another order for each pair.",
    ),
    refuted_if="on some branch surely fewer than half of the pairs make a step, in logit difference and in the MLP's "
    "output, or a null moves as often.",
    paper="a step function, threshold .75 (add d5, d6, d10), .5 (d13), about .5 (mixed), read through the argmax",
    where="Section on the resolved carry; App. techniques",
)
