"""The exam benchmark: questions tested a second, against TransformerLens with the same weights.

Takes  a model and how many questions to test.
Gives  questions a second of both, their share of peak, and whether they find the same failures.
Never  counts the drawing of the questions: both sides get the same tokens.

Ours runs as the exam runs it. TransformerLens is measured where it is installed (in the environment of `make parity`),
with the number of questions a pass and the way of using threads, PyTorch's or ours, that suit it best: all are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter

import torch
from torch import Tensor

from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.bench.peak import answer_pass_flops, peak_flops
from carrylens.model.answer_pass import many_answer_logits, shared_places
from carrylens.model.exchange import to_transformer_lens
from carrylens.model.pieces import ROWS, Work, in_pieces, one_by_one
from carrylens.model.transformer import Transformer
from carrylens.training.batches import draw_examples
from carrylens.training.exam import CHUNK

_ROUNDS = 3
_LENS_ROWS = (32, 64, 128, 256, 512)
_TRIED_ON = 1024  # questions


@dataclass(frozen=True)
class ExamBench:
    """What one run measured; `lens_rate` is None where TransformerLens is not installed."""

    n_questions: int
    threads: int
    rate: float
    share_of_peak: float
    rows: int
    lens_rate: float | None
    lens_rows: int | None
    agrees: bool | None

    @property
    def ratio(self) -> float | None:
        """How many times as fast ours is."""
        return None if self.lens_rate is None else self.rate / self.lens_rate


def bench_exam(model: Transformer, operation: Operation, n_questions: int) -> ExamBench:
    """Test the same questions both ways, in turns, and keep the best round of each."""
    config = model.config
    task = arithmetic_task(operation, digits_of(config))
    tokens = draw_examples(task, task.samplers[PopulationKind.ENRICHED.value], 1, 0, n_questions).tokens
    first = config.reads.start + 1

    def ours(rows: Tensor) -> Tensor:
        return (many_answer_logits(model, rows).argmax(-1) == rows[:, first:]).all(1)

    sides = [_Side(ours, one_by_one, CHUNK)]
    if find_spec("transformer_lens") is not None:
        lens = to_transformer_lens(model)

        def theirs(rows: Tensor) -> Tensor:
            right: Tensor = (lens(rows)[:, first - 1 : -1].argmax(-1) == rows[:, first:]).all(1)
            return right

        sides.append(_fastest(theirs, tokens[:_TRIED_ON]))
    best, right = [0.0] * len(sides), [torch.empty(0)] * len(sides)
    for _ in range(_ROUNDS):
        for place, side in enumerate(sides):
            right[place], seconds = side.test(tokens)
            best[place] = max(best[place], n_questions / seconds)
    return ExamBench(
        n_questions=n_questions,
        threads=torch.get_num_threads(),
        rate=best[0],
        share_of_peak=best[0] * answer_pass_flops(config, shared_places(model, tokens[:CHUNK])) / peak_flops(),
        rows=ROWS,
        lens_rate=best[1] if len(sides) > 1 else None,
        lens_rows=sides[1].rows if len(sides) > 1 else None,
        agrees=bool(torch.equal(right[0], right[1])) if len(sides) > 1 else None,
    )


@dataclass(frozen=True)
class _Side:
    judge: Work
    spread: Callable[..., Tensor]
    rows: int

    def test(self, tokens: Tensor) -> tuple[Tensor, float]:
        started = perf_counter()
        right = self.spread(self.judge, tokens, rows=self.rows)
        return right, perf_counter() - started


def _fastest(judge: Work, tokens: Tensor) -> _Side:
    # Each is tried twice, because the first pass of all warms up. On one thread both ways of using threads are one.
    ways = (one_by_one, in_pieces) if torch.get_num_threads() > 1 else (one_by_one,)
    sides = [_Side(judge, spread, rows) for spread in ways for rows in _LENS_ROWS]
    return min(sides, key=lambda side: min(side.test(tokens)[1] for _ in range(2)))
