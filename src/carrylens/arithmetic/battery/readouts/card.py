"""The card of `lenses`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="lenses",
    title="Other lenses: unembedding, autoencoder, first guess",
    question="Is each token of the answer readable by the unembedding only in the last layer of its own place; do the "
    "features of a sparse autoencoder tell sub-task values better than neurons; is the sign guessed from the first "
    "digit?",
    method=(
        "Logit lens at every place from D'0 and every half layer; null: other questions' answers.",
        "Autoencoders with as many features as neurons on MLP outputs, at each weight of a fixed ladder of sparsity, "
        "with several seeds; best unit for each value, scored on others; intervals reach over all seeds; how much "
        "of the outputs they rebuild, and with how many features at once.",
        "The sign's logits at the places of the first operand; beside the best guess and untrained twins.",
        "The three have verdicts of their own; that of the whole is the worst of them.",
    ),
    refuted_if="some token is surely readable, beyond guessing, in an earlier layer or at an earlier place; or "
    "at some sparsity features tell values surely no better than neurons or random directions; or the sign is not "
    "guessed.",
    paper="the algorithm relies on calculations at P0: a first digit 8 or 9 makes + likelier",
    where="Appendix on mixed models; no figure",
)
