"""Answers in a notebook: what a model answered, right or wrong.

Takes  answers as `ask` gives them.
Gives  HTML.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrylens.report.notebook.html_parts import BAD, GOOD, chip, framed, heading, table


def answers_html(model: str, answers: Sequence[Mapping[str, Any]]) -> str:
    """What a model answered, right or wrong."""
    rows = [
        [
            each["question"],
            each["answer"],
            chip("right", *GOOD) if each["correct"] else chip(f"wrong, it is {each['true_answer']}", *BAD),
            each["class"],
        ]
        for each in answers
    ]
    return framed(heading(model), table(["question", "answer", "", "class"], rows))
