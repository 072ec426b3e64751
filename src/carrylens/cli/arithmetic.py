"""Commands on questions alone: trace, classify, frequencies, prove.

Takes  questions and sizes.
Gives  text, JSON or pictures.
Never  loads a model.
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import carrylens as cl
from carrylens.cli.options import (
    QUESTION_SETTINGS,
    DigitsOption,
    JsonOption,
    QuestionsArgument,
    SeedOption,
    exit_if,
    question_batches,
)
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.terminal import print_error, print_line, print_note, print_record, print_text


def trace_command(
    questions: QuestionsArgument = None,
    digits: DigitsOption = None,
    as_json: JsonOption = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw the trace to this file.")] = None,
) -> None:
    """Follow a question through its algorithm.

    Shows digits, carries or borrows, and how uncertain ones (U) are settled as the tokens arrive from left to right. In
    JSON a resolved carry, borrow or sign that is not settled yet is U, any other value not known yet is null.
    """
    from carrylens.report.figures.trace import trace_svg
    from carrylens.report.terminal.trace import trace_record, trace_text

    if svg is not None and len(questions or []) != 1:
        given = f"{len(questions)} were given" if questions else "none was given as an argument"
        raise CarryLensError(f"--svg draws one question, but {given}. Write one, and --svg FILE.")
    failed = False
    for place, (text, where) in enumerate(chain.from_iterable(question_batches(questions, digits))):
        try:
            found = cl.trace(text, digits)
        except CarryLensError as error:
            print_error(f"{where}{error}")
            failed = True
            continue
        if as_json:
            print_record(trace_record(found))
        else:
            print_text(Text("\n" if place else "") + trace_text(found))
        if svg is not None:
            write_whole(svg, trace_svg(found).encode())
            print_note(f"Drew {svg}")
    exit_if(failed)


def classify_command(
    questions: QuestionsArgument = None, digits: DigitsOption = None, as_json: JsonOption = False
) -> None:
    """Show the class, answer and depths of questions.

    Classes are S0-S5 for additions, M0-M4 and N1-N4 for subtractions with a positive and a negative answer.
    """
    from carrylens.report.terminal.tables import class_line

    failed = False
    for batch in question_batches(questions, digits):
        found = cl.classify(*(text for text, _ in batch), digits=digits, skip_errors=True)
        for (_, where), result in zip(batch, found.results, strict=True):
            if isinstance(result, CarryLensError):
                print_error(f"{where}{result}")
                failed = True
            elif as_json:
                print_record(result)
            else:
                print_line(class_line(result))
        sys.stdout.flush()
    exit_if(failed)


def frequencies_command(
    digits: Annotated[list[int] | None, typer.Option(help="A width; may be given more than once.")] = None,
    count: Annotated[
        int, typer.Option("--questions", min=1, help="How many questions to draw for each row.")
    ] = 100_000,
    seed: SeedOption = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Count how often each class of question occurs.

    Counts the classes in the natural, paper and enriched populations, for additions and subtractions apart.
    """
    from carrylens.report.terminal.tables import frequency_table

    found = cl.frequencies(*(digits or ()), count=count, seed=seed)
    if as_json:
        for record in found:
            print_record(record)
    else:
        print_line(frequency_table(found, markdown))


def prove_command(as_json: JsonOption = False) -> None:
    """Prove the algorithms correct for any number of digits.

    Checks the base, the step and the top of an induction over the columns, on every case there is.
    """
    from carrylens.report.terminal.tables import align

    lemmas = cl.prove()
    if as_json:
        for lemma in lemmas:
            print_record(lemma)
        return
    body = [[lemma["operation"], lemma["name"], f"{lemma['cases']:,}", lemma["statement"]] for lemma in lemmas]
    for line in align(["algorithm", "lemma", "cases", "statement"], body):
        print_line(line)
    n_wiring = sum(lemma["cases"] for lemma in lemmas if lemma["name"] == "uniform")
    n_cases = sum(lemma["cases"] for lemma in lemmas) - n_wiring
    print_line(f"All {n_cases:,} cases of the induction and {n_wiring:,} checks of the wiring hold.")


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("trace", context_settings=QUESTION_SETTINGS)(trace_command)
    app.command("classify", context_settings=QUESTION_SETTINGS)(classify_command)
    app.command("frequencies")(frequencies_command)
    app.command("prove")(prove_command)
