"""Controls: what a benchmark of arithmetic evaluates besides its circuits.

Takes  a `BenchmarkRun` with circuits and methods.
Gives  the same run with models that hold nothing and with wrong hypotheses.
Never  builds a model before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from carrylens.arithmetic.planted.benchmark.empty_models import empty_models
from carrylens.arithmetic.planted.benchmark.wrong_hypotheses import binary_carry_record, hypothesis_records
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.saved_results import Plain


@dataclass(frozen=True)
class ControlSizes:
    """How many models the controls have."""

    n_untrained: int = 30
    n_trained_twins: int = 2
    n_hypothesis_seeds: int = 3
    hypothesis_digits: int = 3


SMALL_SIZES = ControlSizes(n_untrained=3, n_trained_twins=0, n_hypothesis_seeds=1)


def with_controls(run: BenchmarkRun, sizes: ControlSizes | None = None) -> BenchmarkRun:
    """The run with all controls, as many as are usual for its size."""
    chosen = sizes or (SMALL_SIZES if run.small else ControlSizes())

    def judged(run: BenchmarkRun) -> Iterator[Plain]:
        yield from hypothesis_records(run, chosen.hypothesis_digits, chosen.n_hypothesis_seeds)
        yield binary_carry_record(run, chosen.hypothesis_digits)

    empty = empty_models(run.circuits, chosen.n_untrained, chosen.n_trained_twins)
    return replace(run, empty_models=empty, hypothesis_records=judged)
