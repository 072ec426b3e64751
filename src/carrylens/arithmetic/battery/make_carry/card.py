"""The card of `make-carry`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="make-carry",
    title="Where each carry is made",
    question="Is each column's carry made at its own place, as soon as the column is complete (the paper's claim), and "
    "does it have three values (ours; the paper's table says binary)?",
    method=(
        "Pairs of questions that differ in one column, whose carry goes between 0 and 1, 0 and U, or 1 and U.",
        "Interchange all nodes of the column's own place; the digits above must become the source's.",
        "Null: a source with other digits in that column and the same carry.",
        "Interchange every place up to = instead, to see whether the carry is made later.",
        "Interchange each node of the place alone, to see whether two of them hold one binary value each.",
        "Unswapped: for digits left out, is the write nearer to the mean of its own value than to the next value's? "
        "Null: the same between digit sums of one value.",
    ),
    refuted_if="for some column the interchange surely leaves most digits as they were: for all its values (then the "
    "carry is made elsewhere), or between 0 and U alone (then it is binary); or two heads hold a binary value each. "
    "What the write holds apart decides nothing: it need not be used.",
    paper="each carry is computed eagerly, in place, as a binary make-carry",
    where="Table of family invariants; PCA shows three clusters",
)
