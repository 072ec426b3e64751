"""Exact arithmetic: questions, every sub-task's value, the algorithms as causal models, classes and populations.

Takes  an operation, a number of digits, a seed.
Gives  questions with exact answers and everything that is true of them.
Never  imports anything but NumPy.

Start reading at `questions.py`, then `variables.py`, `subtasks.py`, `algorithm_model.py` and `algorithms.py`.
"""

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm, answers, subtasks
from carrylens.arithmetic.classes import Labels, QuestionClass, classify
from carrylens.arithmetic.frequencies import class_counts
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import MAX_DIGITS, Answers, Operation, Questions
from carrylens.arithmetic.rivals import one_layer, ripple
from carrylens.arithmetic.targets import Chain, Target, TargetPopulation
from carrylens.arithmetic.timeline import first_computable, timeline
from carrylens.arithmetic.traces import trace
from carrylens.arithmetic.variables import U
from carrylens.tasks.causal import Mechanism, Values
from carrylens.tasks.pairs import Pairs, effect_pairs, null_pairs
from carrylens.tasks.variables import UNKNOWN, Variable

__all__ = [
    "MAX_DIGITS",
    "UNKNOWN",
    "Algorithm",
    "Answers",
    "Chain",
    "Labels",
    "Mechanism",
    "Operation",
    "Pairs",
    "Population",
    "PopulationKind",
    "QuestionClass",
    "Questions",
    "Target",
    "TargetPopulation",
    "U",
    "Values",
    "Variable",
    "algorithm",
    "answers",
    "class_counts",
    "classify",
    "effect_pairs",
    "first_computable",
    "null_pairs",
    "one_layer",
    "ripple",
    "subtasks",
    "timeline",
    "trace",
]
