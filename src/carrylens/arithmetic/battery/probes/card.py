"""The card of `probes`: what is asked, how, and what would refute it.

Takes  nothing.
Gives  `CARD`.
Never  measures.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.outcome import Card

CARD = Card(
    name="probes",
    title="Where the resolved carry can be read",
    question="Is the resolved carry first linearly present at the place that reads it, and not before?",
    method=(
        "Questions whose carry must pass uncertain columns, both outcomes alike.",
        "A ridge probe at every place from D'0 to the reader and every level; fitted on some, scored on others.",
        "Beside it probes fitted to shuffled labels, and those of an untrained twin.",
        "Onset: the first place surely right in nine of ten, and more often than the twin; resampled for its interval.",
        "Transfer: fitted at depths 0 and 1 and scored deeper; fitted at one reader and scored at another, each "
        "question once; beside shuffled labels and the twin.",
        "Where the onset is before the reader, interchange what the probe reads there, and the whole stream: does the "
        "digit follow?",
        "The paper's lags are of additions; one that is later than the place that reads the carry cannot be met.",
    ),
    refuted_if="for some column the onset is before the place that reads the carry, or there is none.",
    paper="present lazily, at the answer read: 2 tokens after D'0 (d5, d6), 3 (d8); carry-axis separation "
    "32.3/28.5/5.3/6.1/6.0 (d5/6/8/10/13)",
    where="Table of family invariants; one figure each",
)
