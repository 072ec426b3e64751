"""Commands that measure: bench.

Takes  sizes.
Gives  seconds and ratios, both sides measured in one run.
Never  measures without checking that both sides agree.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from carrylens.cli.groups import WholeSentences
from carrylens.cli.options import LARGEST_SEED, JsonOption, ModelArgument, SeedOption, ThreadsOption
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.terminal import print_line, print_note, print_record


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


def bench_train_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What to train; its seed is replaced.")
    ] = "add_d6_l2_h3_w72_t2K_s1",
    seeds: Annotated[
        list[int] | None,
        typer.Option("--seed", max=LARGEST_SEED, help="A seed; may be given more than once. [default: 1, 2 and 3]"),
    ] = None,
    tested: Annotated[
        int, typer.Option("--questions", min=1, help="How many questions of each population to test on.")
    ] = 1_000_000,
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Time training from nothing to the bar.

    Trains with three seeds and tests each on natural and enriched questions. Steps of the published recipe are timed
    before and after each training. A run is judged at its end: its steps are the steps to the bar, if it meets it.
    """
    from carrylens.arithmetic.model_names import ModelName
    from carrylens.bench.training import bench_training
    from carrylens.report.terminal.speed import training_line, training_summary
    from carrylens.training.devices import device_called

    device_called("cpu", threads)
    parsed, records = ModelName.parse(name), []
    for measured in bench_training([replace(parsed, seed=seed) for seed in seeds or (1, 2, 3)], tested):
        records.append(measured.record())
        if as_json:
            print_record(records[-1])
        else:
            print_line(training_line(records[-1]))
    if not as_json:
        print_line(training_summary(records))


def bench_test_command(
    model: ModelArgument,
    count: Annotated[int, typer.Option("--questions", min=512, help="How many questions.")] = 16_384,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Time the testing of questions.

    Where TransformerLens is installed, it tests the same questions with the same weights in the same run, with
    the number of questions a pass and the way of using threads that suit it best.
    """
    from carrylens.arithmetic.zoo import find_model, load
    from carrylens.arithmetic.zoo.model_facts import model_name
    from carrylens.bench.exam import bench_exam
    from carrylens.training.devices import device_called

    device_called("cpu", threads)
    measured = bench_exam(load(model), model_name(find_model(model)).operation, count)
    if as_json:
        print_record({**asdict(measured), "ratio": measured.ratio})
    else:
        beside = (
            "TransformerLens is not installed here; make parity installs it."
            if measured.lens_rate is None
            else f"TransformerLens, best at {measured.lens_rows} a pass, tests {measured.lens_rate:,.0f} a second: "
            f"ours {measured.ratio:.1f} times as many, {'the same' if measured.agrees else 'NOT the same'} failures."
        )
        print_line(
            f"{measured.rate:,.0f} questions a second on {measured.threads} thread{'s' * (measured.threads > 1)}, "
            f"{measured.rows} a pass, {measured.share_of_peak:.0%} of peak. {beside}"
        )
    if measured.agrees is False:
        raise typer.Exit(1)


def bench_interventions_command(
    model: ModelArgument,
    count: Annotated[int, typer.Option("--questions", min=64, help="How many questions.")] = 512,
    pair_count: Annotated[int, typer.Option("--pair-questions", min=1, help="How many for pairs of nodes.")] = 256,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Time the ablation of every node.

    Where TransformerLens is installed, its hooks ablate the same nodes on the same questions in the same run. Then all
    pairs of useful nodes are ablated, and fewer nodes on fewer questions, to show how time grows.
    """
    from carrylens.arithmetic.zoo import find_model, load
    from carrylens.arithmetic.zoo.model_facts import model_name
    from carrylens.bench.interventions import bench_interventions, intervention_lines
    from carrylens.training.devices import device_called

    device_called("cpu", threads)
    measured = bench_interventions(load(model), model_name(find_model(model)).operation, count, pair_count)
    if as_json:
        print_record({**asdict(measured), "ratio": measured.ratio})
    else:
        for line in intervention_lines(measured):
            print_line(line)
    if measured.n_different:
        raise typer.Exit(1)


def bench_map_command(
    model: ModelArgument = "add_d6_l2_h3_w96_t2K_s1",
    full: Annotated[bool, typer.Option("--full", help="A map with the usual evidence, not a quick one.")] = False,
    earlier: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The src folder of an earlier version, to time beside it.")
    ] = None,
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Time a whole map, and one interchange of it.

    With --earlier, an earlier version of carrylens maps the same model in the same run. Where TransformerLens is
    installed, its hooks do the same interchanges.
    """
    from carrylens.arithmetic.zoo.sources import find_source
    from carrylens.bench.mapping import bench_map, map_lines
    from carrylens.training.devices import device_called

    device_called("cpu", threads)
    measured = bench_map(find_source(model), quick=not full, earlier=earlier)
    if as_json:
        print_record({**asdict(measured), "ratio": measured.ratio})
    else:
        for line in map_lines(measured):
            print_line(line)
    if measured.interchanges.n_different:
        raise typer.Exit(1)


def bench_growth_command(
    digits: Annotated[list[int] | None, typer.Option(help="A number of digits; may be given more than once.")] = None,
    widths: Annotated[list[int] | None, typer.Option("--width", help="A width; may be given more than once.")] = None,
    batches: Annotated[list[int] | None, typer.Option("--batch", help="A batch; may be given more than once.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw the growth to this file.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    threads: ThreadsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Time how work grows with digits, width and batch.

    One training step and one tested question of a two-layer, three-head addition model. One of the three is changed at
    a time; the others stay at 6 digits, width 96 and a batch of 128.
    """
    from carrylens.bench.growth import MIDDLE, bench_growth, sizes
    from carrylens.report.figures.growth import growth_lines, growth_svg
    from carrylens.training.devices import device_called

    device_called("cpu", threads)
    wanted = sizes(digits or [3, 6, 10, 15, 20], widths or [48, 64, 96, 128], batches or [32, 64, 128, 256])
    records = [growth.record() for growth in bench_growth(wanted)]
    if as_json:
        for record in records:
            print_record(record)
    else:
        for line in growth_lines(records, markdown):
            print_line(line)
    if svg is not None:
        write_whole(svg, growth_svg(records, MIDDLE).encode())
        print_note(f"Drew {svg}")


def bench_explore_command(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="Which models to time. Without any, three of 6, 10 and 20 digits."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How many rounds; medians count.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Time the explorer: loading, a forward pass, every single-node ablation of one question.

    In node and in chromium, where they are installed. Exit status 1 if golden answers were not found again.
    """
    from carrylens.bench.explorer import bench_explorer, explorer_lines

    usual = ["add_d6_l2_h3_w96_t2K_s1", "add_d10_l2_h3_w96_t6K_s1", "add_d20_l2_h3_w96_t12K_s1"]
    agree, count = True, 0
    for measured in bench_explorer(models or usual, rounds):
        agree, count = agree and measured.agrees, count + 1
        if as_json:
            print_record(asdict(measured))
        else:
            print_line(explorer_lines(measured))
    if not count:
        raise CarryLensError("Neither node nor chromium is installed. Write apt-get install nodejs chromium.")
    if not agree:
        raise typer.Exit(1)


def _bench() -> None:
    """Measure how fast carrylens is."""


def bench_commands() -> typer.Typer:
    """The command `bench` and those under it."""
    about = "Measure how fast carrylens is."
    bench = typer.Typer(cls=WholeSentences, help=about, no_args_is_help=True, rich_markup_mode=None)
    bench.callback()(_bench)
    bench.command("arithmetic")(bench_arithmetic_command)
    bench.command("train")(bench_train_command)
    bench.command("test")(bench_test_command)
    bench.command("interventions")(bench_interventions_command)
    bench.command("map")(bench_map_command)
    bench.command("growth")(bench_growth_command)
    bench.command("explore")(bench_explore_command)
    return bench
