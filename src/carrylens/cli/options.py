"""Options: what several commands share.

Takes  nothing.
Gives  the types of shared arguments and options, and how questions are read.
Never  defines a command.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

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
SeedOption = Annotated[int, typer.Option(help="Which questions are drawn.")]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A shipped model's name, a model folder, or hf:owner/repository.")
]
DeviceOption = Annotated[str, typer.Option(help="cpu, cuda, mps, or auto for the fastest there is.")]
ThreadsOption = Annotated[int, typer.Option(min=0, help="CPU threads; 0 leaves the choice to PyTorch.")]


def question_batches(questions: list[str] | None) -> Iterator[list[str]]:
    """The questions given as arguments, or those on standard input as they arrive."""
    if questions:
        yield questions
    else:
        yield from line_batches()


def exit_if(failed: bool) -> None:
    """End with the status for bad input if anything failed."""
    if failed:
        raise typer.Exit(BAD_INPUT)
