"""Question sets: questions of a kind with their answers, and one question followed through its algorithm.

Takes  an operation, a width, a sampler or a class or a depth, a seed.
Gives  questions as rows; a trace.
Never  loads a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrylens.front.question_views import TraceView
    from carrylens.workflow.question_data import QuestionSet


def questions(
    operation: str = "add",
    digits: int = 6,
    *,
    count: int = 1000,
    sampler: str = "enriched",
    question_class: str | None = None,
    depth: int | None = None,
    variable: str | None = None,
    seed: int = 0,
) -> QuestionSet:
    """Questions with their answers, classes and depths; `save` writes JSONL, CSV, Parquet or a `datasets` folder.

    `sampler` is natural, paper or enriched. `question_class`, such as S4 or N2, or `depth`, the exact length of the
    longest cascade, are drawn directly. With `variable`, such as `ST[2]`, each row is a base and a source question with
    the counterfactual answer: that of the base if the variable had the value it has in the source.
    """
    from carrylens.workflow.question_data import QuestionChoice, question_set

    return question_set(QuestionChoice(operation, digits, count, sampler, question_class, depth, variable, seed))


def trace(question: str, digits: int | None = None) -> TraceView:
    """A question followed through its algorithm, column by column and token by token."""
    from carrylens.arithmetic.traces import trace as trace_question
    from carrylens.front.question_views import TraceView
    from carrylens.front.tabular import view_of

    return view_of(TraceView, trace_question(question, digits))
