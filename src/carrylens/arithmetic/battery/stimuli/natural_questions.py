"""Natural questions: those of one branch, and those that ablated nodes take their values from.

Takes  a branch, or a subject; how many; a seed.
Gives  questions whose digits are uniform; reference questions, as many of each branch that the model takes.
Never  lets ablated nodes tell which branch is asked.

A mean over questions of one branch, and what a node writes for another question of it, still say which operation is
asked and of which sign its answer is. So the reference has as many questions of each branch that the model takes.
"""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Questions
from carrylens.tasks.batches import joined


def natural_questions(branch: Branch, digits: int, n: int, seed: int) -> Questions:
    """Questions of one branch, every digit uniform.

    >>> [text[3] for text in natural_questions(Branch.NEGATIVE, 3, 2, seed=1).text()]
    ['-', '-']
    """
    drawn = Population(PopulationKind.NATURAL, branch.operation, digits).draw(seed, 0, 6 * n)
    return drawn[np.flatnonzero(is_negative(drawn) == (branch is Branch.NEGATIVE))[:n]]


def reference_questions(subject: Subject, n: int, seed: int) -> Questions:
    """About `n` natural questions, as many of each branch that the model takes: what is ablated tells no branch."""
    branches = branches_of(subject.operation)
    each = -(-n // len(branches))
    return joined([natural_questions(branch, subject.digits, each, seed) for branch in branches])
