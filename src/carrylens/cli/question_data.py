"""The command that writes questions down: questions.

Takes  an operation, a width, a sampler, a class or a depth, or a variable to make pairs for.
Gives  rows on standard output, or a file or folder with a data card.
Never  loads a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.options import SeedOption
from carrylens.terminal import print_note, print_record


def questions_command(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="add, sub or mix.")] = "add",
    digits: Annotated[int, typer.Option(help="How many digits an operand has.")] = 6,
    count: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many rows.")] = 1000,
    sampler: Annotated[str, typer.Option(help="natural, paper or enriched.")] = "enriched",
    question_class: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="Only this class, such as S4, M2 or N3.")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(help="Only questions whose longest chain of carries or borrows has this depth.")
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="Base and source pairs for a variable, such as 'ST[2]', instead."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A .jsonl, .csv or .parquet file, or a folder for Hugging Face's datasets."),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Write questions with their answers, classes and depths, or pairs with their counterfactual answers.

    Without --out each row is printed as a JSON object. A folder has a data card and loads with datasets.load_dataset.
    """
    found = cl.questions(
        operation,
        digits,
        count=count,
        sampler=sampler,
        question_class=question_class,
        depth=depth,
        variable=pairs,
        seed=seed,
    )
    if out is None:
        for row in found:
            print_record(row)
        return
    for path in found.save(out):
        print_note(f"Wrote {path}")


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("questions")(questions_command)
