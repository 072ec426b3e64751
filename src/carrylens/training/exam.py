"""The exam: how often a model is wrong, on millions of questions nobody picked.

Takes  a model, what it is meant to do, and how many questions to ask.
Gives  for every stream, class and exact depth: asked, failed, an exact interval, and the failures themselves.
Never  stops early, and never draws its questions from a training stream: its seed is its own.

A question fails if any token of its answer is wrong. Parts are asked in chunks, so that an exam can stop and go on.
Every part reads its stream from the beginning and in order, so a part asked 400 and later 600 more questions is the
part asked 1,000 at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import torch
from scipy.stats import beta

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.classes import QuestionClass
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.targets import Chain, Target, TargetStream, is_possible
from carrylens.arithmetic.tokens import decode, encode
from carrylens.model.answer_pass import many_answer_logits
from carrylens.model.transformer import Transformer
from carrylens.training.counts import Given, single_operations, stream_counts
from carrylens.training.losses import answered_right

EXAM_SEED = 20_240_229
CHUNK = 1 << 14
MOST_KEPT = 50
"""How many failures of each part are kept, the first ones; all are counted."""

Source = Stream | TargetStream


@dataclass(frozen=True)
class Part:
    """Questions of one kind and how many of them are asked."""

    name: str
    operation: Operation
    source: Source
    count: int


@dataclass
class Result:
    """What became of one part: how many failed, and the first MOST_KEPT as question, right answer and given answer."""

    name: str
    operation: str
    asked: int = 0
    failed: int = 0
    failures: list[list[str]] = field(default_factory=list)

    def interval(self) -> tuple[float, float]:
        """The exact 95% Clopper-Pearson interval of the failure rate."""
        right = self.asked - self.failed
        low = beta.ppf(0.025, self.failed, right + 1) if self.failed else 0.0
        high = beta.ppf(0.975, self.failed + 1, right) if right else 1.0
        return float(low), float(high)

    def record(self) -> dict[str, object]:
        """The result as plain data."""
        low, high = self.interval()
        return {**vars(self), "interval": [low, high]}


def exam_parts(
    operation: Operation,
    digits: int,
    per_stream: int,
    per_class: int,
    seed: int = EXAM_SEED,
    of: Given = MappingProxyType({}),
) -> list[Part]:
    """For each operation every stream with `per_stream` questions, every class and exact depth with `per_class`.

    `of` says where a stream, or one operation's stream, has another count.
    """
    parts, counts = [], stream_counts(operation, per_stream, of)
    for each in single_operations(operation):
        parts += [Part(kind.value, each, Stream(kind, each, digits, seed), counts[kind, each]) for kind in StreamKind]
        parts += [
            Part(name, each, TargetStream(target, digits, seed), per_class)
            for name, target in _targets(each, digits)
            if is_possible(target, digits)
        ]
    return [part for part in parts if part.count]


def sit(
    model: Transformer, parts: list[Part], results: list[Result], watch: Callable[[int], None] | None = None
) -> Iterator[list[Result]]:
    """Ask every part from where `results` stands; the results so far after each chunk."""
    for part, result in zip(parts, results, strict=True):
        while result.asked < part.count:
            count = min(CHUNK, part.count - result.asked)
            _ask(model, part.source.take(result.asked, count), result)
            if watch is not None:
                watch(count)
            yield results


def blank_results(parts: list[Part]) -> list[Result]:
    """Results of an exam that has not begun."""
    return [Result(part.name, part.operation.value) for part in parts]


def _ask(model: Transformer, questions: Questions, result: Result) -> None:
    tokens = torch.from_numpy(encode(questions, answers(questions))).to(model.unembed.W_U.device)
    logits = many_answer_logits(model, tokens)
    wrong = ~answered_right(logits, tokens).all(1)
    result.asked += len(tokens)
    if bool(wrong.any()):
        result.failed += int(wrong.sum())
        _show(tokens[wrong].cpu(), logits[wrong].argmax(-1).cpu(), result)


def _show(rows: torch.Tensor, given: torch.Tensor, result: Result) -> None:
    split = rows.shape[1] - given.shape[1]
    room = MOST_KEPT - len(result.failures)
    texts, replies = decode(np.asarray(rows))[:room], decode(np.asarray(given))[:room]
    result.failures += [[text[:split], text[split:], reply] for text, reply in zip(texts, replies, strict=True)]


def _targets(operation: Operation, digits: int) -> Iterator[tuple[str, Target]]:
    letters = "S" if operation is Operation.ADD else "MN"
    for found in QuestionClass:
        if found.value[0] in letters:
            yield f"class {found.value}", Target.of_class(found)
    for depth in range(digits):
        if operation is Operation.ADD:
            yield f"cascade depth {depth}", Target.of_depth(Chain.CASCADE, depth)
        else:
            yield f"sign depth {depth}", Target.of_depth(Chain.SIGN, depth)
            yield f"borrow depth {depth}, positive", Target.of_depth(Chain.BORROW, depth)
            yield f"borrow depth {depth}, negative", Target.of_depth(Chain.BORROW, depth, negative=True)
