"""Hit rates: counts of what happened, question by question.

Takes  which questions are hits.
Gives  the `Rate` of them; the types that such arrays have.
Never  judges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carrylens.evidence.rates import Rate

Hits = NDArray[np.bool_]
"""Which questions, or pairs, are hits."""
AnswerTokens = NDArray[np.int8]
"""Tokens of answers, the sign first: axes question, token."""


def hit_rate(hits: Hits) -> Rate:
    """How many of them are hits."""
    return Rate(int(hits.sum()), len(hits))
