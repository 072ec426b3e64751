"""Options: what several commands share.

Takes  nothing.
Gives  the types of shared arguments and options, and how questions are read.
Never  defines a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from carrylens.arithmetic.questions import check_digits
from carrylens.errors import CarryLensError, quote
from carrylens.model.source import ModelSource
from carrylens.terminal import BAD_INPUT, line_batches

QUESTION_SETTINGS = {"ignore_unknown_options": True}
"""A question such as -5+3 is an argument to be refused by its own message, not an unknown option."""

QuestionsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="QUESTION", help="Such as 45+7. Without any, one is read from each line of standard input."),
]
DigitsOption = Annotated[
    int | None, typer.Option(help="Width to pad operands to, 1 to 40. Without it, that of the wider operand.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
LARGEST_SEED = 2**63 - 1
SeedOption = Annotated[int, typer.Option(max=LARGEST_SEED, help="Which questions are drawn.")]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A shipped model's name, a model folder, or hf:owner/repository.")
]
TaskOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A Python file that declares the model's task, where that is one of your own."),
]
DeviceOption = Annotated[str, typer.Option(help="cpu, cuda, mps, or auto for the fastest there is.")]
ThreadsOption = Annotated[int, typer.Option(min=0, max=1024, help="CPU threads; 0 leaves the choice to PyTorch.")]


def source_given(model: str, task: Path | None, *, any_name: bool = False) -> ModelSource:
    """The model that was named; for the task that the file declares, if one was given."""
    from carrylens.arithmetic.zoo.sources import find_source
    from carrylens.workflow.task_files import task_named

    return find_source(model, any_name=any_name, task=task_named(task))


def question_batches(questions: list[str] | None, digits: int | None = None) -> Iterator[list[tuple[str, str]]]:
    """The questions given as arguments, or those on standard input as they arrive, each with where it was found.

    What is wrong with the command rather than with one question is told at once.
    """
    if digits is not None:
        check_digits(digits)
    for text in questions or ():
        if re.match(r"--|-[A-Za-z]", text):
            raise CarryLensError(f"No such option: {quote(text)}. Write carrylens --help to see all options.")
    if questions:
        yield [(text, "") for text in questions]
        return
    n_lines = 0
    for lines in line_batches():
        yield [(line, f"line {n_lines + place}: ") for place, line in enumerate(lines, start=1)]
        n_lines += len(lines)


def exit_if(failed: bool) -> None:
    """End with the status for bad input if anything failed."""
    if failed:
        raise typer.Exit(BAD_INPUT)
