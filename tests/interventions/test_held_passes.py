"""Held passes: what is held is not made again, and what was used longest ago makes room."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.interventions.call_cache import CallCache, CallInputs
from carrylens.interventions.clean import Book, clean_book, sequence_bytes
from carrylens.interventions.held_passes import HeldPasses
from carrylens.interventions.parts import Parts
from carrylens.interventions.sequences import Index
from interventions.random_edits import random_model

CONFIG = arithmetic_config(digits=2, n_layers=2, n_heads=2, d_model=7, d_head=3, d_mlp=6)


class Maker:
    """Makes clean passes, and notes of how many sequences."""

    def __init__(self) -> None:
        self.parts, self.made = Parts(random_model(CONFIG, seed=1)), list[int]()

    def __call__(self, tokens: Tensor) -> Book:
        self.made.append(len(tokens))
        return clean_book(self.parts, tokens)


def sequences(maker: Maker, count: int, seed: int) -> Index:
    config = maker.parts.config
    return np.random.default_rng(seed).integers(0, config.d_vocab, (count, config.n_ctx))


def assert_holds(maker: Maker, found: tuple[Book, Index], tokens: Index) -> None:
    book, places = found
    alone = clean_book(maker.parts, torch.from_numpy(tokens))
    assert torch.allclose(book.logits[torch.from_numpy(places)], alone.logits)


def test_a_sequence_that_is_held_is_not_made_again_and_the_one_used_longest_ago_goes() -> None:
    maker = Maker()
    held = HeldPasses(3 * sequence_bytes(maker.parts))
    one, two = sequences(maker, 2, seed=1), sequences(maker, 2, seed=2)
    assert_holds(maker, held.find(maker.parts, one, maker), one)
    assert_holds(maker, held.find(maker.parts, one[:1], maker), one[:1])
    assert maker.made == [2]
    assert_holds(maker, held.find(maker.parts, two, maker), two)  # one[1] makes room
    assert_holds(maker, held.find(maker.parts, one[:1], maker), one[:1])
    assert maker.made == [2, 2]
    assert_holds(maker, held.find(maker.parts, one[1:], maker), one[1:])
    assert maker.made == [2, 2, 1]


def test_more_than_may_be_held_is_made_and_not_held() -> None:
    maker = Maker()
    held = HeldPasses(3 * sequence_bytes(maker.parts))
    many = sequences(maker, 5, seed=3)
    for _ in range(2):
        assert_holds(maker, held.find(maker.parts, many, maker), many)
    assert maker.made == [5, 5]


@pytest.mark.parametrize("memory", [0, 1 << 20])
def test_the_sequences_of_a_call_are_made_once_for_the_very_same_questions(memory: int) -> None:
    model = random_model(CONFIG, seed=1)
    task = model.task
    assert task is not None
    cache, sampler = CallCache(memory), next(iter(task.samplers.values()))
    questions, equal = sampler.draw(0, 0, 4), sampler.draw(0, 0, 4)
    given = CallInputs(questions, (), None, None)
    first = cache.sequences(task, given)
    again = cache.sequences(task, CallInputs(questions, (), None, None))
    assert (first is again) == (memory > 0)
    assert cache.sequences(task, CallInputs(equal, (), None, None)) is not first
    assert not given.is_same(CallInputs(questions, (questions,), None, None))
    assert cache.digest(model) == cache.digest(model)
