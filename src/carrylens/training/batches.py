"""Batches: the training questions as tokens, step by step.

Takes  a stream and a batch size.
Gives  the tokens of any step's batch.
Never  depends on where it started: step i has the same batch in every run.
"""

from __future__ import annotations

import torch
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.streams import Stream
from carrylens.arithmetic.targets import TargetStream
from carrylens.arithmetic.tokens import encode

_QUESTIONS_AHEAD = 1 << 14


def sequences(stream: Stream | TargetStream, start: int, count: int) -> Tensor:
    """Questions `start` to `start + count - 1` with their answers, as token ids: [batch, pos]."""
    questions = stream.take(start, count)
    return torch.from_numpy(encode(questions, answers(questions)))


class Batches:
    """Token ids by step; many steps are made at once because that is cheaper."""

    def __init__(self, stream: Stream, batch: int, device: torch.device) -> None:
        self._stream, self._batch, self._device = stream, batch, device
        self._n_steps = max(1, _QUESTIONS_AHEAD // batch)
        self._first, self._tokens = -1, torch.empty(0)

    def at(self, step: int) -> Tensor:
        """The batch of `step`."""
        first = step - step % self._n_steps
        if first != self._first:
            made = sequences(self._stream, first * self._batch, self._n_steps * self._batch)
            self._first, self._tokens = first, made.to(self._device)
        start = (step - first) * self._batch
        return self._tokens[start : start + self._batch]
