"""Sections: a whole benchmark, section by section.

Takes  a `BenchmarkRun`, and which sections of it.
Gives  records, as soon as each is there.
Never  computes: each section's module does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.empty_models import empty_records, empty_summary
from carrylens.benchmark.false_roles import false_role_records, false_role_summary
from carrylens.benchmark.method_runs import score_methods
from carrylens.benchmark.reliability import fit_confidence, map_row, reliability_table
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.weak_evidence import cases_from, cases_of
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import Confidence, shipped_confidence

SECTIONS = ("scores", "nothing", "accounts", "reliability")
"""Scores of every method; roles found where there is none; wrong hypotheses; stated confidence."""


def chosen_sections(names: Collection[str]) -> tuple[str, ...]:
    """The sections of these names; all of them if no name is given."""
    if unknown := [name for name in names if name not in SECTIONS]:
        raise CarryLensError(f"There is no part {unknown[0]!r}. Write one of {', '.join(SECTIONS)}.")
    return tuple(section for section in SECTIONS if not names or section in names)


def benchmark_records(run: BenchmarkRun, sections: Collection[str]) -> Iterator[Plain]:
    """Every record of the sections."""
    false_roles: list[Plain] = []
    if "scores" in sections:
        yield from score_methods(run)
    if "nothing" in sections:
        empty = list(empty_records(run))
        yield from (*empty, *empty_summary(empty))
        false_roles = list(false_role_records(run))
        yield from (*false_roles, *false_role_summary(false_roles))
    if "accounts" in sections and run.hypothesis_records is not None:
        yield from run.hypothesis_records(run)
    if "reliability" in sections:
        rule, cases = shipped_confidence(), cases_of(run, run.circuits)
        yield {"part": "confidence", "intercept": rule.intercept, "slope": rule.slope, "most": rule.most, **rule.made}
        yield from ({"part": "reliability", **row} for row in reliability_table(rule, cases))
        if confirmed := [case for record in false_roles for case in cases_from(record["cases"])]:
            yield {"part": "reliability", **map_row(rule, confirmed)}


def confidence_rule(run: BenchmarkRun, command: str) -> Confidence:
    """The confidence rule, fitted on the training circuits; it says by which command it was made."""
    made = run.about(command=command, circuits=[circuit.name for circuit in run.training])
    return fit_confidence(cases_of(run, run.training), made)
