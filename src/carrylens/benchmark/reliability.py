"""Reliability: is a role that is called so probable true so often?

Takes  planted circuits: some to fit the confidence rule on, others to hold it against.
Gives  cases (a role's margin and whether it is true), the rule fitted to them, and a table of stated and observed.
Never  fits on a circuit that is held against the rule.

A case is a role of a single node that the search gives if it asks for next to no evidence, on the usual pairs or on
far fewer, where chance has a say and one variable passes for another; true or false, it went the same way: found,
measured beside its null on other pairs, held against other variables.
1. In circuits that answer right, all such roles; whether one is true is decided as for scores.
2. In their twins, whose weights are shuffled and hold nothing: of some nodes, those that hit most often. None is true.
Cases of one circuit are not independent, least of all one role on several numbers of pairs: in the table's intervals a
circuit counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaincinv

from carrylens.arithmetic.planted.planting import Planted, permuted_twin, plant
from carrylens.benchmark.circuits import Setting
from carrylens.benchmark.method_result import Given, Tag
from carrylens.benchmark.method_runs import Work
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import operand_halves, settle
from carrylens.discovery.node_map import Role
from carrylens.discovery.node_search import MapSettings
from carrylens.discovery.roles import find_roles
from carrylens.evidence.confidence import Confidence, margin
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node, print_nodes

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
FEW = (4, 8, 16)
"""Pairs for which roles are looked for besides the usual number."""
_TWIN = "twin of "
_NODES, _LARGEST = 12, 15  # of a twin so many nodes, and for each number of pairs the roles that hit most often
_DOUBT = 1.0  # so many true and so many false cases are supposed besides, spread over all margins


def cases_of(work: Work, settings: Sequence[Setting]) -> list[Plain]:
    """The cases of every setting: name of the setting, role, hit, null and whether it is true."""
    cases: list[Plain] = []
    for at, setting in enumerate(settings):
        work.say(f"roles on weak evidence, {setting.name}", at, len(settings))
        about = work.about(setting=setting.name, few=list(FEW), twin=[_NODES, _LARGEST])
        cases += work.results.once(f"{setting.name}/weak", about, partial(_cases, work, setting))["cases"]
    return cases


def weak_roles(given: Given, n_pairs: int | None = None, nodes: Sequence[Node] | None = None) -> list[Role]:
    """The roles of single nodes on next to no evidence, of the usual number of pairs or of `n_pairs`.

    Who hits at all is asked for the null.
    """
    usual = MapSettings.chosen(given.seed, quick=given.quick).roles
    weak = replace(usual, find_level=1.0, least_hit=0.02, level=1.0)
    if n_pairs is not None:
        least = min(usual.least, n_pairs // 2)
        weak = replace(weak, n_find=n_pairs, n_confirm=n_pairs, n_compete=n_pairs, least=least)
    sets = [(node,) for node in (given.nodes if nodes is None else nodes)]
    return find_roles(Engine(given.model), given.causal, sets, weak, watch=given.watch)


def chance_roles(given: Given, n_pairs: int | None) -> list[Role]:
    """Of some nodes of a model that holds nothing, the weak roles that hit most often."""
    chosen = np.random.default_rng(given.seed).permutation(len(given.nodes))[:_NODES]
    roles = weak_roles(given, n_pairs, [given.nodes[at] for at in sorted(chosen)])
    return sorted(roles, key=lambda role: -role.hit.value)[:_LARGEST]


def fit_confidence(cases: Sequence[Plain], made: dict[str, Any]) -> Confidence:
    """The rule that makes the cases most probable, with one true and one false case more than there are.

    Those two are spread over all margins, so that a rule fitted where no false role was seen does not call itself sure.
    Nor does it state more than the rule of succession makes of the different roles above any one margin.
    """
    margins = np.array([margin(Rate(*case["hit"]), Rate(*case["null"])) for case in cases])
    true = np.array([case["true"] for case in cases], dtype=np.float64)

    def loss(given: np.ndarray[Any, np.dtype[np.float64]]) -> float:
        x = given[0] + given[1] * margins
        doubt = _DOUBT / len(x) * (2 * np.logaddexp(0.0, x) - x).sum()
        return float((np.logaddexp(0.0, x) - true * x).sum() + doubt)

    found = minimize(loss, np.array([0.0, 1.0]), method="BFGS").x
    rule = Confidence(round(float(found[0]), 4), round(float(found[1]), 4))
    n_twins = sum(case["setting"].startswith(_TWIN) for case in cases)
    counts = {"n_cases": len(cases), "n_true": int(true.sum()), "n_of_twins": n_twins}
    return replace(rule, most=round(_most(cases, margins.tolist()), 4), made=made | counts)


def _most(cases: Sequence[Plain], margins: Sequence[float]) -> float:
    # The highest share that different roles above some margin show; one asked more than once counts as its best.
    best: dict[tuple[str, str], tuple[float, bool]] = {}
    for case, found in zip(cases, margins, strict=True):
        key = (case["setting"], case["role"])
        best[key] = max((found, bool(case["true"])), best.get(key, (-2.0, False)))
    true = np.cumsum([each[1] for each in sorted(best.values(), key=lambda each: (-each[0], each[1]))])
    return float(((true + 1) / (np.arange(len(true)) + 3)).max())


def reliability_table(rule: Confidence, cases: Iterable[Plain]) -> list[Plain]:
    """For each bin of stated probability: the mean stated, how many are true, and their share, each circuit once."""
    stated = [(_stated(rule, case), case) for case in cases]
    rows = []
    for low, high in pairwise(BINS):
        inside = [(p, case) for p, case in stated if low <= p < high or p == high == 1.0]
        rows.append({"low": low, "high": high, **observed(inside)})
    return rows


def map_row(rule: Confidence, cases: Sequence[Plain]) -> Plain:
    """The same for roles as a map confirms them, of single nodes and of sets, in one row."""
    return {"low": None, "high": None, **observed([(_stated(rule, case), case) for case in cases])}


def observed(stated: Sequence[tuple[float, Plain]]) -> Plain:
    """The mean stated, how many of the cases are true, and the share of true ones with each circuit counting once."""
    by_circuit: dict[str, list[bool]] = {}
    for _, case in stated:
        by_circuit.setdefault(case["setting"], []).append(bool(case["true"]))
    shares = [sum(some) / len(some) for some in by_circuit.values()]
    true, mean = sum(map(sum, by_circuit.values())), float(np.mean([p for p, _ in stated])) if stated else None
    n_twins = sum(case["setting"].startswith(_TWIN) for _, case in stated)
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


def is_true(planted: Planted, setting: Setting, role: Role) -> bool:
    """Whether every node of a role's set carries its variable, or one that no question tells from it."""
    tags = (settle(planted.truth, setting.causal, Tag(node, role.variable, role.token)) for node in role.nodes)
    return all(tag.variable in planted.truth.roles.get(tag.node, frozenset()) for tag in tags)


def is_half(planted: Planted, role: Role) -> bool:
    """Whether a node is half of a shared column and the variable its operand's digit: true, and not what is asked."""
    return any((node, role.variable) in operand_halves(planted.truth) for node in role.nodes)


def case_of(name: str, role: Role, true: bool, n_pairs: int | None = None) -> Plain:
    """A role as a case; one without its null is none."""
    assert role.null.n, f"{role} was never asked for its null"
    about = {"setting": name, "role": f"{print_nodes(role.nodes)} {role.variable} token {role.token}", "pairs": n_pairs}
    rates = {"hit": [role.hit.hits, role.hit.n], "null": [role.null.hits, role.null.n]}
    return {**about, **rates, "true": true}


def _stated(rule: Confidence, case: Plain) -> float:
    return rule.of(Rate(*case["hit"]), Rate(*case["null"]))


def _cases(work: Work, setting: Setting) -> Plain:
    planted, cases = plant(setting.description), list[Plain]()
    given = work.given(planted, setting, setting.name)
    twin = replace(given, model=permuted_twin(planted.model, setting.seed))
    for n in (None, *FEW):
        roles = [role for role in weak_roles(given, n) if not is_half(planted, role)]
        cases += [case_of(setting.name, role, is_true(planted, setting, role), n) for role in roles]
        cases += [case_of(f"{_TWIN}{setting.name}", role, False, n) for role in chance_roles(twin, n)]
    return {"cases": cases}
