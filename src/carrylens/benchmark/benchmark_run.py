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
from carrylens.progress import Progress, silent


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
    progress: Progress = silent

    def about(self, **more: object) -> Plain:
        """What a result was made with, by which a saved one is found again."""
        return {"version": __version__, "quick": self.quick, **more}

    def progress_of(self, name: str) -> Progress:
        """The same progress, which says what it is about."""
        return lambda step, done, total: self.progress(f"{name}: {step}", done, total)

    def method_input(self, known: KnownModel, circuit: BenchmarkCircuit, name: str) -> MethodInput:
        """What a method is given: the model, its task and its algorithm, and nothing of the truth."""
        store, progress = self._store(circuit), self.progress_of(name)
        return MethodInput(known.model, known.task, known.causal, circuit.seed, self.quick, store, progress)

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
