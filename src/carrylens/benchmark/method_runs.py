"""Scoring: every method on every setting, one piece of work after the other.

Takes  settings, methods, a folder of results, and whom to tell how far it is.
Gives  a record for each setting and method, as soon as it is there.
Never  does again what is in the folder.

1. For each method that needs one, choose a threshold on the training circuits.
2. Plant each setting's circuit, and let each method map it.
3. Hold what it found against the truth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from carrylens import __version__
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.benchmark.circuits import Setting
from carrylens.benchmark.method_result import Found, Given
from carrylens.benchmark.methods import MAPPING, SCORING
from carrylens.benchmark.saved_results import Plain, Results
from carrylens.benchmark.scores import score
from carrylens.benchmark.thresholds import Lesson, Threshold, choose_threshold
from carrylens.discovery.settings import Watch


@dataclass(frozen=True)
class Work:
    """What is to be done, and where it is kept; `quick` maps on less evidence, `small` does few of everything."""

    settings: Sequence[Setting]
    training: Sequence[Setting]
    methods: Sequence[str]
    quick: bool = False
    results: Results = field(default_factory=Results)
    watch: Watch | None = None
    small: bool = False

    def about(self, **more: Any) -> dict[str, Any]:
        """What a piece of work was made with."""
        return {"version": __version__, "quick": self.quick, **more}

    def say(self, what: str, done: int, total: int) -> None:
        """Tell how far it is."""
        if self.watch is not None:
            self.watch(what, done, total)

    def given(self, planted: Planted, setting: Setting, what: str) -> Given:
        """What a method is given: the model and its algorithm, and nothing of the truth."""

        def say(step: str, done: int, total: int) -> None:
            self.say(f"{what}: {step}", done, total)

        return Given(planted.model, setting.causal, setting.seed, self.quick, self._store(setting), say)

    def drop_store(self, setting: Setting) -> None:
        """Forget work under way."""
        path = self._store(setting)
        for ending in ("", "-wal", "-shm") if path is not None else ():
            Path(f"{path}{ending}").unlink(missing_ok=True)

    def _store(self, setting: Setting) -> Path | None:
        folder = self.results.folder
        if folder is None:
            return None
        (folder / setting.name).mkdir(parents=True, exist_ok=True)
        return folder / setting.name / "outcomes.sqlite"


def score_methods(work: Work) -> Iterator[Plain]:
    """A record for each setting and method."""
    thresholds = {name: threshold_of(work, name) for name in work.methods if name in SCORING}
    total = len(work.settings) * len(work.methods)
    for at, setting in enumerate(work.settings):
        planted = plant(setting.description)
        for order, method in enumerate(work.methods):
            work.say(f"{setting.name} {method}", at * len(work.methods) + order, total)
            yield _record(work, setting, planted, method, thresholds.get(method))


def threshold_of(work: Work, method: str) -> Threshold:
    """The method's threshold, chosen on the training circuits."""
    names = [setting.name for setting in work.training]

    def compute() -> Plain:
        lessons = []
        for at, setting in enumerate(work.training):
            work.say(f"choosing the threshold of {method}", at, len(work.training))
            planted = plant(setting.description)
            scored = SCORING[method](Given(planted.model, setting.causal, setting.seed, work.quick))
            lessons.append(Lesson(scored, planted.truth, setting.causal))
        found = choose_threshold(lessons)
        return {"value": found.value, "balance": found.balance}

    return Threshold(**work.results.once(f"thresholds/{method}", work.about(training=names), compute))


def _record(work: Work, setting: Setting, planted: Planted, method: str, threshold: Threshold | None) -> Plain:
    # What was found is kept; it is held against the truth each time.
    value = None if threshold is None else threshold.value

    def compute() -> Plain:
        started = time.monotonic()
        given = work.given(planted, setting, f"{setting.name} {method}")
        found = MAPPING[method](given) if threshold is None else SCORING[method](given).above(threshold.value)
        work.drop_store(setting)
        return {"found": found.plain(), "seconds": round(time.monotonic() - started, 1)}

    about = work.about(setting=setting.name, method=method, threshold=value)
    kept = work.results.once(f"{setting.name}/{method}", about, compute)
    result = score(planted.truth, setting.causal, Found.from_plain(kept["found"]))
    named = {"dial": setting.dial, "operation": setting.operation.value, "digits": setting.digits, "seed": setting.seed}
    found = {"part": "scores", "setting": setting.name, **named, "method": method, "threshold": value}
    return {**found, **kept, "result": result.plain()}
