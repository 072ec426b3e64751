"""Commands on models: train, test, ask, models.

Takes  names, folders and questions.
Gives  trained models and what they answer.
Never  imports PyTorch before one of these commands is run.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from carrylens.cli.options import (
    DeviceOption,
    JsonOption,
    ModelArgument,
    QuestionsArgument,
    TaskOption,
    ThreadsOption,
    exit_if,
    question_batches,
    source_given,
)
from carrylens.cli.watch import Watch
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.terminal import Stopped, print_error, print_line, print_note, print_record

if TYPE_CHECKING:  # PyTorch is imported only by the commands that need it
    from carrylens.arithmetic.zoo.exams import Exam
    from carrylens.training.plan import TrainingPlan
    from carrylens.workflow.testing import ExamFigures

_KEEP_SECONDS = 30.0


def train_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to train, such as add_d6_l2_h3_w96_t2K_s1.")],
    recipe: Annotated[str, typer.Option(help="compact is ours, paper the published one.")] = "compact",
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where to put it, if not models/NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the folder's checkpoint.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Drop what the folder has and start anew.")] = False,
    insert: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The addition model to insert, for names that begin with ins.")
    ] = None,
    placement: Annotated[str, typer.Option(help="early: into the first layers and heads; late: the last.")] = "early",
    layout: Annotated[
        str, typer.Option(help="How questions are written: paper, unsigned (no sign), equals (six letters for =).")
    ] = "paper",
    aligned: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Train under the alignment in this file, and measure whether it came out."),
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 1,
    checkpoint_seconds: Annotated[float, typer.Option(min=0, help="How often to write a checkpoint.")] = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Train the model a name describes.

    Writes a model folder. Ctrl-C stops after the step at hand and writes a checkpoint, from which --resume goes on. On
    the CPU, with the same --threads, it comes to exactly the same model as a run that never stopped; on CUDA and MPS
    that is not promised.
    """
    from carrylens.workflow.acceptance import is_unaccepted
    from carrylens.workflow.training import train_model, training_plan

    plan = training_plan(name, recipe, insert, placement, aligned, layout)
    folder = out or Path("models") / (name if layout == "paper" else f"{name}.{layout}")
    if plan.interchange is not None and resume and is_unaccepted(folder):
        _accept(plan, folder, as_json=as_json)
        return
    with Watch(plan.n_steps, name) as watch:
        run = train_model(plan, folder, device, threads, watch, checkpoint_seconds, resume=resume, restart=restart)
    if not run.done:
        raise Stopped(f"Stopped after step {run.step} of {plan.n_steps}. Add --resume to go on.")
    last = run.history[-1]
    if plan.interchange is not None:
        _accept(plan, folder, as_json=as_json)
    elif as_json:
        print_record({"name": name, "folder": str(folder), **last})
    else:
        print_line(
            f"{folder}: {run.step} steps in {run.seconds:.0f} s, loss {last['loss']:.2g}, "
            f"hard questions right {last['hard']:.1%}. Test it with: carrylens test {folder}"
        )


def _accept(plan: TrainingPlan, folder: Path, *, as_json: bool) -> None:
    from carrylens.report.aligned_card import acceptance_lines, acceptance_rows
    from carrylens.workflow.acceptance import accept_model

    print_note("Asking it on held-out questions whether the alignment holds ...")
    found = accept_model(plan, folder)
    if as_json:
        rates = {what: [share.right, share.rows] for what, share in acceptance_rows(found)}
        print_record({"name": plan.name, "folder": str(folder), "accepted": found.accepted, "rates": rates})
    else:
        for line in acceptance_lines(found, str(folder)):
            print_line(line)
    if not found.accepted:
        raise typer.Exit(1)


def exam_command(
    model: ModelArgument,
    questions: Annotated[
        int,
        typer.Option(
            min=0,
            max=10**15,
            help="How many of each population, for each operation; of the structured one at most 100,000.",
        ),
    ] = 1_000_000,
    per_class: Annotated[
        int, typer.Option(min=0, max=10**15, help="How many of each class, exact depth and structure.")
    ] = 10_000,
    of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POPULATION[:OPERATION]=N",
            help="How many of one population instead, such as enriched=400000 or enriched:add=1000000. Repeatable.",
        ),
    ] = None,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="Instead: every question there is, for models of few digits.")
    ] = False,
    save: Annotated[
        bool | None,
        typer.Option(
            "--save/--no-save",
            help="Keep the result in the model's own folder, or nowhere. Without either: there, or in maps/NAME.",
        ),
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Test anew, whatever was saved.")] = False,
    task: TaskOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Count a model's failures on millions of questions.

    Evaluates it on the natural, paper, enriched and structured populations, every class, exact depth and structure.
    Exit status 1 if the model misses the bar: fewer than 10 failures in a million natural and in a million enriched
    questions, for each operation. Counts are kept every half minute and on Ctrl-C; the same command goes on from there.

    With --exhaustive: every question there is, to exhaustive.json. Exit status 1 if it is wrong on one of them.
    A saved test of the same weights on as many questions is only printed.
    """
    from carrylens.workflow.testing import known_test, start_exam, start_exhaustive

    if exhaustive and of:
        raise CarryLensError("--exhaustive leaves no question out, so there is nothing to count with --of. Write one.")
    usual = (questions, per_class, device, threads, of or ())
    source = source_given(model, task)
    exam = start_exhaustive(source, device, threads) if exhaustive else start_exam(source, *usual)
    if exam.note is not None:
        print_note(exam.note)
    if not save and not restart and not exhaustive and (known := known_test(exam)):
        print_note(f"This is the saved test {known[0]}; --restart tests anew")
        _show(known[1], as_json)
    else:
        _examine(exam, save, as_json, exhaustive)


def _examine(exam: Exam, save: bool | None, as_json: bool, exhaustive: bool) -> None:
    if save:
        exam.folder_to_save()  # before hours of questions, not after
    _sit(exam)
    wanted = bool(save) if exhaustive else save is not False
    not_saved = _save(exam, own=bool(save)) if wanted else None
    if not_saved is not None:
        _show(exam.record(), as_json, strict=False)
        raise not_saved
    exam.forget()
    _show(exam.record(), as_json, every=exhaustive)


def _show(record: ExamFigures, as_json: bool, strict: bool = True, every: bool = False) -> None:
    from carrylens.report.terminal.exam import exam_lines

    if as_json:
        print_record(record)
    else:
        for line in exam_lines(record):
            print_line(line)
    failed = every and any(part["failed"] for part in record["parts"])
    if strict and (record["meets_bar"] is False or failed):
        raise typer.Exit(1)


def _sit(exam: Exam) -> None:
    with Watch(exam.total, exam.source.name) as watch:
        watch.advance(exam.asked)
        _sit_watched(exam, watch)
    if not exam.done:
        exam.keep()
        raise Stopped(f"Stopped after {exam.asked:,} of {exam.total:,} questions. The same command goes on from there.")


def _sit_watched(exam: Exam, watch: Watch) -> None:
    kept_at, keeps = monotonic(), True
    for count in exam.sit():
        watch.advance(count)
        if watch.stop_wanted():
            return
        if keeps and monotonic() - kept_at >= _KEEP_SECONDS:
            try:
                exam.keep()
            except CarryLensError as error:  # no reason to stop
                print_note(f"The counts so far cannot be kept. {error}")
                keeps = False
            kept_at = monotonic()


def _save(exam: Exam, *, own: bool) -> CarryLensError | None:
    # What went wrong, so that the results can be shown first.
    from carrylens.workflow.testing import keep_test

    again = ""
    with suppress(CarryLensError):
        exam.keep()
        again = " The results are kept: the same command tries to save them again, without a new test."
    try:
        print_note(f"Wrote {exam.save() if own else keep_test(exam)}")
    except CarryLensError as error:
        return CarryLensError(f"{error}{again}")
    return None


def ask_command(
    model: ModelArgument, questions: QuestionsArgument = None, task: TaskOption = None, as_json: JsonOption = False
) -> None:
    """Let a model answer questions, token by token.

    Exit status 1 if an answer is wrong.
    """
    from carrylens.workflow.questions import ask_texts

    asked, failed, wrong = source_given(model, task, any_name=True).load(), False, False
    for batch in question_batches(questions):
        for (_, where), result in zip(batch, ask_texts(asked, [text for text, _ in batch]), strict=True):
            if isinstance(result, CarryLensError):
                print_error(f"{where}{result}")
                failed = True
                continue
            wrong = wrong or not result["correct"]
            if as_json:
                print_record(result)
            else:
                verdict = "right" if result["correct"] else f"wrong, it is {result['true_answer']}"
                between, sort = ("=", f"  {result['class']}") if result["class"] else (" ", "")
                print_line(f"{result['question']}{between}{result['answer']}{sort}  {verdict}")
    exit_if(failed)
    if wrong:
        raise typer.Exit(1)


def models_command(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a page with intervals, training and what was tried.")
    ] = False,
    aligned: Annotated[
        bool,
        typer.Option("--aligned", help="Those that were trained under an alignment, so that their truth is known."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the models that come with carrylens.

    Failures per million questions stand beside those of the paper's models of the same shape.
    """
    if aligned:
        _list_aligned(markdown=markdown, as_json=as_json)
        return
    from carrylens.arithmetic.zoo.failure_table import shipped_figures, tried_figures
    from carrylens.report.terminal.models import model_lines, models_page

    records = list(shipped_figures())
    if as_json:
        for record in records:
            print_record(record)
    elif markdown:
        print_line(models_page(records, list(tried_figures())))
    else:
        for line in model_lines(records):
            print_line(line)


def _list_aligned(*, markdown: bool, as_json: bool) -> None:
    from msgspec import to_builtins

    from carrylens.arithmetic.aligned.shipped import aligned_figures
    from carrylens.report.terminal.aligned_models import aligned_lines, aligned_page

    figures = aligned_figures()
    if as_json:
        for each in figures:
            print_record(to_builtins(each))
        return
    for line in [aligned_page(figures)] if markdown else aligned_lines(figures):
        print_line(line)


def losses_command(
    model: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="As for test. Without it, every shipped model is drawn.")
    ] = None,
    svg: Annotated[Path, typer.Option(metavar="FILE", help="The picture to draw.")] = Path("losses.svg"),
) -> None:
    """Draw loss curves.

    Of one model: a curve for each answer token, a panel for each operation; of a published one, whose
    training_loss.json has only the whole loss, that. Of all shipped models: a panel for each.
    """
    from carrylens.arithmetic.zoo import find_model, shipped_names
    from carrylens.arithmetic.zoo.model_facts import history
    from carrylens.report.figures.losses import all_losses_svg

    if model is None:
        picture = all_losses_svg({name: history(find_model(name)) for name in shipped_names()})
    else:
        picture = _losses_of(model)
    write_whole(svg, picture.encode())
    print_note(f"Drew {svg}")


def _losses_of(model: str) -> str:
    from carrylens.arithmetic.zoo import find_model
    from carrylens.arithmetic.zoo.model_facts import history, model_name
    from carrylens.model.published import published_losses
    from carrylens.report.figures.losses import losses_svg, step_losses_svg

    folder = find_model(model)
    name = str(model_name(folder))
    if lines := history(folder):
        return losses_svg(name, lines)
    if losses := published_losses(folder):
        return step_losses_svg(name, losses)
    raise CarryLensError(f"{folder} has no training history to draw. Train a model with: carrylens train NAME")


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("train")(train_command)
    app.command("test")(exam_command)
    app.command("ask", context_settings={"ignore_unknown_options": True})(ask_command)
    app.command("models")(models_command)
    app.command("losses")(losses_command)
