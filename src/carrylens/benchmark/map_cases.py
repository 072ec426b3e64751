"""Map cases: the roles that maps of known models hand out, true and false ones, as cases for the confidence rule.

Takes  models of known truth.
Gives  `RoleCase` of every role of each map: its rates, how large its set is, how it was shown, and whether it is true.
Never  has a case that a map would not state.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import BenchmarkModel
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import is_single_input, is_true_role
from carrylens.benchmark.weak_evidence import RoleCase, case_of, cases_from, found_role
from carrylens.discovery.node_search import MapSettings, map_model


def map_cases(run: BenchmarkRun, models: Sequence[BenchmarkModel]) -> list[RoleCase]:
    """The cases of every model's map."""
    cases: list[RoleCase] = []
    for at, entry in enumerate(models):
        run.progress(f"roles of maps, {entry.name}", at, len(models))
        about = run.about(setting=entry.name, suite=entry.suite)
        saved = run.results.once(f"{entry.suite}/{entry.name}/map_cases", about, partial(_cases, run, entry))
        cases += cases_from(saved["cases"])
    return cases


def _cases(run: BenchmarkRun, entry: BenchmarkModel) -> Plain:
    known = entry.build()
    settings = MapSettings.chosen(0, quick=run.quick)
    found = map_model(known.model, "benchmark", known.task, settings, causal=known.causal).map
    cases = []
    for role in (*found.roles, *found.optional):
        if not is_single_input(known.truth, found_role(role)):
            true = is_true_role(known.truth, known.causal, found_role(role))
            cases.append(case_of(entry.name, role, true))
    return {"cases": msgspec.to_builtins(cases)}
