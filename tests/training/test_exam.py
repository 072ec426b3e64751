"""The exam counts what it should, and its intervals are exact."""

import numpy as np
import pytest
import torch
from scipy.stats import binom

from carrylens.arithmetic import Operation, Questions, answers
from carrylens.arithmetic.classes import classify
from carrylens.arithmetic.decoding import decode_answers
from carrylens.arithmetic.model_shapes import config_of_width, digits_of
from carrylens.model import Transformer
from carrylens.training import exam
from carrylens.training.exam import Result, blank_results, exam_parts, sit


def a_model(digits: int = 2) -> Transformer:
    return Transformer(config_of_width(digits, 1, 3, width=24, seed=3))


def test_failures_are_those_that_decoding_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    # A model that knows nothing but the sign, and a right answer now and then by our own doing.
    model, parts = a_model(), exam_parts(Operation.ADD, 2, 40, 0)
    texts = parts[0].source.take(0, 40).text()
    given = decode_answers(model, Questions.parse(texts))
    true = answers(Questions.parse(texts)).text()
    results = blank_results(parts[:1])
    list(sit(model, parts[:1], results))
    assert results[0].asked == 40
    assert results[0].failed == sum(one != other for one, other in zip(given, true, strict=True))
    shown = {question: (right, wrong) for question, right, wrong in results[0].failures}
    assert all(shown[text][0] == right for text, right in zip(texts, true, strict=True) if text in shown)


def test_a_model_that_is_always_right_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def oracle(model: Transformer, tokens: torch.Tensor) -> torch.Tensor:
        wanted = tokens[:, -(digits_of(model.config) + 2) :]
        return torch.nn.functional.one_hot(wanted, 15).double()

    monkeypatch.setattr(exam, "many_answer_logits", oracle)
    parts = exam_parts(Operation.MIX, 3, 300, 50)
    results = blank_results(parts)
    list(sit(a_model(3), parts, results))
    assert [result.failed for result in results] == [0] * len(parts)
    assert [result.asked for result in results] == [part.count for part in parts]


def test_one_wrong_token_fails_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    def slip(_model: Transformer, tokens: torch.Tensor) -> torch.Tensor:
        wanted = tokens[:, -5:].clone()
        wanted[3, 2] = (wanted[3, 2] + 1) % 10
        return torch.nn.functional.one_hot(wanted, 15).double()

    monkeypatch.setattr(exam, "many_answer_logits", slip)
    parts = exam_parts(Operation.SUB, 3, 200, 0)[:1]
    results = blank_results(parts)
    list(sit(a_model(3), parts, results))
    assert results[0].failed == 1
    assert results[0].failures[0][0] == parts[0].source.take(3, 1).text()[0]


def test_every_stream_class_and_depth_is_asked_of_each_operation() -> None:
    names = [(part.operation.value, part.name) for part in exam_parts(Operation.MIX, 6, 10, 10)]
    assert len(set(names)) == len(names)
    for operation in ("add", "sub"):
        assert {(operation, stream) for stream in ("natural", "paper", "enriched")} <= set(names)
    assert {("add", f"class S{i}") for i in range(6)} <= set(names)
    assert {("sub", f"class {c}") for c in ["M0", "M1", "M2", "M3", "M4", "N1", "N2", "N3", "N4"]} <= set(names)
    assert {("add", f"cascade depth {d}") for d in range(6)} <= set(names)
    assert {("sub", f"sign depth {d}") for d in range(6)} <= set(names)
    assert {("sub", f"borrow depth {d}, positive") for d in range(5)} <= set(names)


def test_a_part_asks_questions_of_its_class() -> None:
    for part in exam_parts(Operation.SUB, 5, 0, 30):
        labels = classify(part.source.take(0, 30))
        if part.name.startswith("class "):
            assert {found.value for found in labels.classes()} == {part.name.split()[1]}
        elif part.name.startswith("sign"):
            assert set(labels.sign_depth.tolist()) == {int(part.name.split()[-1])}


def test_an_exam_goes_on_from_where_it_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exam, "CHUNK", 200)
    parts = exam_parts(Operation.ADD, 2, 3 * exam.CHUNK, 0)[:1]
    straight, stopped = blank_results(parts), blank_results(parts)
    list(sit(a_model(), parts, straight))
    next(sit(a_model(), parts, stopped))
    assert stopped[0].asked == exam.CHUNK
    list(sit(a_model(), parts, stopped))
    assert stopped == straight


@pytest.mark.parametrize(("failed", "asked"), [(0, 10**6), (2, 10**6), (12621, 10**6), (1, 1), (5, 20)])
def test_the_interval_is_clopper_and_pearsons(failed: int, asked: int) -> None:
    low, high = Result("x", "add", asked, failed).interval()
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
    bounds = {k: Result("x", "add", asked, k).interval() for k in set(failures)}
    covered = sum(bounds[k][0] <= rate <= bounds[k][1] for k in failures)
    assert covered >= 0.95 * n_runs - 3 * (n_runs * 0.95 * 0.05) ** 0.5
