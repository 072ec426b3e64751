"""Benchmarking: methods of circuit discovery on models of known truth, and the controls of our own map.

Takes  which methods, suites and split.
Gives  the benchmark's run, its records, the leaderboard, the confidence rule fitted anew.
Never  scores anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from carrylens.arithmetic.planted.benchmark.circuits import quick_circuits, scored_circuits, training_circuits
from carrylens.arithmetic.planted.benchmark.controls import with_controls
from carrylens.arithmetic.planted.benchmark.likeness_models import likeness_models
from carrylens.arithmetic.planted.benchmark.methods import ARITHMETIC_METHODS
from carrylens.arithmetic.planted.benchmark.suites import ALIGNED, HOSTILE, KIND, SUITES, suite_models
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import DEV, TEST, BenchmarkModel
from carrylens.benchmark.leaderboard import BoardCost, Leaderboard, SuiteCost, leaderboard_of, signature_of
from carrylens.benchmark.likeness import Likeness, likenesses
from carrylens.benchmark.method_interface import DiscoveryMethod, Finder
from carrylens.benchmark.method_registry import chosen_methods, own_method
from carrylens.benchmark.method_runs import method_records
from carrylens.benchmark.saved_results import SavedResults
from carrylens.benchmark.sections import confidence_rule, control_records
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import FILE, Confidence
from carrylens.files import write_whole
from carrylens.progress import Progress, silent
from carrylens.training.devices import device_called

LEADERBOARD = "leaderboard"
N_SEEDS = 10

MOST_SEEDS = 10_000
"""Each is a run of every method on every repeated model."""


@dataclass(frozen=True)
class BenchmarkChoice:
    """What a benchmark is made of.

    | field | meaning |
    |---|---|
    | `methods` | names, Python files, functions or `DiscoveryMethod` values; all known methods if there is none |
    | `suites`, `split` | which models; all suites if none is named |
    | `quick` | a few small models, on less evidence |
    | `light` | less evidence for each map |
    | `n_seeds` | seeds of questions, to see how much is found again; 0 for not at all |
    | `out` | where results are kept, and found again |
    """

    methods: Sequence[str | Path | Finder | DiscoveryMethod] = ()
    suites: Sequence[str] = ()
    split: str = TEST
    quick: bool = False
    light: bool = False
    n_seeds: int = N_SEEDS
    out: Path | None = None


def benchmark_run(chosen: BenchmarkChoice, progress: Progress = silent, threads: int = 0) -> BenchmarkRun:
    """The run of methods on suites."""
    if chosen.n_seeds < 0 or chosen.n_seeds == 1:
        raise CarryLensError(f"{chosen.n_seeds} seeds show no stability. Give at least 2, or 0 to leave it out.")
    if chosen.n_seeds > MOST_SEEDS:
        raise CarryLensError(f"{chosen.n_seeds} seeds would take too long. Give at most {MOST_SEEDS:,}.")
    if all(isinstance(each, str) for each in chosen.methods):
        methods = chosen_methods([str(each) for each in chosen.methods], ARITHMETIC_METHODS)
    else:
        methods = tuple(own_method(each, ARITHMETIC_METHODS) for each in chosen.methods)
    models = suite_models(chosen.suites, chosen.split, quick=chosen.quick)
    if not models:
        raise CarryLensError("There is no model of these suites yet. Choose others: kind, hostile, empty.")
    device_called("cpu", threads)
    return BenchmarkRun(
        models,
        suite_models({*chosen.suites, "kind"} if chosen.suites else (), DEV, quick=chosen.quick),
        methods,
        repeated=[each for each in models if each.labels.get("repeated_quickly" if chosen.quick else "repeated")],
        n_seeds=chosen.n_seeds,
        quick=chosen.quick or chosen.light,
        small=chosen.quick,
        results=SavedResults(chosen.out),
        progress=progress,
    )


def run_methods(run: BenchmarkRun) -> Iterator[dict[str, Any]]:
    """The records of every method on every model, one after another."""
    return method_records(run)


def run_leaderboard(run: BenchmarkRun, records: Sequence[dict[str, Any]], command: str) -> Leaderboard:
    """The leaderboard that the records make."""
    seeds = [*(model.seed for model in run.models), *range(run.n_seeds if run.repeated else 0)]
    dev = [model.name for model in run.dev]
    signature = signature_of(command, run.quick, seeds, dev, run.methods)
    board = leaderboard_of(records, run.methods, signature)
    whole = [_suite_cost(board, suite) for suite in SUITES if any(row.suite == suite for row in board.rows)]
    seconds = round(sum(run.spent.values(), 0.0), 1)
    return msgspec.structs.replace(board, cost=BoardCost(len(run.spent), seconds, whole))


def _suite_cost(board: Leaderboard, suite: str) -> SuiteCost:
    rows = [row for row in board.rows if row.suite == suite]
    n_models, n_dev = (len(suite_models((suite,), split)) for split in (TEST, DEV))
    n_again = (N_SEEDS - 1) * sum(bool(model.labels.get("repeated")) for model in suite_models((suite,), TEST))
    each, for_dev = sum(row.seconds for row in rows), sum(row.seconds for row in rows if row.threshold is not None)
    seconds = (n_models + n_again) * each + n_dev * for_dev
    return SuiteCost(suite, rows[0].n_models, round(each, 2), n_models, n_dev, n_again, round(seconds, 1))


def benchmark(
    chosen: BenchmarkChoice,
    progress: Progress = silent,
    threads: int = 0,
    workers: int = 1,
    *,
    command: str = "carrylens.benchmark",
    told: Callable[[dict[str, Any]], object] | None = None,
    leaderboard: Path | None = None,
) -> Leaderboard:
    """The leaderboard of a run; `told` hears each record as it comes, and `leaderboard` is a folder for its files."""
    if workers > 1:
        from carrylens.workflow.benchmark_workers import fill_results

        fill_results(chosen, workers, progress)
    run, records = benchmark_run(chosen, progress, threads), []
    for record in run_methods(run):
        records.append(record)
        if told is not None:
            told(record)
    board = run_leaderboard(run, records, command)
    if leaderboard is not None:
        write_leaderboard(board, run.methods, leaderboard)
    return board


def write_leaderboard(board: Leaderboard, methods: Sequence[DiscoveryMethod], folder: Path) -> list[Path]:
    """`leaderboard.json`, `leaderboard.md` and `leaderboard.svg` in the folder."""
    from carrylens.report.figures.leaderboard import leaderboard_svg
    from carrylens.report.terminal.leaderboard import leaderboard_page

    page = leaderboard_page(board, methods, f"{LEADERBOARD}.svg")
    contents = {"json": board.to_json(), "md": page.encode(), "svg": leaderboard_svg(board).encode()}
    paths = []
    for ending, content in contents.items():
        paths.append(folder / f"{LEADERBOARD}.{ending}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(paths[-1], content)
        except OSError as error:
            reason = error.strerror or str(error)
            raise CarryLensError(f"{paths[-1]} cannot be written ({reason}). Give another folder.") from error
    return paths


def controls_run(chosen: BenchmarkChoice, progress: Progress = silent, threads: int = 0) -> BenchmarkRun:
    """The run of our own map's controls: two-digit circuits, and models that hold nothing."""
    device_called("cpu", threads)
    circuits = scored_circuits(operations=("add", "mix"), digits=(2,))
    return with_controls(
        BenchmarkRun(
            circuits=quick_circuits() if chosen.quick else circuits,
            training=list(training_circuits(quick=chosen.quick)),
            dev=_fitted_models(quick=chosen.quick),
            quick=chosen.quick or chosen.light,
            small=chosen.quick,
            results=SavedResults(chosen.out),
            progress=progress,
        )
    )


def _fitted_models(*, quick: bool) -> list[BenchmarkModel]:
    # What the confidence rule is fitted on: all of the split, or its additions.
    every = suite_models((KIND, HOSTILE, ALIGNED), DEV)
    return [entry for entry in every if not quick or "add_d" in entry.name]


def run_controls(run: BenchmarkRun) -> Iterator[dict[str, Any]]:
    """The records of the controls, one after another."""
    return control_records(run)


def run_likeness(chosen: BenchmarkChoice, progress: Progress = silent, threads: int = 0) -> list[Likeness]:
    """How planted, aligned and freely trained models look, each measured in the same way."""
    device_called("cpu", threads)
    return likenesses(likeness_models(quick=chosen.quick), SavedResults(chosen.out), progress)


def fit_rule(run: BenchmarkRun, out: Path | None) -> tuple[Path, Confidence]:
    """The confidence rule, fitted anew and written: into `out`, or where the package reads it."""
    command = f"carrylens benchmark --fit{' --quick' if run.small else ' --light' if run.quick else ''}"
    rule, path = confidence_rule(run, command), FILE if out is None else out / FILE.name
    write_whole(path, rule.to_json().encode())
    return path, rule
