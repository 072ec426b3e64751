"""Frequencies: how often each question class turns up in a population.

Takes  a population, a seed and a number of questions.
Gives  the count of every class among them.
Never  keeps more than one chunk of questions in memory.
"""

import numpy as np

from carrylens.arithmetic.classes import CLASSES, QuestionClass, classify
from carrylens.arithmetic.populations import Population

_CHUNK = 1 << 17


def class_counts(population: Population, seed: int, count: int) -> dict[QuestionClass, int]:
    """How many of the population's first `count` questions, drawn with this seed, are of each class.

    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.populations import PopulationKind
    >>> sum(class_counts(Population(PopulationKind.NATURAL, Operation.MIX, 6), 0, 500).values())
    500
    """
    totals = np.zeros(len(CLASSES), dtype=np.int64)
    for start in range(0, count, _CHUNK):
        questions = population.draw(seed, start, min(_CHUNK, count - start))
        totals += np.bincount(classify(questions).code, minlength=len(CLASSES))
    return {question_class: int(total) for question_class, total in zip(CLASSES, totals, strict=True)}
