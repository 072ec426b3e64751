"""The command line: arguments in, calls in the order of the route, text or JSON out.

Takes  arguments and standard input.
Gives  exit status 0 done, 1 the answer is no, 2 bad input.
Never  holds logic: `pipeline.py` and the rooms do the work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from carrylens import __version__
from carrylens.errors import CarryLensError
from carrylens.terminal import (
    BAD_INPUT,
    INTERRUPTED,
    line_batches,
    print_error,
    print_line,
    print_note,
    print_record,
    print_text,
    write_file,
)

app = typer.Typer(
    name="carrylens",
    help="Transformers that add and subtract exactly, and the circuit inside them.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Measure how fast carrylens is.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")

# A question such as -5+3 is an argument to be refused by its own message, not an unknown option.
_QUESTIONS = {"ignore_unknown_options": True}

QuestionsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="QUESTION", help="Such as 45+7. Without any, one is read from each line of standard input."),
]
DigitsOption = Annotated[
    int | None, typer.Option(help="Width to pad operands to, 1 to 40. Without it, that of the wider operand.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
SeedOption = Annotated[int, typer.Option(help="Which questions are drawn.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"carrylens {__version__}")
        raise typer.Exit


@app.callback()
def carrylens(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Transformers that add and subtract exactly, and the circuit inside them."""


@app.command("trace", context_settings=_QUESTIONS)
def trace_command(
    questions: QuestionsArgument = None,
    digits: DigitsOption = None,
    as_json: JsonOption = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw the trace to this file.")] = None,
) -> None:
    """Follow a question through its algorithm.

    Shows digits, carries or borrows, and how uncertain ones (U) are settled as the tokens arrive from left to right.
    """
    from carrylens.arithmetic.traces import trace
    from carrylens.report.trace_svg import trace_svg
    from carrylens.report.trace_text import trace_record, trace_text

    if svg is not None and len(questions or []) != 1:
        raise CarryLensError(
            f"--svg draws one question, but {len(questions or [])} were given. Write one with --svg FILE."
        )
    failed = False
    for place, text in enumerate(_texts(questions)):
        try:
            found = trace(text, digits)
        except CarryLensError as error:
            print_error(error)
            failed = True
            continue
        if as_json:
            print_record(trace_record(found))
        else:
            print_text(Text("\n" if place else "") + trace_text(found))
        if svg is not None:
            write_file(svg, trace_svg(found))
            print_note(f"Drew {svg}")
    _exit_if(failed)


@app.command("classify", context_settings=_QUESTIONS)
def classify_command(
    questions: QuestionsArgument = None, digits: DigitsOption = None, as_json: JsonOption = False
) -> None:
    """Tell a question's class, answer and depths.

    Classes are S0-S5 for additions, M0-M4 and N1-N4 for subtractions with a positive and a negative answer.
    """
    from carrylens.pipeline import classify_texts
    from carrylens.report.tables import class_line

    failed = False
    for texts in [questions] if questions else line_batches():
        for result in classify_texts(texts, digits):
            if isinstance(result, CarryLensError):
                print_error(result)
                failed = True
            elif as_json:
                print_record(result)
            else:
                print_line(class_line(result))
        sys.stdout.flush()
    _exit_if(failed)


@app.command("frequencies")
def frequencies_command(
    digits: Annotated[list[int] | None, typer.Option(help="A width; may be given more than once.")] = None,
    count: Annotated[
        int, typer.Option("--questions", min=1, help="How many questions to draw for each row.")
    ] = 100_000,
    seed: SeedOption = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell how often each class turns up.

    Counts the classes in the natural, paper and enriched streams, for additions and subtractions apart.
    """
    from carrylens.pipeline import frequency_records
    from carrylens.report.tables import frequency_table

    records = frequency_records(digits or [5, 10, 15, 20], count, seed)
    if as_json:
        for record in records:
            print_record(record)
    else:
        print_line(frequency_table(records, markdown))


@app.command("prove")
def prove_command(as_json: JsonOption = False) -> None:
    """Prove the algorithms right for every width.

    Checks the base, the step and the top of an induction over the columns, on every case there is.
    """
    from carrylens.arithmetic.proof import prove
    from carrylens.report.tables import align

    lemmas = prove()
    if as_json:
        for lemma in lemmas:
            print_record({**asdict(lemma), "operation": lemma.operation.value})
        return
    body = [[lemma.operation.value, lemma.name, f"{lemma.cases:,}", lemma.statement] for lemma in lemmas]
    for line in align(["algorithm", "lemma", "cases", "statement"], body):
        print_line(line)
    print_line(f"All {sum(lemma.cases for lemma in lemmas):,} cases hold.")


@bench.command("arithmetic")
def bench_arithmetic_command(
    count: Annotated[int, typer.Option("--questions", min=1, help="How many questions.")] = 1_000_000,
    digits: Annotated[int, typer.Option(help="How many digits.")] = 20,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Time every sub-task, answer and class.

    Plain Python integers answer part of the same questions in the same run, and must agree.
    """
    from carrylens.bench.arithmetic import bench_arithmetic

    measured = bench_arithmetic(count, digits, seed)
    if as_json:
        print_record({**asdict(measured), "ratio": measured.ratio})
    else:
        print_line(
            f"{measured.n_questions:,} questions of {measured.digits} digits: {measured.n_variables} variables each in "
            f"{measured.subtask_seconds:.2f} s, classes in {measured.class_seconds:.2f} s. Plain Python integers give "
            f"the same {measured.n_plain:,} answers in {measured.plain_seconds:.2f} s: ours are {measured.ratio:.1f} "
            "times as fast, every sub-task included."
            if measured.agrees
            else "The answers disagree with plain Python integers."
        )
    if not measured.agrees:
        raise typer.Exit(1)


def main() -> None:
    """Run the command line, with every mistake of the user's as one line."""
    try:
        status = app(standalone_mode=False, prog_name="carrylens")
        sys.stdout.flush()
        if status == INTERRUPTED:
            print_error("Stopped.")
        sys.exit(status if isinstance(status, int) else 0)
    except CarryLensError as error:
        print_error(error)
        sys.exit(BAD_INPUT)
    except typer.TyperException as error:
        message = error.format_message()
        if message.startswith("Usage:"):  # a command that only has sub-commands was given none: this is its help
            print_line(message)
            sys.exit(0)
        print_error(f"{message.rstrip('.')}. Write carrylens --help for what there is.")
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        # Whoever read the output has gone. Keep Python from complaining again when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _texts(questions: list[str] | None) -> Iterator[str]:
    yield from questions or (line for lines in line_batches() for line in lines)


def _exit_if(failed: bool) -> None:
    if failed:
        raise typer.Exit(BAD_INPUT)
