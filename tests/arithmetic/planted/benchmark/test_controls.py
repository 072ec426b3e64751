"""What is found in models of arithmetic that hold nothing, under wrong hypotheses, and on weak evidence."""

from __future__ import annotations

import pytest

from carrylens.arithmetic import Operation
from carrylens.arithmetic.planted.benchmark.circuits import quick_circuits, training_circuits
from carrylens.arithmetic.planted.benchmark.controls import ControlSizes, with_controls
from carrylens.arithmetic.planted.benchmark.empty_models import (
    PLANTED_TWIN,
    TRAINED_TWIN,
    UNTRAINED,
    empty_models,
    untrained_model,
)
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.empty_models import empty_records, empty_summary
from carrylens.benchmark.weak_evidence import FEW, RoleCase, cases_of
from carrylens.evidence.confidence import margin


def test_an_untrained_model_has_no_roles_and_all_tests_are_counted() -> None:
    (record,) = empty_records(BenchmarkRun(empty_models=[untrained_model(Operation.ADD, 5)], quick=True))
    assert record["confirmed"] == 0
    assert record["tested"] > record["of_sets"] > 1000
    assert record["tested"] > record["hit"] >= record["weighed"]
    (row,) = empty_summary([record, {**record, "weighed": 9, "confirmed": 2}])
    assert (row["tested"], row["roles"]["hits"], row["roles"]["n"]) == (2 * record["tested"], 2, record["weighed"] + 9)
    assert (row["models"]["hits"], row["models"]["n"]) == (1, 2)
    assert row["level"] == 0.01
    assert row["bound"] == 0.06


def test_empty_models_are_of_every_operation_of_every_circuit_and_of_a_trained_model() -> None:
    found = empty_models(quick_circuits(), n_untrained=3, n_trained=2)
    assert [each.kind for each in found] == [UNTRAINED] * 3 + [PLANTED_TWIN] * 4 + [TRAINED_TWIN] * 2
    assert len({each.name for each in found}) == len(found)
    tasks = [each.build()[1] for each in found]
    assert [getattr(task, "operation", None) for task in tasks[:3]] == list(Operation)


def test_a_small_run_has_few_controls() -> None:
    small, full = (with_controls(BenchmarkRun(small=each)) for each in (True, False))
    assert (
        len(small.empty_models) < len(full.empty_models) == ControlSizes().n_untrained + ControlSizes().n_trained_twins
    )


@pytest.fixture(scope="module")
def weak() -> list[RoleCase]:
    return cases_of(BenchmarkRun(quick=True), [next(iter(training_circuits(quick=True)))])


@pytest.mark.slow
def test_cases_come_on_few_pairs_too_and_some_of_those_are_false(weak: list[RoleCase]) -> None:
    right = [each for each in weak if not each.is_of_twin]
    for n in FEW:
        assert {each.true for each in right if each.pairs == n} >= {True}
    few = [each for each in right if each.pairs in FEW]
    assert {each.true for each in few} == {True, False}
    assert len(few) > len(weak) // 4


@pytest.mark.slow
def test_false_cases_have_their_null_measured_and_some_look_like_true_ones(weak: list[RoleCase]) -> None:
    assert all(each.null[1] and each.hit[0] for each in weak)
    assert not any(each.true for each in weak if each.is_of_twin)
    margins = {true: [margin(*each.rates) for each in weak if each.true is true] for true in (True, False)}
    assert max(margins[False]) > min(margins[True])
