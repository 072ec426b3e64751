"""The training benchmark: from nothing to the bar, against the published recipe on the same core.

Takes  names to train and how many questions to test them on.
Gives  seconds, share of peak, failures with exact intervals, and the time of a published step before and after.
Never  counts testing as training, and never trains the published recipe to its end: its steps are timed and multiplied.

A run's rate falls to zero at its last step, and its failures vanish only then: it is judged at its end and nowhere
before. So the steps to the bar are all its steps, if it meets the bar.

A published step is width 510, batch 64, AdamW on every weight, through TransformerLens where it is installed (the
environment of `make parity`), else through our own transformer at full length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch
import torch.nn.functional as F  # noqa: N812

from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.training_plans import plan_for
from carrylens.arithmetic.zoo.exams import BAR_POPULATIONS, meets_bar
from carrylens.bench.peak import peak_flops, training_step_flops
from carrylens.model.exchange import to_transformer_lens
from carrylens.model.transformer import Transformer
from carrylens.training.batches import draw_examples
from carrylens.training.exam import PartResult, blank_results, sit
from carrylens.training.run import start, train

PUBLISHED_STEPS = 15_000
_TIMED_STEPS = 3


@dataclass(frozen=True)
class TrainingBench:
    """One trained model: how long it took, how often it is wrong, and how long a published step took around it."""

    name: str
    n_steps: int
    seconds: float
    share_of_peak: float
    results: tuple[PartResult, ...]
    published_before: float
    published_after: float
    through_lens: bool

    @property
    def meets_bar(self) -> bool | None:
        """Whether it meets the bar; None if it was evaluated on too few questions to say."""
        return meets_bar(list(self.results))

    @property
    def published_seconds(self) -> float:
        """What the published recipe would take at the faster of its two times."""
        return PUBLISHED_STEPS * min(self.published_before, self.published_after)

    @property
    def ratio(self) -> float:
        """How many times as long the published recipe takes."""
        return self.published_seconds / self.seconds

    def record(self) -> dict[str, object]:
        """What was measured as plain data; steps and seconds to the bar are None where it is not known to be met."""
        known = {name: value for name, value in vars(self).items() if name != "results"}
        return {
            **known,
            "step_milliseconds": 1000 * self.seconds / self.n_steps,
            "meets_bar": self.meets_bar,
            "steps_to_bar": self.n_steps if self.meets_bar else None,
            "seconds_to_bar": self.seconds if self.meets_bar else None,
            "results": [result.record() for result in self.results],
            "published_seconds": self.published_seconds,
            "ratio": self.ratio,
        }


class _Silent:
    def note(self, step: int, n_steps: int, line: dict[str, object], /) -> None:
        """Say nothing."""

    def stop_wanted(self) -> bool:
        """Never."""
        return False


class PublishedStep:
    """A step of the published recipe for the task a name describes."""

    def __init__(self, name: ModelName) -> None:
        config = config_of_width(name.digits, name.n_layers, name.n_heads, seed=1)
        self.through_lens = find_spec("transformer_lens") is not None
        model = Transformer(config)
        self._model: torch.nn.Module = to_transformer_lens(model) if self.through_lens else model
        self._optimiser = torch.optim.AdamW(self._model.parameters(), lr=8e-5, betas=(0.9, 0.98), weight_decay=0.1)
        task = arithmetic_task(name.operation, name.digits)
        self._tokens = draw_examples(task, task.samplers[PopulationKind.PAPER.value], 1, 0, 64).tokens
        self._first = config.reads.start + 1

    def seconds(self) -> float:
        """The best time of a few."""
        return min(self._step() for _ in range(_TIMED_STEPS))

    def _step(self) -> float:
        started = perf_counter()
        logits = self._model(self._tokens)[:, self._first - 1 : -1].double()
        wanted = self._tokens[:, self._first :]
        F.cross_entropy(logits.flatten(0, 1), wanted.flatten()).backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        self._optimiser.zero_grad()
        return perf_counter() - started


def bench_training(names: Sequence[ModelName], n_tested: int) -> Iterator[TrainingBench]:
    """Train each from nothing with a published step timed before and after, then test it; one result after another."""
    for name in names:
        published = PublishedStep(name)
        before = published.seconds()
        with TemporaryDirectory() as folder:
            run = start(plan_for(name), Path(folder), torch.device("cpu"))
            train(run, _Silent(), checkpoint_seconds=float("inf"))
        flops = training_step_flops(run.plan.config, run.plan.recipe)
        yield TrainingBench(
            name=str(name),
            n_steps=name.n_steps,
            seconds=run.seconds,
            share_of_peak=flops * name.n_steps / run.seconds / peak_flops(),
            published_before=before,
            published_after=published.seconds(),
            through_lens=published.through_lens,
            results=_tested(run.model, name, n_tested),
        )


def _tested(model: Transformer, name: ModelName, n_tested: int) -> tuple[PartResult, ...]:
    task = arithmetic_task(name.operation, name.digits)
    parts = [part for part in exam_parts(task, n_tested, 0) if part.name in BAR_POPULATIONS]
    results = blank_results(parts)
    for _ in sit(model, task, parts, results):
        pass
    return tuple(results)
