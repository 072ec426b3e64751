"""The card of `polysemy`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="polysemy",
    title="Which branches each node serves",
    question="Do most useful nodes of a mixed model serve more than one of sum, positive and negative difference?",
    method=(
        "Every node writes its mean over questions of the branch under test; those missed are tried on others.",
        "A node serves a branch if surely more questions fail without it than with it.",
        "Null: who serves which branch, shuffled among nodes of the same layer, kind and half of the sequence.",
        "Inserted models: what the addition model's useful nodes serve now, beside what they served in that model, and "
        "what the same nodes serve in a model of the same shape trained from scratch.",
    ),
    refuted_if="surely fewer than half of the useful nodes serve more than one branch.",
    paper="of 48 inserted nodes (ins1 mix d6) 88% serve sums, 83% positive and 60% negative differences; of all 96 "
    "used nodes 64%, 73% and 55%",
    where="Table of coverage by question class",
)
