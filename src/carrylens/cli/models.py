"""Commands on models: train, test, ask, models.

Takes  names, folders and questions.
Gives  trained models and what they answer.
Never  imports PyTorch before one of these commands is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import carrylens as cl
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
from carrylens.terminal import Stopped, print_error, print_line, print_note, print_record

if TYPE_CHECKING:  # PyTorch is imported only by the commands that need it
    from carrylens.front.views import Examined
    from carrylens.progress import Progress
    from carrylens.training.acceptance import Acceptance

TestedQuestions = Annotated[
    int,
    typer.Option(
        min=0,
        max=10**15,
        help="How many of each population and operation; of the structured one at most 100,000.",
    ),
]
ModelToInsert = Annotated[
    str | None, typer.Option(metavar="MODEL", help="The addition model to insert, for names that begin with ins.")
]
TrainedPopulation = Annotated[
    str | None, typer.Option(help="Train on natural, paper, enriched or structured questions instead of the recipe's.")
]


def train_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to train, such as add_d6_l2_h3_w96_t2K_s1.")],
    recipe: Annotated[str, typer.Option(help="compact (ours) or paper (the published recipe).")] = "compact",
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where to put it, if not models/NAME.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the folder's checkpoint.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Discard what the folder holds and start again.")] = False,
    insert: ModelToInsert = None,
    placement: Annotated[str, typer.Option(help="early: into the first layers and heads; late: the last.")] = "early",
    layout: Annotated[
        str, typer.Option(help="How questions are written: paper, unsigned (no sign), equals (six letters for =).")
    ] = "paper",
    population: TrainedPopulation = None,
    aligned: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Train under the alignment in this file, and measure whether it worked."),
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 1,
    checkpoint_seconds: Annotated[float, typer.Option(min=0, help="How often to write a checkpoint.")] = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Train the model that a name describes.

    Writes a model folder. Ctrl-C stops after the current step and writes a checkpoint, from which --resume continues.
    On the CPU, with the same --threads, the result is exactly the same as that of an uninterrupted run; on CUDA and MPS
    it may differ.
    """
    from carrylens.arithmetic.model_names import ModelName

    with Watch(1, name) as watch:
        found = cl.train(
            name,
            out=out,
            recipe=recipe,
            insert=insert,
            placement=placement,
            layout=layout,
            population=population,
            aligned=aligned,
            resume=resume,
            restart=restart,
            device=device,
            threads=threads,
            checkpoint_seconds=checkpoint_seconds,
            progress=watch,
        )
    last = found.history[-1] if found.history else {"step": 0}
    if not found.finished:
        n_steps = ModelName.parse(name).n_steps
        raise Stopped(f"Stopped after step {found.step} of {n_steps}. Add --resume to go on.")
    if found.acceptance is not None:
        _show_acceptance(found.acceptance, name, found.folder, as_json=as_json)
    elif as_json:
        print_record({"name": name, "folder": str(found.folder), **last})
    else:
        print_line(
            f"{found.folder}: {last['step']} steps in {last['seconds']:.0f} s, loss {last['loss']:.2g}, "
            f"hard questions right {last['hard']:.1%}. Test it with: carrylens test {found.folder}"
        )


def _show_acceptance(found: Acceptance, name: str, folder: Path, *, as_json: bool) -> None:
    from carrylens.report.aligned_card import acceptance_lines, acceptance_rows

    if as_json:
        rates = {what: [share.right, share.rows] for what, share in acceptance_rows(found)}
        print_record({"name": name, "folder": str(folder), "accepted": found.accepted, "rates": rates})
    else:
        for line in acceptance_lines(found, str(folder)):
            print_line(line)
    if not found.accepted:
        raise typer.Exit(1)


def exam_command(
    model: ModelArgument,
    questions: TestedQuestions = 1_000_000,
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
        bool, typer.Option("--exhaustive", help="Try every possible question instead (for models of few digits).")
    ] = False,
    save: Annotated[
        bool | None,
        typer.Option(
            "--save/--no-save",
            help="Save the result in the folder of the model, or nowhere. Default: there; of others, in maps/NAME.",
        ),
    ] = None,
    task: TaskOption = None,
    restart: Annotated[bool, typer.Option("--restart", help="Test again, even if there is a saved test.")] = False,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Count a model's failures on millions of questions.

    Evaluates the model on the natural, paper, enriched and structured populations, and on every class, depth and
    structure. Exit status 1 if the model misses the bar: fewer than 10 failures per million natural and per million
    enriched questions, for each operation. Counts are saved every half minute and on Ctrl-C; the same command goes on.

    With --exhaustive it tries every possible question and writes exhaustive.json; exit status 1 if any answer is wrong.
    A saved test of the same weights on as many questions is only printed.
    """
    if exhaustive and of:
        raise CarryLensError("--exhaustive asks every question, so --of does not apply. Leave one of them out.")
    with Watch(1, model) as watch:
        found = cl.test(
            source_given(model, task),
            questions=questions,
            per_class=per_class,
            of=of or (),
            exhaustive=exhaustive,
            keep=save is not False,
            own_folder=bool(save),
            restart=restart,
            device=device,
            threads=threads,
            progress=_counted(watch),
        )
    _show_test(found, as_json=as_json, every=exhaustive)


def _counted(watch: Watch) -> Progress:
    def say(what: str, done: int, total: int) -> None:
        watch.stage(what, done, total)
        if watch.stop_wanted() and done < total:
            raise Stopped(f"Stopped after {done:,} of {total:,} questions. The same command goes on from there.")

    return say


def _show_test(found: Examined, *, as_json: bool, every: bool) -> None:
    from carrylens.report.terminal.exam import exam_lines

    for note in found.notes:
        print_note(note)
    if found.is_known:
        print_note(f"This is the saved test {found.path}; --restart tests anew")
    if as_json:
        print_record(found.figures)
    else:
        for line in exam_lines(found.figures):
            print_line(line)
    if found.not_saved is not None:
        raise found.not_saved
    if found.path is not None and not found.is_known:
        print_note(f"Wrote {found.path}")
    failed = every and any(part["failed"] for part in found.figures["parts"])
    if found.meets_bar is False or failed:
        raise typer.Exit(1)


def ask_command(
    model: ModelArgument, questions: QuestionsArgument = None, task: TaskOption = None, as_json: JsonOption = False
) -> None:
    """Ask a model questions; it answers token by token.

    Exit status 1 if an answer is wrong.
    """
    asked, failed, wrong = source_given(model, task, any_name=True).load(), False, False
    for batch in question_batches(questions):
        found = cl.ask(asked, *(text for text, _ in batch), skip_errors=True)
        for (_, where), result in zip(batch, found.results, strict=True):
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
    """List the models that ship with carrylens.

    Shows failures per million questions, and those of the paper's models of the same shape.
    """
    from carrylens.report.terminal.aligned_models import aligned_lines, aligned_page
    from carrylens.report.terminal.models import model_lines, models_page

    found = cl.models(aligned=aligned)
    if as_json:
        for record in found:
            print_record(record)
    elif aligned:
        from carrylens.arithmetic.aligned.shipped import aligned_figures

        figures = aligned_figures()
        for line in [aligned_page(figures)] if markdown else aligned_lines(figures):
            print_line(line)
    elif markdown:
        from carrylens.arithmetic.zoo.failure_table import tried_figures

        print_line(models_page(list(found), list(tried_figures())))
    else:
        for line in model_lines(list(found)):
            print_line(line)


def losses_command(
    model: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="As for test. Without it, every shipped model is drawn.")
    ] = None,
    svg: Annotated[Path, typer.Option(metavar="FILE", help="The picture to draw.")] = Path("losses.svg"),
) -> None:
    """Draw loss curves.

    For one model: a curve for each answer token, in one panel per operation. A published model, whose
    training_loss.json has only the total loss, gets one curve. For all shipped models: one panel each.
    """
    cl.losses(model).save(svg)
    print_note(f"Drew {svg}")


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("train")(train_command)
    app.command("test")(exam_command)
    app.command("ask", context_settings={"ignore_unknown_options": True})(ask_command)
    app.command("models")(models_command)
    app.command("losses")(losses_command)
