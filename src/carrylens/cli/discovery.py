"""Commands that look inside models: map, settle.

Takes  a model.
Gives  its node map, or its alignment with an algorithm, as a table, as JSON and as files.
Never  imports PyTorch before the command is run.
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
    SeedOption,
    TaskOption,
    ThreadsOption,
    source_given,
)
from carrylens.cli.watch import Watch
from carrylens.json_records import to_plain
from carrylens.terminal import Stopped, print_line, print_note, print_record, print_text

if TYPE_CHECKING:
    from carrylens.front.verdict_views import Settled
    from carrylens.front.views import MapView


def map_command(
    model: ModelArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to put the map, if not the model's folder, or maps/NAME."),
    ] = None,
    hypothesis: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A Python file that declares variables of your own to look for."),
    ] = None,
    task: TaskOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Collect about a third of the evidence.")] = False,
    pairs: Annotated[bool, typer.Option("--pairs/--no-pairs", help="Search for roles of pairs of heads.")] = True,
    groups: Annotated[
        bool, typer.Option("--groups/--no-groups", help="Search for nodes that carry a variable only together.")
    ] = True,
    behaviours: Annotated[
        bool, typer.Option("--behaviours", help="Also print what each node does, before any role.")
    ] = False,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Measure again, even if a map exists. Leave this out to continue after Ctrl-C."),
    ] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Find what each node of a model does, and which variable of the algorithm it carries.

    Writes map.json, facts.jsonl.gz, behaviors.json and features.json. Stop with Ctrl-C; the same command continues. The
    map of a shipped model goes to maps/NAME. An existing map is only printed. With --hypothesis the map is for the
    variables that the file declares, in a folder with the name of the hypothesis.
    """

    with Watch(1, model) as watch:

        def say(what: str, done: int, total: int) -> None:
            watch.stage(what, done, total)
            if watch.stop_wanted():
                command = "The same command without --restart" if restart else "The same command"
                raise Stopped(f"Stopped while {what}. {command} goes on from there.")

        found = cl.map(
            source_given(model, task),
            out=out,
            hypothesis=hypothesis,
            quick=quick,
            pairs=pairs,
            groups=groups,
            restart=restart,
            seed=seed,
            device=device,
            threads=threads,
            progress=say,
        )
    _show_map(found, behaviours=behaviours, as_json=as_json)


def _show_map(found: MapView, *, behaviours: bool, as_json: bool) -> None:
    from carrylens.report.terminal.map import behaviour_lines, map_record, map_text

    if as_json:
        print_record({"folder": str(found.folder), **map_record(found)})
        return
    print_text(map_text(found))
    for line in behaviour_lines(found) if behaviours else ():
        print_text(line)
    if found.beside_truth:
        print_line(found.beside_truth)
    print_note(f"The map is in {found.folder}")


def settle_command(
    model: ModelArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to put it, if not the model's folder, or maps/NAME."),
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another algorithm, such as 'weighted-sum add'.")
    ] = None,
    hypothesis: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A Python file that states a hypothesis of your own.")
    ] = None,
    task: TaskOption = None,
    budget: Annotated[
        int, typer.Option(min=0, metavar="SECONDS", help="Time limit: after half of it, no more questions are drawn.")
    ] = 600,
    quick: Annotated[bool, typer.Option("--quick", help="Start with a quarter of the questions.")] = False,
    sites: Annotated[bool, typer.Option("--sites", help="Also list the nodes of every variable.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Measure again, even if an alignment was saved.")] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Decide whether a model runs an algorithm, by testing all of its variables jointly, against rival algorithms.

    Each variable gets a site, a set of nodes; nodes that hold several variables are interchanged in a subspace for
    each. Sites are chosen on some questions and tested on others. If there are too few questions to decide, more are
    drawn. Writes alignment.json, from which carrylens judge repeats the verdict without the model. A saved alignment
    of the same weights with as many questions is only printed.
    Exit status 0 if the model runs the algorithm, 1 otherwise.
    """

    with Watch(1, model) as watch:

        def say(what: str, done: int, total: int) -> None:
            watch.stage(what, done, total)
            if watch.stop_wanted():
                raise Stopped(f"Stopped while {what}. The same command goes on from the sweep that was under way.")

        found = cl.settle(
            source_given(model, task),
            out=out,
            algorithm=algorithm,
            hypothesis=hypothesis,
            budget=budget,
            quick=quick,
            seed=seed,
            restart=restart,
            device=device,
            threads=threads,
            progress=say,
        )
    _show_settled(found, sites=sites, as_json=as_json)


def _show_settled(found: Settled, *, sites: bool, as_json: bool) -> None:
    from carrylens.claims.verdicts import RunVerdict
    from carrylens.report.terminal.alignment import alignment_lines, alignment_record

    if as_json:
        plain = to_plain(found.judgement)
        print_record({"file": str(found.path), **plain, "alignment": alignment_record(found.alignment)})
    else:
        for line in (*found.lines, *alignment_lines(found.alignment, sites=sites)):
            print_line(line)
        is_in = "This is the saved alignment" if found.is_known else "The alignment is in"
        print_note(f"{is_in} {found.path}{'; --restart measures anew' * found.is_known}")
    if found.verdict is not RunVerdict.RUNS:
        raise typer.Exit(1)


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("map")(map_command)
    app.command("settle")(settle_command)
