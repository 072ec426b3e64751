"""Corrections: p values made honest about how many there are.

Takes  the p values of all tests that were made, not only of those that came out.
Gives  corrected p values in the same order.
Never  forgets a test.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected so that the chance of even one false rejection stays below the level, however the tests depend.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    grown = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(grown, 1.0)
    return [float(value) for value in corrected]


def benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    """Corrected so that of all rejections the expected false share stays below the level, however the tests depend.

    >>> [round(p, 4) for p in benjamini_yekutieli([0.01, 0.04, 0.03])]
    [0.055, 0.0733, 0.0733]
    """
    from scipy.stats import false_discovery_control  # takes half a second to import

    return [float(value) for value in false_discovery_control(p_values, method="by")] if len(p_values) else []


def corrected_within(p_values: Sequence[float], families: Sequence[Hashable]) -> list[float]:
    """As `benjamini_yekutieli`, for the tests of each family apart; `families` says which family each test is of.

    >>> corrected_within([0.01, 0.01, 0.5], ["a", "b", "b"])
    [0.01, 0.03, 0.75]
    """
    corrected = [1.0] * len(p_values)
    for family in dict.fromkeys(families):
        own = [at for at, each in enumerate(families) if each == family]
        for at, p in zip(own, benjamini_yekutieli([p_values[at] for at in own]), strict=True):
            corrected[at] = p
    return corrected
