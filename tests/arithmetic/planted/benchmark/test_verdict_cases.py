"""Verdict cases: every verdict that is asked for, beside the deserved one, and what a judge makes of them."""

from __future__ import annotations

from carrylens.arithmetic.planted.benchmark.suites import suite_models
from carrylens.arithmetic.planted.benchmark.verdict_cases import VerdictCase, confusion, verdict_cases
from carrylens.benchmark.known_models import TEST
from carrylens.benchmark.known_truth import RunVerdict

MISLEADING = ["hostile", "aligned"]


def test_each_circuit_has_its_cases_once_and_rotations_only_if_wanted() -> None:
    cases = list(verdict_cases(MISLEADING, TEST, quick=True))
    assert len({(case.model.counted_as, case.hypothesis.name) for case in cases}) == len(cases)
    assert {case.model.name for case in cases} == {each.name for each in suite_models(MISLEADING, TEST, quick=True)}
    assert {case.deserved for case in cases} == set(RunVerdict) - {RunVerdict.NOT_SETTLED}


def test_a_model_is_built_once_for_all_of_its_cases() -> None:
    first, second, *_ = verdict_cases(["hostile"], TEST, quick=True)
    assert first.model is second.model
    assert first.known is second.known


def test_the_confusion_of_a_judge_that_says_runs_of_everything() -> None:
    def credulous(case: VerdictCase) -> RunVerdict:
        assert case.hypothesis in case.known.hypotheses
        return RunVerdict.RUNS

    said = confusion(verdict_cases(MISLEADING, TEST, quick=True), credulous)
    assert {key[1] for key in said} == {RunVerdict.RUNS}
    assert said[RunVerdict.IN_PART, RunVerdict.RUNS] == 1, "of the gate"
    assert said[RunVerdict.RUNS, RunVerdict.RUNS] == 1, "of the one-layer circuit under its own algorithm"
