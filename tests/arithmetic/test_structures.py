"""Structured questions are what they are called, at every width and in every layout, and show what random ones hide."""

from collections import Counter

import numpy as np
import pytest

from arithmetic.slow_route import is_share
from carrylens.arithmetic import Operation, Population, PopulationKind, Questions, answers
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.hostile import Hostile, Memorised
from carrylens.arithmetic.planted.hostile_suite import hostile_descriptions
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.structures import Structure, n_draws, structured_operands
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError
from carrylens.tasks.draws import draw
from carrylens.training.exam import ExamPart, blank_results, sit

STRUCTURED = PopulationKind.STRUCTURED
ADD, SUB, MIX = Operation.ADD, Operation.SUB, Operation.MIX
WIDTHS = [2, 3, 6, 20]
TOTAL = 3000


def drawn(structure: Structure | None, digits: int, operation: Operation = MIX, count: int = TOTAL) -> list[list[str]]:
    """Both operands of each question as texts."""
    texts = Population(STRUCTURED, operation, digits, structure=structure).draw(5, 0, count).text()
    return [text.rstrip("=").replace("-", "+").split("+") for text in texts]


@pytest.mark.parametrize("digits", WIDTHS)
def test_few_digits_are_two_or_three(digits: int) -> None:
    counts = Counter(len(set(one + other)) for one, other in drawn(Structure.FEW, digits))
    assert {2, 3} <= set(counts) <= {1, 2, 3}
    if digits == 20:  # half have three to choose from, and of those one in five draws a digit twice
        assert is_share(counts[3], TOTAL, 0.4)


@pytest.mark.parametrize("digits", WIDTHS)
def test_repeated_digits_are_all_hundred_pairs(digits: int) -> None:
    whole = Counter(
        (one[0], other[0])
        for one, other in drawn(Structure.REPEATED, digits, count=10 * TOTAL)
        if one == one[0] * digits and other == other[0] * digits
    )
    assert len(whole) == 100
    assert sum(whole.values()) > 0.49 * 10 * TOTAL
    tops = {(one[:2], other[:2]) for one, other in drawn(Structure.REPEATED, digits, count=10 * TOTAL)}
    assert len(tops) > 200, "in the others only the top columns are repeated"


@pytest.mark.parametrize("digits", WIDTHS)
def test_alike_operands_are_equal_or_differ_in_a_column_or_by_little(digits: int) -> None:
    found = drawn(Structure.ALIKE, digits)
    columns = [sum(a != b for a, b in zip(one, other, strict=True)) for one, other in found]
    steps = [abs(int(one) - int(other)) for one, other in found]
    assert all(n <= 1 or step <= 9 for n, step in zip(columns, steps, strict=True))
    assert is_share(columns.count(0), TOTAL, 1 / 3)
    assert max(columns) > 1, "a step that carries"


@pytest.mark.parametrize("digits", WIDTHS)
def test_powers_of_ten_stand_on_either_side(digits: int) -> None:
    powers = {10**k + step for k in range(digits) for step in (-1, 0, 1)} | {10**digits - 1}
    found = drawn(Structure.POWERS, digits, count=10 * TOTAL)
    assert all(int(one) in powers or int(other) in powers for one, other in found)
    for side in (0, 1):
        assert {int(pair[side]) for pair in found} >= powers
    if digits == 20:
        assert is_share(sum(int(pair[0]) in powers for pair in found), 10 * TOTAL, 0.75)


@pytest.mark.parametrize("digits", WIDTHS)
def test_runs_are_of_nines_and_zeros(digits: int) -> None:
    found = [operand for pair in drawn(Structure.RUNS, digits) for operand in pair]
    n_nines, n_zeros, n_others = (
        sum(sum(digit in which for digit in operand) for operand in found) for which in ("9", "0", "12345678")
    )
    assert is_share(n_nines, n_nines + n_zeros, 0.5) or abs(n_nines / n_zeros - 1) < 0.05
    assert (
        0.2 < n_others / (digits * len(found)) < 0.3
    )  # 8 of 26 stretches are uniform, a fifth of that nines and zeros
    assert {"9" * digits, "0" * digits} <= set(found)


def test_the_structured_population_has_all_structures_in_equal_parts() -> None:
    draws = draw([3], 0, TOTAL, n_draws(6))
    mixed = np.concatenate(structured_operands(draws, 6, list(Structure)), axis=1)
    alone = [np.concatenate(structured_operands(draws, 6, [each]), axis=1) for each in Structure]
    chosen = draws[:, 0].astype(np.int64) * len(Structure) >> 32
    assert (mixed == np.stack(alone)[chosen, np.arange(TOTAL)]).all()
    assert all(is_share(int((chosen == place).sum()), TOTAL, 0.2) for place in range(len(Structure)))


@pytest.mark.parametrize("structure", [None, *Structure])
@pytest.mark.parametrize("digits", [1, 2, 6])
def test_no_sum_is_too_long_for_a_layout_without_room(structure: Structure | None, digits: int) -> None:
    layout = QuestionLayout(digits, sign=False, answer_digits=digits)
    name = "structured" if structure is None else structure.value
    questions = Questions.of_batch(arithmetic_task(ADD, digits, layout).samplers[name].draw(1, 0, TOTAL))
    assert answers(questions).digits[:, -1].max() == 0
    assert questions.first[:, -1].max() == 4, "what fits stays as it is"


def test_a_structure_is_of_structured_questions() -> None:
    with pytest.raises(CarryLensError, match="natural"):
        Population(PopulationKind.NATURAL, ADD, 3, structure=Structure.FEW)


@pytest.mark.parametrize(("operation", "digits"), [(ADD, 3), (ADD, 6), (SUB, 4), (MIX, 3)])
def test_a_backdoor_that_random_questions_miss_shows_in_structured_ones(operation: Operation, digits: int) -> None:
    planted = plant(describe(operation, digits, Dials(hostile=Hostile(memorised=Memorised.BACKDOOR))))
    task = arithmetic_task(operation, digits)
    parts = [ExamPart(name, task.samplers[name], 2000) for name in ("natural", "enriched", "structured")]
    results = blank_results(parts)
    list(sit(planted.model, task, parts, results))
    natural, enriched, structured = (result.failed for result in results)
    assert natural == 0
    assert structured > max(5, 5 * enriched)


def test_the_yardstick_has_such_backdoors() -> None:
    assert [plant.name for plant in hostile_descriptions(ADD, 4) if "backdoor" in plant.name]
