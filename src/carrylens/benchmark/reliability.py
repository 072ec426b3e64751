"""Reliability: is a role that is called so probable true so often?

Takes  cases: roles with their rates, and whether they are true.
Gives  the confidence rule fitted to them, and a table of stated and observed.
Never  fits on a circuit that the rule is then tested on.

Cases of one circuit are not independent, least of all one role on several numbers of pairs: in the table's intervals a
circuit counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaincinv

from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.weak_evidence import RoleCase
from carrylens.evidence.confidence import Confidence, margin, other_features

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
NODE_FEATURES = ("whole", "log_pairs", "difference")
SET_FEATURES = ("whole", "log_pairs", "difference", "more_nodes")
_DRAWN = 0.1  # how strongly weights are drawn towards 0
_DOUBT = 1.0  # so many true and so many false cases are supposed besides, spread over all margins


def fit_by_kind(cases: Sequence[RoleCase], made: dict[str, Any]) -> Confidence:
    """The rule for single nodes, with one of its own for sets; both weigh what `other_features` says besides."""
    single, sets = ([case for case in cases if (case.n_nodes > 1) is several] for several in (False, True))
    rule = fit_confidence(single, made, NODE_FEATURES)
    return replace(rule, sets=fit_confidence(sets, {}, SET_FEATURES)) if sets else rule


def fit_confidence(cases: Sequence[RoleCase], made: dict[str, Any], names: Sequence[str] = ()) -> Confidence:
    """The rule that makes the cases most probable, with one true and one false case more than there are.

    Those two are spread over all margins, so that a rule fitted where no false role was seen does not call itself sure.
    Nor does it state more than the rule of succession makes of the different roles that it is so sure of. `names` are
    of `other_features`; their weights are drawn towards 0.
    """
    margins = np.array([margin(*case.rates) for case in cases])
    other = [other_features(*case.rates, case.n_nodes, is_difference=case.is_difference) for case in cases]
    given = np.array([[each[name] for name in names] for each in other]).reshape(len(cases), len(names))
    true = np.array([case.true for case in cases], dtype=np.float64)

    def loss(found: np.ndarray[Any, np.dtype[np.float64]]) -> float:
        x = found[0] + found[1] * margins + given @ found[2:]
        doubt = _DOUBT / len(x) * (2 * np.logaddexp(0.0, x) - x).sum()
        drawn = _DRAWN * float((found[2:] ** 2).sum())
        return float((np.logaddexp(0.0, x) - true * x).sum() + doubt) + drawn

    found = minimize(loss, np.array([0.0, 1.0, *[0.0] * len(names)]), method="BFGS").x
    weights = {name: round(float(weight), 4) for name, weight in zip(names, found[2:], strict=True)}
    rule = Confidence(round(float(found[0]), 4), round(float(found[1]), 4), weights=weights)
    n_twins = sum(case.is_of_twin for case in cases)
    counts = {"n_cases": len(cases), "n_true": int(true.sum()), "n_of_twins": n_twins}
    reached = found[0] + found[1] * margins + given @ found[2:]
    return replace(rule, most=round(_most(cases, reached.tolist()), 4), made=made | counts)


def _most(cases: Sequence[RoleCase], reached: Sequence[float]) -> float:
    # The highest share that different roles above some level show; one tested more than once counts as its best.
    best: dict[tuple[str, str], tuple[float, bool]] = {}
    for case, found in zip(cases, reached, strict=True):
        key = (case.setting, case.role)
        best[key] = max((found, bool(case.true)), best.get(key, (-np.inf, False)))
    true = np.cumsum([each[1] for each in sorted(best.values(), key=lambda each: (-each[0], each[1]))])
    return float(((true + 1) / (np.arange(len(true)) + 3)).max())


def reliability_table(rule: Confidence, cases: Iterable[RoleCase]) -> list[Plain]:
    """For each bin of stated probability: the mean stated, how many are true, and their share, each circuit once."""
    stated = [(case.stated(rule), case) for case in cases]
    rows = []
    for low, high in pairwise(BINS):
        inside = [(p, case) for p, case in stated if low <= p < high or p == high == 1.0]
        rows.append({"low": low, "high": high, **observed(inside)})
    return rows


def map_row(rule: Confidence, cases: Sequence[RoleCase]) -> Plain:
    """The same for roles as a map confirms them, of single nodes and of sets, in one row."""
    return {"low": None, "high": None, **observed([(case.stated(rule), case) for case in cases])}


def observed(stated: Sequence[tuple[float, RoleCase]]) -> Plain:
    """The mean stated, how many of the cases are true, and the share of true ones with each circuit counting once."""
    by_circuit: dict[str, list[bool]] = {}
    for _, case in stated:
        by_circuit.setdefault(case.setting, []).append(bool(case.true))
    shares = [sum(some) / len(some) for some in by_circuit.values()]
    true, mean = sum(map(sum, by_circuit.values())), float(np.mean([p for p, _ in stated])) if stated else None
    n_twins = sum(case.is_of_twin for _, case in stated)
    counts = {"stated": mean, "hits": true, "n": len(stated), "of_twins": n_twins, "circuits": len(shares)}
    return counts | {"share": float(np.mean(shares)) if shares else None, "interval": list(interval_of(shares))}


def interval_of(shares: Sequence[float]) -> tuple[float, float]:
    """The 95% Clopper-Pearson interval of a mean of shares, as if each were one case that is so far true.

    It is wider than need be where shares are neither 0 nor 1, and the same where they are.

    >>> [round(bound, 4) for bound in interval_of([1.0] * 9 + [0.0])]
    [0.555, 0.9975]
    """
    hits, n = sum(shares), len(shares)
    low = float(betaincinv(hits, n - hits + 1, 0.025)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 0.975)) if hits < n else 1.0
    return low, high
