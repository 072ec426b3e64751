"""What a model that adds or subtracts is tested on, and that its failures are counted as they should be."""

import pytest
import torch

from carrylens.arithmetic import Operation, Questions, answers
from carrylens.arithmetic.classes import classify
from carrylens.arithmetic.decoding import decode_answers
from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.model_shapes import config_of_width, digits_of
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.structures import Structure
from carrylens.arithmetic.targets import TargetPopulation
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.model import Transformer
from carrylens.training import exam
from carrylens.training.exam import EXAM_SEED, ExamPart, blank_results, sit
from carrylens.training.exam_results import PartResult

LATER = ["structured", *(each.value for each in Structure)]
ADD, SUB, MIX = Operation.ADD, Operation.SUB, Operation.MIX


def a_model(digits: int = 2) -> Transformer:
    return Transformer(config_of_width(digits, 1, 3, width=24, seed=3))


def questions_of(part: ExamPart, start: int, count: int) -> Questions:
    return Questions.of_batch(part.population.draw(part.seed, start, count))


def answered(model: Transformer, task: ArithmeticTask, parts: list[ExamPart]) -> list[PartResult]:
    results = blank_results(parts)
    list(sit(model, task, parts, results))
    return results


def test_failures_are_those_that_decoding_makes() -> None:
    # A model that knows nothing but the sign, and a right answer now and then by our own doing.
    model, task = a_model(), arithmetic_task(ADD, 2)
    part = exam_parts(task, 40, 0)[0]
    texts = questions_of(part, 0, 40).text()
    given = decode_answers(model, Questions.parse(texts))
    true = answers(Questions.parse(texts)).text()
    [result] = answered(model, task, [part])
    assert result.asked == 40
    assert result.failed == sum(one != other for one, other in zip(given, true, strict=True))
    shown = {question: right for question, right, _ in result.failures}
    assert all(shown[text] == right for text, right in zip(texts, true, strict=True) if text in shown)
    assert len(shown) > 30


def test_a_model_that_is_always_right_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def oracle(model: Transformer, tokens: torch.Tensor) -> torch.Tensor:
        wanted = tokens[:, -(digits_of(model.config) + 2) :]
        return torch.nn.functional.one_hot(wanted, 15).double()

    monkeypatch.setattr(exam, "many_answer_logits", oracle)
    task = arithmetic_task(MIX, 3)
    parts = exam_parts(task, 300, 50)
    results = answered(a_model(3), task, parts)
    assert [result.failed for result in results] == [0] * len(parts)
    assert [result.asked for result in results] == [part.count for part in parts]


def test_one_wrong_token_fails_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    def slip(_model: Transformer, tokens: torch.Tensor) -> torch.Tensor:
        wanted = tokens[:, -5:].clone()
        wanted[3, 2] = (wanted[3, 2] + 1) % 10
        return torch.nn.functional.one_hot(wanted, 15).double()

    monkeypatch.setattr(exam, "many_answer_logits", slip)
    task = arithmetic_task(SUB, 3)
    parts = exam_parts(task, 200, 0)[:1]
    [result] = answered(a_model(3), task, parts)
    assert result.failed == 1
    assert result.failures[0][0] == questions_of(parts[0], 3, 1).text()[0]


def test_every_population_class_and_depth_is_asked_of_each_operation() -> None:
    names = [(part.label, part.name) for part in exam_parts(arithmetic_task(MIX, 6), 10, 10)]
    assert len(set(names)) == len(names)
    for operation in ("add", "sub"):
        assert {(operation, name) for name in ("natural", "paper", "enriched", "structured")} <= set(names)
        assert {(operation, each.value) for each in Structure} <= set(names)
    assert {("add", f"class S{i}") for i in range(6)} <= set(names)
    assert {("sub", f"class {c}") for c in ["M0", "M1", "M2", "M3", "M4", "N1", "N2", "N3", "N4"]} <= set(names)
    assert {("add", f"cascade depth {d}") for d in range(6)} <= set(names)
    assert {("sub", f"sign depth {d}") for d in range(6)} <= set(names)
    assert {("sub", f"borrow depth {d}, positive") for d in range(5)} <= set(names)


def test_a_part_asks_questions_of_its_class() -> None:
    for part in exam_parts(arithmetic_task(SUB, 5), 0, 30):
        labels = classify(questions_of(part, 0, 30))
        if part.name.startswith("class "):
            assert {found.value for found in labels.classes()} == {part.name.split()[1]}
        elif part.name.startswith("sign"):
            assert set(labels.sign_depth.tolist()) == {int(part.name.split()[-1])}


def test_the_questions_are_those_of_the_first_exams() -> None:
    for part in exam_parts(arithmetic_task(MIX, 4), 10, 10):
        drawn = questions_of(part, 3, 7)
        if isinstance(part.population, TargetPopulation):
            assert drawn == TargetPopulation(part.population.target, 4).draw(EXAM_SEED, 3, 7)
        elif part.name not in LATER:
            assert drawn == Population(PopulationKind(part.name), Operation(part.label), 4).draw(EXAM_SEED, 3, 7)


def test_where_a_sum_may_not_fit_only_populations_that_do_are_asked() -> None:
    task = arithmetic_task(ADD, 3, QuestionLayout(3, sign=False, answer_digits=3))
    parts = exam_parts(task, 50, 50)
    assert [part.name for part in parts] == ["natural", "paper", "enriched", *LATER]
    for part in parts:
        assert answers(questions_of(part, 0, 50)).digits[:, -1].max() == 0
