"""How sure a role may be called: the fitted rule, and the table of stated and observed."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.reliability import fit_by_kind, fit_confidence, reliability_table
from carrylens.benchmark.sections import control_records
from carrylens.benchmark.weak_evidence import RoleCase
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import Confidence, margin, shipped_confidence
from carrylens.evidence.rates import Rate


def case(at: int, hits: int, true: bool, circuit: str | None = None) -> RoleCase:
    return RoleCase(circuit or f"c{at}", f"r{at}", None, (hits, 128), (0, 128), true)


def cases(n: int, seed: int) -> list[RoleCase]:
    """Roles whose chance of being true grows with their hit rate, as a coin decides."""
    random = np.random.default_rng(seed)
    hits = random.integers(0, 129, n)
    true = random.random(n) < hits / 128
    return [case(at, int(h), bool(t)) for at, (h, t) in enumerate(zip(hits, true, strict=True))]


def test_a_fitted_rule_states_what_is_observed() -> None:
    rule = fit_confidence(cases(1500, seed=0), {})
    rows = [row for row in reliability_table(rule, cases(1500, seed=1)) if row["n"] > 40]
    assert len(rows) > 3
    assert all(abs(row["stated"] - row["hits"] / row["n"]) < 0.12 for row in rows)


def test_a_rule_that_lies_is_seen_in_the_table() -> None:
    rows = [row for row in reliability_table(Confidence(3.0, 0.0), cases(500, seed=1)) if row["n"]]
    assert len(rows) == 1
    assert rows[0]["interval"][1] < rows[0]["stated"]


def test_a_circuit_with_many_cases_counts_once() -> None:
    """Forty cases of one circuit bound the share no closer than one does; of forty circuits they do."""
    rule = Confidence(3.0, 0.0)
    (one,) = (row for row in reliability_table(rule, [case(0, 128, True, "same")] * 40) if row["n"])
    (many,) = (row for row in reliability_table(rule, [case(at, 128, True) for at in range(40)]) if row["n"])
    assert one["interval"] == list(Rate(1, 1).interval)
    assert many["interval"] == list(Rate(40, 40).interval)
    assert (one["n"], one["circuits"], many["circuits"]) == (40, 1, 40)


def test_cases_of_twins_are_counted() -> None:
    some = [case(0, 128, True), case(1, 128, False, "twin of c1"), case(2, 128, False, "twin of c2")]
    (row,) = (row for row in reliability_table(Confidence(3.0, 0.0), some) if row["n"])
    assert (row["n"], row["of_twins"]) == (3, 2)


def test_it_is_the_shipped_rule_that_is_tested_on_the_circuits() -> None:
    rule = next(each for each in control_records(BenchmarkRun()) if each["part"] == "confidence")
    shipped = shipped_confidence()
    assert (rule["intercept"], rule["slope"], rule["most"]) == (shipped.intercept, shipped.slope, shipped.most)


def test_sets_have_a_rule_of_their_own_and_all_that_is_weighed_counts() -> None:
    """Single nodes are true where they are whole; sets of two are all true, larger ones never."""
    single = [case(at, 128 if at % 2 else 60, at % 2 == 1) for at in range(200)]
    sets = [replace(case(at, 128, at % 2 == 0), n_nodes=2 + at % 2) for at in range(200)]
    rule = fit_by_kind([*single, *sets], {})
    whole, part, null = Rate(128, 128), Rate(60, 128), Rate(0, 128)
    assert rule.of(whole, null) > 0.9 > 0.1 > rule.of(part, null)
    assert rule.of(whole, null, 2) > 0.9 > 0.1 > rule.of(whole, null, 3)
    assert Confidence.from_json(rule.to_json()) == rule


def test_a_rule_stays_finite_where_nothing_is_false() -> None:
    rule = fit_confidence([case(at, 128 * (at % 2), at % 2 == 1) for at in range(100)], {})
    assert 0.9 < rule.of(Rate(128, 128), Rate(0, 128)) < 1.0
    assert rule.slope < 100


def test_no_rule_states_more_than_its_cases_show() -> None:
    """Ten different roles, all true, show eleven twelfths, however often each was tested."""
    some = [case(at, 128, True) for at in range(10)] * 5 + [case(10 + at, 0, False) for at in range(50)]
    rule = fit_confidence(some, {})
    assert rule.of(Rate(128, 128), Rate(0, 128)) == rule.most == round(11 / 12, 4)


def test_sets_larger_than_any_that_the_rule_was_fitted_on_are_not_called_less_sure_for_it() -> None:
    stated = [shipped_confidence().of(Rate(91, 94), Rate(0, 94), n_nodes) for n_nodes in (3, 4, 5, 8, 20)]
    assert len(set(stated)) == 1
    assert stated[0] < shipped_confidence().of(Rate(91, 94), Rate(0, 94), 2)


def test_fewer_stimuli_make_less_sure() -> None:
    assert margin(Rate(8, 8), Rate(0, 8)) < margin(Rate(128, 128), Rate(0, 128))


def test_many_stimuli_that_show_nothing_are_no_evidence() -> None:
    """What never hits stays below what always does, though its interval is narrower; no null is no margin."""
    assert margin(Rate(0, 1024), Rate(0, 1024)) < 0 < margin(Rate(4, 4), Rate(0, 4))
    assert margin(Rate(128, 128), Rate(0, 0)) == -1.0


def test_the_shipped_rule_says_how_it_was_made() -> None:
    rule = shipped_confidence()
    assert Confidence.from_json(rule.to_json()) == rule
    assert rule.made["n_cases"] > rule.made["n_true"] > 0
    assert rule.slope > 0
    with pytest.raises(CarryLensError, match="carrylens benchmark --fit"):
        Confidence.from_json("{}")
