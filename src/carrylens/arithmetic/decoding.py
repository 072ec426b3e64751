"""Decoding: a model's own answers to questions, as text.

Takes  a model and questions.
Gives  the text of each answer, its highest digit first.
Never  sees the right answer.
"""

from __future__ import annotations

from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.task import arithmetic_task
from carrylens.model.decoding import decode_outputs
from carrylens.model.transformer import Transformer


def decode_answers(model: Transformer, questions: Questions) -> list[str]:
    """Greedy decoding: at each place the likeliest token is written down and read again."""
    task = model.task or arithmetic_task(Operation.MIX, digits_of(model.config))
    return task.layout.answer_text(decode_outputs(model, task, questions))
