"""Benchmark workers: several processes that fill one folder of results, each with one thread.

Takes  what a benchmark is made of, and how many processes.
Gives  the folder filled: the run that follows finds every result there.
Never  computes a result twice, unless a process is stopped in the middle of one.

Jobs are the pairs of model and method, then the models that thresholds are chosen on, then the repeated models with
every seed. A process takes a job by making a file of its name, which only one can.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import BenchmarkModel
from carrylens.benchmark.method_interface import DiscoveryMethod
from carrylens.benchmark.method_runs import BuiltModel, find_once
from carrylens.errors import CarryLensError
from carrylens.progress import Progress, silent
from carrylens.workflow.benchmarking import BenchmarkChoice, benchmark_run

_LOOK_SECONDS = 0.5


@dataclass(frozen=True, eq=False)
class _Job:
    """One method on one model, with questions of one seed; `is_for_threshold` if only role scores need it."""

    entry: BenchmarkModel
    method: DiscoveryMethod
    seed: int
    is_for_threshold: bool = False

    @property
    def key(self) -> str:
        said = f"{self.entry.suite} {self.entry.name} {self.method.name} {self.seed}"
        return hashlib.sha256(said.encode()).hexdigest()[:24]


def fill_results(chosen: BenchmarkChoice, n_workers: int, progress: Progress = silent) -> None:
    """Let `n_workers` processes do the work of a benchmark whose results are kept in a folder."""
    if chosen.out is None or not all(isinstance(each, str | Path) for each in chosen.methods):
        raise CarryLensError(
            "Workers need a folder for results, and methods by name or file. Give --out, or leave --workers out."
        )
    total = len({job.key for job in _jobs(benchmark_run(chosen, threads=1))})  # bad names are refused here, once
    with tempfile.TemporaryDirectory() as claims:
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=_work, args=(chosen, claims), daemon=True) for _ in range(n_workers)]
        with _without_interrupts():  # Ctrl-C reaches every process: this one hears it, and ends the others
            for worker in workers:
                worker.start()
        try:
            while any(worker.is_alive() for worker in workers):
                progress(f"{n_workers} workers", len(list(Path(claims).iterdir())), total)
                time.sleep(_LOOK_SECONDS)
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()
    # A worker that came to grief leaves its jobs to the run that follows.


@contextmanager
def _without_interrupts() -> Iterator[None]:
    # What is started here does not hear Ctrl-C. Only the main thread can say so.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(chosen: BenchmarkChoice, claims: str) -> None:
    with suppress(CarryLensError):  # the run that follows comes to the same job, and says what is wrong
        _find_all(chosen, claims)


def _find_all(chosen: BenchmarkChoice, claims: str) -> None:
    run, built = benchmark_run(chosen, threads=1), dict[str, BuiltModel]()

    def found_role_scores(entry: BenchmarkModel, method: DiscoveryMethod, seed: int) -> bool:
        if entry.name not in built:
            built.clear()
            built[entry.name] = BuiltModel(entry, entry.build())
        return find_once(run, built[entry.name], method, seed).has_role_scores

    parent = multiprocessing.parent_process()
    for job in _jobs(run):
        if parent is not None and not parent.is_alive():
            return  # it was killed
        if not _claim(Path(claims) / job.key):
            continue
        first = run.models[0]
        if not job.is_for_threshold or found_role_scores(first, job.method, first.seed):
            found_role_scores(job.entry, job.method, job.seed)


def _jobs(run: BenchmarkRun) -> Iterator[_Job]:
    for entry in run.models:
        yield from (_Job(entry, method, entry.seed) for method in run.methods)
    for method in run.methods:
        yield from (_Job(entry, method, entry.seed, is_for_threshold=True) for entry in run.dev)
    for entry in run.repeated if run.n_seeds > 1 else ():
        for method in run.methods:
            yield from (_Job(entry, method, seed) for seed in range(run.n_seeds))


def _claim(path: Path) -> bool:
    try:
        path.open("x").close()
    except FileExistsError:
        return False
    return True
