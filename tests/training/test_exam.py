"""The exam goes on where it stood, and its intervals are exact."""

import json

import msgspec
import numpy as np
import pytest
import torch
from scipy.stats import binom

from carrylens.model import Transformer
from carrylens.training import exam, exam_results
from carrylens.training.exam import blank_results, population_parts, sit
from carrylens.training.exam_results import PartResult
from training.bit_parity import parity_plan


def test_an_exam_goes_on_from_where_it_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exam, "CHUNK", 200)
    plan = parity_plan()
    model, parts = Transformer(plan.config), population_parts(plan.task, 600)[:1]
    straight, stopped = blank_results(parts), blank_results(parts)
    list(sit(model, plan.task, parts, straight))
    next(sit(model, plan.task, parts, stopped))
    assert stopped[0].asked == exam.CHUNK
    list(sit(model, plan.task, parts, stopped))
    assert stopped == straight
    assert straight[0].failed > 0


def test_the_first_failures_of_a_part_are_kept_and_all_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def never_right(_model: Transformer, tokens: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(torch.zeros_like(tokens[:, -3:]), 6).double()

    monkeypatch.setattr(exam, "many_answer_logits", never_right)
    monkeypatch.setattr(exam, "CHUNK", 40)
    plan = parity_plan()
    parts = population_parts(plan.task, 130)
    results = blank_results(parts)
    told: list[int] = []
    list(sit(Transformer(plan.config), plan.task, parts, results, told.append))
    assert [(result.failed, len(result.failures)) for result in results] == [(130, exam_results.MOST_KEPT)] * 2
    assert told == [40, 40, 40, 10] * 2
    texts = plan.task.question_text(parts[1].population.draw(parts[1].seed, 0, exam_results.MOST_KEPT))
    assert [failure[0] for failure in results[1].failures] == texts


def test_a_result_is_saved_as_the_first_exams_saved_it() -> None:
    result = PartResult("natural", "add", 3, 1, [["1+1=", "+02", "+03"]])
    plain = {"name": "natural", "operation": "add", "asked": 3, "failed": 1, "failures": [["1+1=", "+02", "+03"]]}
    assert json.loads(msgspec.json.encode(result)) == plain
    assert msgspec.json.decode(json.dumps(plain), type=PartResult) == result
    assert result.record() == {**plain, "interval": list(result.interval())}


@pytest.mark.parametrize(("failed", "asked"), [(0, 10**6), (2, 10**6), (12621, 10**6), (1, 1), (5, 20)])
def test_the_interval_is_clopper_and_pearsons(failed: int, asked: int) -> None:
    low, high = PartResult("x", "add", asked, failed).interval()
    if failed:
        assert binom.sf(failed - 1, asked, low) == pytest.approx(0.025, rel=1e-6)
    else:
        assert low == 0
    if failed < asked:
        assert binom.cdf(failed, asked, high) == pytest.approx(0.025, rel=1e-6)
    else:
        assert high == 1


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rate, asked, n_runs = 0.03, 200, 2000
    failures = np.random.default_rng(1).binomial(asked, rate, size=n_runs).tolist()
    bounds = {k: PartResult("x", "add", asked, k).interval() for k in set(failures)}
    covered = sum(bounds[k][0] <= rate <= bounds[k][1] for k in failures)
    assert covered >= 0.95 * n_runs - 3 * (n_runs * 0.95 * 0.05) ** 0.5
