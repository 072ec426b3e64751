"""Sections: the controls of our own map, section by section.

Takes  a `BenchmarkRun`.
Gives  records, as soon as each is there: roles found where there is none, roles of what nodes do not hold, stated
       confidence beside what is true.
Never  computes: each section's module does.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.empty_models import empty_records, empty_summary
from carrylens.benchmark.false_roles import false_role_records, false_role_summary
from carrylens.benchmark.map_cases import map_cases
from carrylens.benchmark.reliability import fit_by_kind, map_row, reliability_table
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.weak_evidence import cases_from, cases_of
from carrylens.evidence.confidence import Confidence, shipped_confidence


def control_records(run: BenchmarkRun) -> Iterator[Plain]:
    """Every record of the controls."""
    empty = list(empty_records(run))
    yield from (*empty, *empty_summary(empty))
    false_roles = list(false_role_records(run))
    yield from (*false_roles, *(false_role_summary(false_roles) if false_roles else ()))
    rule, cases = shipped_confidence(), cases_of(run, run.circuits)
    yield {"part": "confidence", "intercept": rule.intercept, "slope": rule.slope, "most": rule.most, **rule.made}
    yield from ({"part": "reliability", **row} for row in reliability_table(rule, cases))
    if confirmed := [case for record in false_roles for case in cases_from(record["cases"])]:
        yield {"part": "reliability", **map_row(rule, confirmed)}


def confidence_rule(run: BenchmarkRun, command: str) -> Confidence:
    """The confidence rule, fitted on the maps of the `dev` models; it says by which command it was made."""
    made = run.about(command=command, models=[f"{entry.suite}/{entry.name}" for entry in run.dev])
    return fit_by_kind(map_cases(run, run.dev), made)
