"""Controls: what a benchmark of arithmetic evaluates our own map on besides its suites.

Takes  a `BenchmarkRun` with circuits.
Gives  the same run with models that hold nothing.
Never  builds a model before it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from carrylens.arithmetic.planted.benchmark.empty_models import empty_models
from carrylens.benchmark.benchmark_run import BenchmarkRun


@dataclass(frozen=True)
class ControlSizes:
    """How many models the controls have."""

    n_untrained: int = 30
    n_trained_twins: int = 2


SMALL_SIZES = ControlSizes(n_untrained=3, n_trained_twins=0)


def with_controls(run: BenchmarkRun, sizes: ControlSizes | None = None) -> BenchmarkRun:
    """The run with all controls, as many as are usual for its size."""
    chosen = sizes or (SMALL_SIZES if run.small else ControlSizes())
    return replace(run, empty_models=empty_models(run.circuits, chosen.n_untrained, chosen.n_trained_twins))
