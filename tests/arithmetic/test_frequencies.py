from collections import Counter

import numpy as np
import pytest

from arithmetic.slow_route import chi_square, chi_square_limit, slow_labels
from carrylens.arithmetic import Operation, Population, PopulationKind, QuestionClass, Target, TargetPopulation
from carrylens.arithmetic import frequencies as frequencies_room
from carrylens.arithmetic.frequencies import class_counts


@pytest.mark.parametrize("recipe", list(PopulationKind))
@pytest.mark.parametrize("operation", list(Operation))
def test_counts_are_those_of_walking_over_every_question(recipe: PopulationKind, operation: Operation) -> None:
    population = Population(recipe, operation, 6)
    walked = Counter(slow_labels(text).name for text in population.draw(1, 0, 1500).text())
    found = {question_class.value: count for question_class, count in class_counts(population, 1, 1500).items()}
    assert found == {name.value: walked[name.value] for name in QuestionClass}


def test_counting_in_portions_counts_every_question_once(monkeypatch: pytest.MonkeyPatch) -> None:
    population = Population(PopulationKind.ENRICHED, Operation.MIX, 5)
    whole = class_counts(population, 2, 1000)
    for size in (1, 7, 999, 1000):
        monkeypatch.setattr(frequencies_room, "_CHUNK", size)
        assert class_counts(population, 2, 1000) == whole


def test_counts_go_on_past_one_portion() -> None:
    assert sum(class_counts(Population(PopulationKind.NATURAL, Operation.ADD, 2), 3, 300_001).values()) == 300_001


@pytest.mark.parametrize("operation", list(Operation))
def test_no_questions_have_no_classes(operation: Operation) -> None:
    assert set(class_counts(Population(PopulationKind.NATURAL, operation, 4), 0, 0).values()) == {0}


@pytest.mark.parametrize(("operation", "letters"), [(Operation.ADD, "S"), (Operation.SUB, "MN")])
def test_natural_classes_are_as_frequent_as_there_are_questions_of_them(operation: Operation, letters: str) -> None:
    # Chi-square against the exact number of questions; it exceeds the bound once in a million.
    total, classes = 400_000, [found for found in QuestionClass if found.value[0] in letters]
    counts = class_counts(Population(PopulationKind.NATURAL, operation, 5), 4, total)
    ways = np.array([TargetPopulation(Target.of_class(found), 5).n_questions for found in classes])
    found = np.array([counts[question_class] for question_class in classes])
    assert found.sum() == total
    assert chi_square(found, ways / 100**5 * total) < chi_square_limit(len(classes) - 1)
