"""Reliability: is a role that is called so probable true so often?

Takes  planted circuits: some to fit the confidence rule on, others to hold it against.
Gives  cases (a role's margin and whether it is true), the rule fitted to them, and a table of stated and observed.
Never  fits on a circuit that is held against the rule.

Cases are of two kinds, so that weak evidence has its place in the rule too. In a circuit: all roles of single nodes
that the search would give if it asked for next to no evidence, on the usual pairs and on far fewer, where chance has
a say; whether one is true is decided as for scores. In its twin, whose weights are shuffled: what the search measured
of nodes and variables that hit at all; there none is true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize

from carrylens.calibration.found import Given, Tag
from carrylens.calibration.results import Plain
from carrylens.calibration.scores import operand_halves, settle
from carrylens.calibration.scoring import Work
from carrylens.calibration.settings import Setting
from carrylens.discovery.mapping import MapSettings
from carrylens.discovery.node_map import Role
from carrylens.discovery.roles import find_roles
from carrylens.evidence.confidence import Confidence, margin
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine
from carrylens.planted.plant import Planted, permuted_twin, plant

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0)
FEW = (4, 8, 16)
"""Pairs for which roles are looked for besides the usual number."""
_MOST_CHANCE = 60  # of a twin, so that twins do not outweigh circuits
_DOUBT = 1.0  # so many true and so many false cases are supposed besides, spread over all margins


def cases_of(work: Work, settings: Sequence[Setting]) -> list[Plain]:
    """The cases of every setting: name of the setting, role, hit, null and whether it is true."""
    cases: list[Plain] = []
    for at, setting in enumerate(settings):
        work.say(f"roles on weak evidence, {setting.name}", at, len(settings))
        about = work.about(setting=setting.name, twins=True, few=list(FEW))
        cases += work.results.once(f"{setting.name}/weak", about, partial(_cases, work, setting))["cases"]
    return cases


def weak_roles(given: Given, n_pairs: int | None = None) -> list[Role]:
    """The roles of single nodes on next to no evidence, of the usual number of pairs or of `n_pairs`."""
    usual = MapSettings.chosen(given.seed, quick=given.quick).roles
    fewer = {} if n_pairs is None else {"n_find": n_pairs, "n_confirm": n_pairs, "n_compete": n_pairs}
    weak = replace(usual, find_level=1.0, least_hit=0.02, level=1.0, **fewer)
    return find_roles(Engine(given.model), given.causal, [(node,) for node in given.nodes], weak, watch=given.watch)


def chance_hits(given: Given) -> list[Fact]:
    """Some of the nodes and variables that hit at all, as they were measured, before anything is asked of them."""
    usual, facts = MapSettings.chosen(given.seed, quick=given.quick).roles, list[Fact]()
    sets = [(node,) for node in given.nodes]
    find_roles(Engine(given.model), given.causal, sets, replace(usual, find_level=-1.0), note=facts.append)
    hitting = [fact for fact in facts if fact.effect.hits]
    order = np.random.default_rng(given.seed).permutation(len(hitting))[:_MOST_CHANCE]
    return [hitting[at] for at in sorted(order)]


def fit_confidence(cases: Sequence[Plain], made: dict[str, Any]) -> Confidence:
    """The rule that makes the cases most probable, with one true and one false case more than there are.

    Those two are spread over all margins, so that a rule fitted where no false role was seen does not call itself sure.
    """
    margins = np.array([margin(Rate(*case["hit"]), Rate(*case["null"])) for case in cases])
    true = np.array([case["true"] for case in cases], dtype=np.float64)

    def loss(given: np.ndarray[Any, np.dtype[np.float64]]) -> float:
        x = given[0] + given[1] * margins
        doubt = _DOUBT / len(x) * (2 * np.logaddexp(0.0, x) - x).sum()
        return float((np.logaddexp(0.0, x) - true * x).sum() + doubt)

    found = minimize(loss, np.array([0.0, 1.0]), method="BFGS").x
    counts = {"n_cases": len(cases), "n_true": int(true.sum())}
    return Confidence(round(float(found[0]), 4), round(float(found[1]), 4), made | counts)


def reliability_table(rule: Confidence, cases: Iterable[Plain]) -> list[Plain]:
    """For each bin of stated probability: the mean stated, and how many are true, with its exact interval."""
    stated = [(rule.of(Rate(*case["hit"]), Rate(*case["null"])), bool(case["true"])) for case in cases]
    rows = []
    for low, high in pairwise(BINS):
        inside = [(p, true) for p, true in stated if low <= p < high or p == high == 1.0]
        observed = Rate(sum(true for _, true in inside), len(inside))
        mean = float(np.mean([p for p, _ in inside])) if inside else None
        bounds = {"low": low, "high": high, "stated": mean}
        rows.append(bounds | {"hits": observed.hits, "n": observed.n, "interval": list(observed.interval)})
    return rows


def _cases(work: Work, setting: Setting) -> Plain:
    planted = plant(setting.description)
    given = work.given(planted, setting, setting.name)
    roles = [role for n in (None, *FEW) for role in weak_roles(given, n) if not _is_half(planted, role)]
    cases = [_case(setting.name, role.hit, role.null, _is_true(planted, setting, role)) for role in roles]
    facts = chance_hits(replace(given, model=permuted_twin(planted.model, setting.seed)))
    return {"cases": cases + [_case(f"twin of {setting.name}", fact.effect, fact.null, False) for fact in facts]}


def _case(name: str, hit: Rate, null: Rate, true: bool) -> Plain:
    return {"setting": name, "hit": [hit.hits, hit.n], "null": [null.hits, null.n], "true": true}


def _is_true(planted: Planted, setting: Setting, role: Role) -> bool:
    (node,) = role.nodes
    tag = settle(planted.truth, setting.causal, Tag(node, role.variable, role.token))
    return tag.variable in planted.truth.roles.get(node, frozenset())


def _is_half(planted: Planted, role: Role) -> bool:
    # That half of a shared column carries its operand's digit is true, and not what is asked.
    return (role.nodes[0], role.variable) in operand_halves(planted.truth)
