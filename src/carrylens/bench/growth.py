"""The growth benchmark: how the time of a training step and of a tested question grows with the size of the work.

Takes  digits, widths and batch sizes.
Gives  for each of them, the others held at the middle, the best times of several rounds and their shares of peak.
Never  times one size after another: every round goes through all sizes, so that a slow moment spoils none of them.

The model is a two-layer, three-head addition model with untrained weights; its recipe is the default one for its name,
but for the batch. The share of peak counts the products of the passes and of Muon, and the best peak of all rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.recipes import recipe_for
from carrylens.arithmetic.task import arithmetic_task
from carrylens.bench.peak import answer_pass_flops, peak_flops, training_step_flops
from carrylens.model.answer_pass import answer_logits, many_answer_logits, shared_places
from carrylens.model.pieces import ROWS
from carrylens.model.transformer import Transformer
from carrylens.training.batches import draw_examples
from carrylens.training.losses import token_losses
from carrylens.training.optimiser import Optimiser

MIDDLE = {"digits": 6, "width": 96, "batch": 128}
_ROUNDS, _STEPS, _TESTED = 4, 3, 4 * ROWS
_PEAK_SECONDS = 0.2


@dataclass(frozen=True)
class Size:
    """How large the work is."""

    digits: int
    width: int
    batch: int


@dataclass(frozen=True)
class Growth:
    """What one size costs: a training step in seconds, and a tested question in seconds."""

    size: Size
    step_seconds: float
    step_share_of_peak: float
    question_seconds: float
    question_share_of_peak: float

    def record(self) -> dict[str, float]:
        """What was measured as plain data."""
        times = {name: value for name, value in vars(self).items() if name != "size"}
        return {**vars(self.size), **times}


def sizes(digits: Sequence[int], widths: Sequence[int], batches: Sequence[int]) -> list[Size]:
    """The middle and every size that differs from it in one thing."""
    middle = Size(**MIDDLE)
    found = [replace(middle, digits=each) for each in digits]
    found += [replace(middle, width=each) for each in widths]
    found += [replace(middle, batch=each) for each in batches]
    return list(dict.fromkeys([*found, middle]))


def bench_growth(wanted: Sequence[Size], rounds: int = _ROUNDS) -> list[Growth]:
    """Time every size in each of several rounds, and keep the best of each."""
    works = [_Work(size) for size in wanted]
    peak = 0.0
    for _ in range(rounds):
        peak = max(peak, peak_flops(_PEAK_SECONDS))
        for work in works:
            work.go()
    return [work.growth(peak) for work in works]


class _Work:
    # A model at one size, with the best times so far.

    def __init__(self, size: Size) -> None:
        self._size = size
        self._config = config_of_width(size.digits, 2, 3, size.width, seed=1)
        name = ModelName(Operation.ADD, size.digits, 2, 3, n_steps=1000, seed=1, width=size.width)
        self._recipe = replace(recipe_for(name), batch=size.batch)
        self._model = Transformer(self._config)
        self._optimiser = Optimiser(self._model, self._recipe)
        task = arithmetic_task(Operation.ADD, size.digits)
        population = task.samplers[PopulationKind.ENRICHED.value]
        self._examples = draw_examples(task, population, 1, 0, max(size.batch, _TESTED))
        self._step = self._question = float("inf")

    def go(self) -> None:
        """One more round."""
        for _ in range(_STEPS):
            self._step = min(self._step, self._time_step())
        started = perf_counter()
        many_answer_logits(self._model, self._examples.tokens[:_TESTED])
        self._question = min(self._question, (perf_counter() - started) / _TESTED)

    def growth(self, peak: float) -> Growth:
        """What was found."""
        step_flops = training_step_flops(self._config, self._recipe)
        question_flops = answer_pass_flops(self._config, shared_places(self._model, self._examples.tokens[:_TESTED]))
        return Growth(
            size=self._size,
            step_seconds=self._step,
            step_share_of_peak=step_flops / self._step / peak,
            question_seconds=self._question,
            question_share_of_peak=question_flops / self._question / peak,
        )

    def _time_step(self) -> float:
        started = perf_counter()
        batch = self._examples[: self._size.batch]
        losses = token_losses(answer_logits(self._model, batch.tokens), batch.wanted)
        losses.mean().backward()  # type: ignore[no-untyped-call]
        self._optimiser.step(share=0.1)
        return perf_counter() - started
