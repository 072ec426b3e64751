"""carrylens: small transformers that add and subtract exactly, and the circuit inside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.errors import CarryLensError

if TYPE_CHECKING:
    from carrylens.benchmark.leaderboard import Leaderboard
    from carrylens.benchmark.method_interface import DiscoveryMethod, Found, Given
    from carrylens.model.transformer import Transformer
    from carrylens.workflow.exploring import Explorer

__all__ = ["CarryLensError", "__version__", "benchmark", "explore", "load"]

__version__ = "0.1.0"

import_module("carrylens.benchmark")  # before the function of that name, which would be lost to it otherwise


def load(name: str) -> Transformer:
    """The model called `name`: a shipped model, a model folder, or `hf:owner/repository`."""
    from carrylens.arithmetic.zoo import shipped  # PyTorch is imported only once a model is wanted

    return shipped.load(name)


def benchmark(
    *methods: str | Path | Callable[[Given], Found] | DiscoveryMethod,
    suites: Sequence[str] = (),
    split: str = "test",
    quick: bool = False,
    seeds: int = 10,
    out: str | Path | None = None,
) -> Leaderboard:
    """The leaderboard of methods of circuit discovery: functions of your own, Python files, names; all known for none.

    `suites` are kind, hostile, aligned and empty, all of them if none is named; `quick` takes a few small models, on
    less evidence. `seeds` of questions show how much is found again, 0 leaves that out. `out` is a folder in which
    results are kept and found again.
    """
    from carrylens.workflow import benchmarking

    kept = None if out is None else Path(out)
    return benchmarking.benchmark(
        benchmarking.BenchmarkChoice(methods, suites, split, quick=quick, n_seeds=seeds, out=kept)
    )


def explore(model: str | Path | Transformer, *, half: bool = False) -> Explorer:
    """One page that runs the model: a notebook shows it, `save` writes it to a file that any browser opens."""
    from carrylens.workflow.exploring import explore as explore_model

    return explore_model(model, half=half)
