"""The training benchmark: from nothing to the bar, against the published recipe on the same core.

Takes  names to train and how many questions to test them on.
Gives  seconds and failures of each, the time of a published step, and the share of peak.
Never  counts testing as training, and never trains the published recipe to its end: its steps are timed and multiplied.

A published step is width 510, batch 64, AdamW on every weight, through TransformerLens where it is installed (the
environment of `make parity`), else through our own transformer at full length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch
import torch.nn.functional as F  # noqa: N812

from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.bench.peak import answer_pass_flops, peak_flops
from carrylens.model.config import ModelConfig
from carrylens.model.exchange import to_transformer_lens
from carrylens.model.transformer import Transformer
from carrylens.names import ModelName
from carrylens.training.batches import sequences
from carrylens.training.exam import Part, blank_results, sit
from carrylens.training.run import Plan, start, train

PUBLISHED_STEPS = 15_000
_TIMED_STEPS = 3


@dataclass(frozen=True)
class TrainingBench:
    """One trained model: how long it took and how often it is wrong."""

    name: str
    seconds: float
    step_milliseconds: float
    share_of_peak: float
    n_tested: int
    natural_failures: int
    enriched_failures: int


class _Silent:
    def note(self, step: int, n_steps: int, line: dict[str, object], /) -> None:
        """Say nothing."""

    def stop_wanted(self) -> bool:
        """Never."""
        return False


def bench_training(names: Sequence[ModelName], n_tested: int) -> list[TrainingBench]:
    """Train each from nothing, then test it."""
    return [_train_one(name, n_tested) for name in names]


def published_step_seconds(name: ModelName) -> tuple[float, bool]:
    """The best time of one published step for the same task, and whether TransformerLens took it."""
    config = ModelConfig.of_width(name.digits, name.n_layers, name.n_heads, seed=1)
    model: torch.nn.Module = Transformer(config)
    through_lens = find_spec("transformer_lens") is not None
    if through_lens:
        model = to_transformer_lens(Transformer(config))
    optimiser = torch.optim.AdamW(model.parameters(), lr=8e-5, betas=(0.9, 0.98), weight_decay=0.1)
    tokens = sequences(Stream(StreamKind.PAPER, name.operation, name.digits, seed=1), 0, 64)
    first, best = config.n_ctx - config.digits - 2, float("inf")
    for _ in range(_TIMED_STEPS):
        started = perf_counter()
        logits = model(tokens)[:, first - 1 : -1].double()
        F.cross_entropy(logits.flatten(0, 1), tokens[:, first:].flatten()).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        optimiser.zero_grad()
        best = min(best, perf_counter() - started)
    return best, through_lens


def _train_one(name: ModelName, n_tested: int) -> TrainingBench:
    plan = Plan(name)
    with TemporaryDirectory() as folder:
        run = start(plan, Path(folder), torch.device("cpu"))
        train(run, _Silent(), checkpoint_seconds=float("inf"))
    step = run.seconds / name.n_steps
    flops = 3 * plan.recipe.batch * answer_pass_flops(plan.config)  # a backward pass costs two forward ones
    streams = [
        Stream(kind, name.operation, name.digits, seed=777) for kind in (StreamKind.NATURAL, StreamKind.ENRICHED)
    ]
    parts = [Part(stream.kind.value, name.operation, stream, n_tested) for stream in streams]
    results = blank_results(parts)
    for _ in sit(run.model, parts, results):
        pass
    return TrainingBench(
        name=str(name),
        seconds=run.seconds,
        step_milliseconds=1000 * step,
        share_of_peak=flops / step / peak_flops(),
        n_tested=n_tested,
        natural_failures=results[0].failed,
        enriched_failures=results[1].failed,
    )
