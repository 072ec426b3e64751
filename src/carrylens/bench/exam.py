"""The exam benchmark: questions tested a second, against TransformerLens with the same weights.

Takes  a model and how many questions to test.
Gives  questions a second of both, their share of peak, and whether they find the same failures.
Never  counts the drawing of the questions: both sides get the same tokens.

TransformerLens is measured where it is installed: in the environment of `make parity`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter

import torch
from torch import Tensor

from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.bench.peak import answer_pass_flops, peak_flops
from carrylens.model.answer_pass import answer_logits
from carrylens.model.exchange import to_transformer_lens
from carrylens.model.transformer import Transformer
from carrylens.training.batches import sequences

_ROUNDS = 3
_ROWS = 512


@dataclass(frozen=True)
class ExamBench:
    """What one run measured; `lens_rate` is None where TransformerLens is not installed."""

    n_questions: int
    threads: int
    rate: float
    share_of_peak: float
    lens_rate: float | None
    agrees: bool | None

    @property
    def ratio(self) -> float | None:
        """How many times as fast ours is."""
        return None if self.lens_rate is None else self.rate / self.lens_rate


@torch.inference_mode()
def bench_exam(model: Transformer, operation: Operation, n_questions: int) -> ExamBench:
    """Test the same questions both ways, in turns, and keep the best round of each."""
    config = model.config
    tokens = sequences(Stream(StreamKind.ENRICHED, operation, config.digits, seed=1), 0, n_questions)
    first = config.n_ctx - config.digits - 2

    def ours(rows: Tensor) -> Tensor:
        return (answer_logits(model, rows).argmax(-1) == rows[:, first:]).all(1)

    sides: list[Callable[[Tensor], Tensor]] = [ours]
    if find_spec("transformer_lens") is not None:
        lens = to_transformer_lens(model)
        sides.append(lambda rows: (lens(rows)[:, first - 1 : -1].argmax(-1) == rows[:, first:]).all(1))
    best, right = [0.0] * len(sides), [torch.empty(0)] * len(sides)
    for _ in range(_ROUNDS):
        for side, judge in enumerate(sides):
            started = perf_counter()
            right[side] = torch.cat([judge(tokens[at : at + _ROWS]) for at in range(0, n_questions, _ROWS)])
            best[side] = max(best[side], n_questions / (perf_counter() - started))
    return ExamBench(
        n_questions=n_questions,
        threads=torch.get_num_threads(),
        rate=best[0],
        share_of_peak=best[0] * answer_pass_flops(config) / peak_flops(),
        lens_rate=best[1] if len(sides) > 1 else None,
        agrees=bool(torch.equal(right[0], right[1])) if len(sides) > 1 else None,
    )
