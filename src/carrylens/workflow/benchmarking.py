"""Benchmarking: methods of circuit discovery on circuits of known truth, as the calibrate command describes it.

Takes  which circuits, methods and parts.
Gives  the benchmark's run, its records, and the confidence rule fitted anew.
Never  scores anything itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from carrylens.arithmetic.planted.benchmark.circuits import quick_circuits, scored_circuits, training_circuits
from carrylens.arithmetic.planted.benchmark.controls import with_controls
from carrylens.arithmetic.planted.benchmark.methods import ARITHMETIC_METHODS
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.saved_results import SavedResults
from carrylens.benchmark.sections import benchmark_records, chosen_sections, confidence_rule
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import FILE, Confidence
from carrylens.files import write_whole
from carrylens.progress import Progress
from carrylens.training.devices import device_called


def benchmark_run(
    chosen: Mapping[str, Any],
    methods: Sequence[str],
    out: Path | None,
    progress: Progress,
    *,
    quick: bool,
    light: bool,
    threads: int,
) -> BenchmarkRun:
    """The benchmark that the command describes."""
    if quick and any(chosen[name] for name in ("dials", "operations", "digits")):
        raise CarryLensError("--quick has circuits of its own. Leave out --quick, or --dial, --operation and --digits.")
    device_called("cpu", threads)
    table = scored_circuits(**chosen)
    return with_controls(
        BenchmarkRun(
            quick_circuits() if quick else table,
            list(training_circuits(quick=quick)),
            ARITHMETIC_METHODS.only(methods),
            quick=quick or light,
            small=quick,
            results=SavedResults(out),
            progress=progress,
        )
    )


def run_benchmark(run: BenchmarkRun, parts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The records of a benchmark, one after another."""
    return benchmark_records(run, chosen_sections(parts))


def fit_rule(run: BenchmarkRun, out: Path | None) -> tuple[Path, Confidence]:
    """The confidence rule, fitted anew and written: into `out`, or where the package reads it."""
    command = f"carrylens calibrate{' --quick' if run.small else ' --light' if run.quick else ''} --fit"
    rule, path = confidence_rule(run, command), FILE if out is None else out / FILE.name
    write_whole(path, rule.to_json().encode())
    return path, rule
