"""Verdict cases: every verdict that the benchmark asks for, with the one that is deserved.

Takes  the names of suites and a split.
Gives  `VerdictCase`: a model of known truth, a hypothesis, the verdict that the model deserves under it; and the
       confusion table of what a judge says of them.
Never  shows the deserved verdict to a judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from carrylens.arithmetic.planted.benchmark.suites import suite_models
from carrylens.benchmark.known_models import TEST, BenchmarkModel, KnownModel
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.claims.hypothesis import Hypothesis


@dataclass(frozen=True, eq=False)
class VerdictCase:
    """One verdict to be given: on `known`, which the suite has as `model`, under `hypothesis`."""

    model: BenchmarkModel
    known: KnownModel
    hypothesis: Hypothesis
    deserved: RunVerdict

    def __str__(self) -> str:
        return f"{self.model.name} under {self.hypothesis.name!r}: {self.deserved.value}"


def verdict_cases(
    suites: Collection[str] = (), split: str = TEST, *, quick: bool = False, rotations: bool = False
) -> Iterator[VerdictCase]:
    """Every case of the suites' split; all suites if none is named; of `quick` models only, if that is enough.

    A model is built when its first case is reached, and is the same value in all of its cases. Of models that are
    rotations of one circuit only the first is taken, unless `rotations`.
    """
    seen: set[tuple[str, str]] = set()
    for model in suite_models(suites, split, quick=quick):
        circuit = model.suite, model.counted_as
        if circuit in seen and not rotations:
            continue
        seen.add(circuit)
        known = model.build()
        for hypothesis in known.hypotheses:
            if hypothesis.name in known.truth.deserved:
                yield VerdictCase(model, known, hypothesis, known.truth.deserved[hypothesis.name])


def confusion(
    cases: Iterable[VerdictCase], judge: Callable[[VerdictCase], RunVerdict]
) -> Counter[tuple[RunVerdict, RunVerdict]]:
    """How often each verdict was deserved and each was said, as (deserved, said)."""
    return Counter((case.deserved, judge(case)) for case in cases)
