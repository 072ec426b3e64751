"""A run of the benchmark: what is evaluated, with how much work, and where results are kept.

Takes  models of known truth, methods, a folder of results, and a callable for progress.
Gives  `BenchmarkRun`, the one value that everything else here takes, and from it what a method is given.
Never  computes, and never lets the truth, or a name that tells it, into what a method is given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from carrylens import __version__
from carrylens.benchmark.known_models import BenchmarkCircuit, BenchmarkModel, EmptyModel, KnownModel
from carrylens.benchmark.method_interface import DiscoveryMethod, Given
from carrylens.benchmark.saved_results import Plain, SavedResults
from carrylens.files import inner_folder, make_folder
from carrylens.interventions.store import ENDINGS
from carrylens.progress import Progress, silent


@dataclass(frozen=True)
class NamedProgress:
    """A progress that says what it is about."""

    progress: Progress
    name: str

    def __call__(self, step: str, done: int, total: int, /) -> None:
        """Pass it on."""
        self.progress(f"{self.name}: {step}", done, total)


@dataclass(frozen=True)
class BenchmarkRun:
    """What is to be done. `quick` maps on less evidence, `small` has few of everything.

    Methods are scored on `models`, and thresholds are chosen on `dev` alone. On `repeated` each method runs with
    `n_seeds` seeds of its questions, to see how much it finds again. `circuits`, `training` and `empty_models` are what
    the controls of our own map work on. `spent` has the CPU seconds of every result so far, by its key.
    """

    models: Sequence[BenchmarkModel] = ()
    dev: Sequence[BenchmarkModel] = ()
    methods: Sequence[DiscoveryMethod] = ()
    repeated: Sequence[BenchmarkModel] = ()
    n_seeds: int = 0
    circuits: Sequence[BenchmarkCircuit] = ()
    training: Sequence[BenchmarkCircuit] = ()
    empty_models: Sequence[EmptyModel] = ()
    quick: bool = False
    small: bool = False
    results: SavedResults = field(default_factory=SavedResults)
    progress: Progress = silent
    spent: dict[str, float] = field(default_factory=dict)

    def about(self, **more: object) -> Plain:
        """What a result was made with, by which a saved one is found again."""
        return {"version": __version__, "quick": self.quick, **more}

    def given(self, known: KnownModel, circuit: BenchmarkCircuit, key: str = "", what: str = "model") -> Given:
        """What a method is given: the model, its task and algorithm, hypotheses; nothing of the truth or the name."""
        return Given(
            known.model,
            known.task,
            known.causal,
            known.hypotheses,
            circuit.seed,
            self.quick,
            self._store(key or circuit.name),
            NamedProgress(self.progress, what),
        )

    def drop_store(self, key: str) -> None:
        """Remove unfinished work."""
        path = self._store(key)
        for ending in ENDINGS if path is not None else ():
            Path(f"{path}{ending}").unlink(missing_ok=True)

    def _store(self, key: str) -> Path | None:
        folder = self.results.folder
        if folder is None:
            return None
        unfinished = inner_folder(folder, "unfinished")
        make_folder(unfinished, "Give another folder with --out.")
        return unfinished / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.sqlite"
