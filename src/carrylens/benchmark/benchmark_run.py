"""A run of the benchmark: what is evaluated, with how much work, and where results are kept.

Takes  circuits, methods, a folder of results, and a callable for progress.
Gives  `BenchmarkRun`, the one value that every section of the benchmark takes.
Never  computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from carrylens import __version__
from carrylens.benchmark.known_models import BenchmarkCircuit, EmptyModel, KnownModel
from carrylens.benchmark.method_interface import MethodInput
from carrylens.benchmark.method_registry import GENERAL_METHODS, MethodRegistry
from carrylens.benchmark.saved_results import Plain, SavedResults
from carrylens.discovery.settings import Watch


@dataclass(frozen=True)
class BenchmarkRun:
    """What is to be done. `quick` maps on less evidence, `small` has few of everything.

    Methods are scored on `circuits`; thresholds and the confidence rule are fitted on `training` alone. `empty_models`
    hold nothing that could be found. `hypothesis_records` judges models of known algorithms under several hypotheses.
    """

    circuits: Sequence[BenchmarkCircuit] = ()
    training: Sequence[BenchmarkCircuit] = ()
    methods: MethodRegistry = GENERAL_METHODS
    empty_models: Sequence[EmptyModel] = ()
    hypothesis_records: Callable[[BenchmarkRun], Iterator[Plain]] | None = None
    quick: bool = False
    small: bool = False
    results: SavedResults = field(default_factory=SavedResults)
    watch: Watch | None = None

    def about(self, **more: object) -> Plain:
        """What a result was made with, by which a saved one is found again."""
        return {"version": __version__, "quick": self.quick, **more}

    def say(self, what: str, done: int, total: int) -> None:
        """Report progress."""
        if self.watch is not None:
            self.watch(what, done, total)

    def watch_of(self, name: str) -> Watch:
        """What reports the progress of one piece of work under its name."""

        def say(step: str, done: int, total: int) -> None:
            self.say(f"{name}: {step}", done, total)

        return say

    def method_input(self, known: KnownModel, circuit: BenchmarkCircuit, name: str) -> MethodInput:
        """What a method is given: the model, its task and its algorithm, and nothing of the truth."""
        store, watch = self._store(circuit), self.watch_of(name)
        return MethodInput(known.model, known.task, known.causal, circuit.seed, self.quick, store, watch)

    def drop_store(self, circuit: BenchmarkCircuit) -> None:
        """Remove unfinished work."""
        path = self._store(circuit)
        for ending in ("", "-wal", "-shm") if path is not None else ():
            Path(f"{path}{ending}").unlink(missing_ok=True)

    def _store(self, circuit: BenchmarkCircuit) -> Path | None:
        folder = self.results.folder
        if folder is None:
            return None
        (folder / circuit.name).mkdir(parents=True, exist_ok=True)
        return folder / circuit.name / "outcomes.sqlite"
