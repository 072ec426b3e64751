"""Match counts: how many things are true, how many were found, how many are both; and how well scores rank them.

Takes  sets of anything, or scores of true and of false ones.
Gives  `MatchCounts` with precision and recall; the area under the ROC curve.
Never  knows what is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata


@dataclass(frozen=True)
class MatchCounts:
    """Counts of what is true, what was found, and what is both."""

    n_true: int
    n_found: int
    n_both: int

    @property
    def precision(self) -> float | None:
        """The share of what was found that is true; None if nothing was found."""
        return self.n_both / self.n_found if self.n_found else None

    @property
    def recall(self) -> float | None:
        """The share of what is true that was found; None if there is nothing to find."""
        return self.n_both / self.n_true if self.n_true else None


def match_counts(true: Collection[Hashable], found: Collection[Hashable]) -> MatchCounts:
    """How many are true, how many were found, and how many are both."""
    return MatchCounts(len(true), len(found), len(set(true) & set(found)))


def summed(counts: Iterable[MatchCounts]) -> MatchCounts:
    """All counts together."""
    each = [(one.n_true, one.n_found, one.n_both) for one in counts]
    return MatchCounts(*(sum(column) for column in zip(*each, strict=True))) if each else MatchCounts(0, 0, 0)


def auroc(true: Sequence[float], false: Sequence[float]) -> float | None:
    """The chance that a true one scores higher than a false one, equal scores counting half; None without either.

    >>> auroc([3.0, 1.0], [2.0, 1.0])
    0.625
    """
    if not len(true) or not len(false):
        return None
    ranks = rankdata(np.concatenate([true, false]))[: len(true)]
    return float((ranks.sum() - len(true) * (len(true) + 1) / 2) / (len(true) * len(false)))
