"""The card of `whole-algorithm`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="whole-algorithm",
    title="The whole algorithm, many variables moved at once",
    question="Does the complete causal model say what the model answers when several of its variables take other "
    "questions' values, and does it say so better than every rival?",
    method=(
        "Sites have the nodes that the map claims, or all of their places where there is no map.",
        "Ours and each rival choose what every site holds on questions of their own.",
        "Two or three sites, drawn for each row alone, take the values of sources unrelated to the base.",
        "A hypothesis is right about a row if it predicts the whole answer; rows that merely copy a source do not "
        "count.",
        "Null: its labels moved round one column.",
        "Disambiguation on rows where two hypotheses differ, searched for among many proposals: a sign test of the "
        "rows in which one of them is right, Holm over the rivals.",
        "Scrubbing: all sites at once take values of sources that agree in what each is said to hold.",
        "The map's circuit is scrubbed with the map's labels; null: random roles of the same size.",
        "In mixed models the operator is one of these labels: sites that the map does not say carry it take sources "
        "with the other one; then once more the base's in all sources.",
    ),
    refuted_if="a rival is surely right more often on the rows where they differ. If the hypothesis is wrong about "
    "most rows and no rival knows better, it stays open: the variables may not be divided among these sites. It stays "
    "open too if hardly any row tells a rival from it: then it may be right, but is not shown to be better.",
    paper="no such figure: the hypothesis rests on one variable at a time",
    where="Table of analysis techniques",
)
