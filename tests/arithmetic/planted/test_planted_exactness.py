"""Planted models answer every question right, whatever the dials say; rivals fail just where they must."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from arithmetic.planted.interchanges import answer_tokens, tokens_of
from carrylens.arithmetic import rivals
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.planted.dials import Carry, Copies, Dials, Timing, describe, one_layer, place_value
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.task import arithmetic_task
from carrylens.model.answer_pass import many_answer_logits
from carrylens.model.transformer import Transformer
from carrylens.training.exam import blank_results, sit

DIALS = {
    "none": Dials(),
    "redundancy": Dials(redundancy=3),
    "two copies at two places": Dials(redundancy=2, copies=Copies.PLACES),
    "sharing": Dials(sharing=True),
    "polysemy": Dials(polysemy=True),
    "decoys": Dials(decoys=2),
    "noise": Dials(noise=2),
    "delay": Dials(delay=1),
    "tail": Dials(timing=Timing.TAIL),
    "binary": Dials(carry=Carry.BINARY),
    "rotation": Dials(rotated=True),
}


def every_question(operation: Operation) -> Questions:
    """All questions with two digits."""
    pairs = np.arange(10_000)
    digits = np.stack([pairs % 10, pairs // 10 % 10, pairs // 100 % 10, pairs // 1000], axis=1).astype(np.int8)
    signs = {Operation.ADD: [False], Operation.SUB: [True], Operation.MIX: [False, True]}[operation]
    both = np.concatenate([digits] * len(signs))
    return Questions(both[:, :2], both[:, 2:], np.repeat(signs, len(digits)))


@torch.inference_mode()
def failures(model: Transformer, questions: Questions, wanted: Answers | None = None) -> int:
    """How many questions are not answered as wanted: truly, unless said otherwise."""
    wanted = answers(questions) if wanted is None else wanted
    tokens = tokens_of(questions, wanted)
    given = many_answer_logits(model, tokens).argmax(-1)  # computes once what many questions have in common
    return int((given != answer_tokens(questions, wanted)).any(1).sum())


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALS)
def test_every_two_digit_addition_is_right(name: str) -> None:
    assert failures(plant(describe(Operation.ADD, 2, DIALS[name])).model, every_question(Operation.ADD)) == 0


@pytest.mark.parametrize("operation", [Operation.SUB, Operation.MIX])
def test_every_two_digit_subtraction_is_right(operation: Operation) -> None:
    assert failures(plant(describe(operation, 2, Dials(polysemy=True))).model, every_question(operation)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALS)
def test_no_class_and_no_depth_fails_in_a_mixed_model(name: str) -> None:
    model = plant(describe(Operation.MIX, 5, DIALS[name])).model
    task = arithmetic_task(Operation.MIX, 5)
    parts = exam_parts(task, per_population=40, per_class=10)
    results = blank_results(parts)
    for _ in sit(model, task, parts, results):
        pass
    assert {result.name for result in results if result.failed} == set()
    assert len(results) > 30


@pytest.mark.parametrize("digits", [3, 10])
def test_all_dials_at_once_are_right(digits: int) -> None:
    everything = Dials(redundancy=3, sharing=True, polysemy=True, decoys=2, noise=1, timing=Timing.TAIL, rotated=True)
    model = plant(describe(Operation.ADD, digits, everything)).model
    assert failures(model, Population(PopulationKind.ENRICHED, Operation.ADD, digits).draw(5, 0, 200)) == 0


def test_a_broken_weight_is_seen() -> None:
    model = plant(describe(Operation.ADD, 2)).model
    with torch.no_grad():
        model.blocks[1].mlp.W_out[3] = 0.0  # type: ignore[union-attr, operator]
    assert failures(model, every_question(Operation.ADD)) > 0


def test_a_rotation_changes_every_weight_and_no_answer() -> None:
    plain, turned = (plant(describe(Operation.ADD, 3, Dials(rotated=rotated))).model for rotated in (False, True))
    stream = turned.pos_embed.W_pos @ torch.linalg.qr(torch.ones(turned.config.d_model, 1), mode="complete")[0]
    assert (plain.embed.W_E == 0).float().mean() > 0.8
    assert (turned.embed.W_E == 0).float().mean() == 0
    assert stream[:, 0].abs().max() < 1e-3, "what is written has mean 0"


def test_the_one_layer_plant_fails_exactly_where_the_one_layer_hypothesis_does() -> None:
    questions = Population(PopulationKind.ENRICHED, Operation.ADD, 5).draw(1, 0, 500)
    model, rival = plant(one_layer(5)).model, rivals.one_layer(5).answers(questions)
    assert failures(model, questions, wanted=rival) == 0
    assert failures(model, questions) == int((rival.digits != answers(questions).digits).any(1).sum()) > 0


def test_place_values_carry_up_to_the_precision_limit() -> None:
    for digits in (2, 3, 4):
        questions = Population(PopulationKind.ENRICHED, Operation.ADD, digits).draw(1, 0, 500)
        assert failures(plant(place_value(digits)).model, questions) == 0
    beyond = Population(PopulationKind.ENRICHED, Operation.ADD, 7).draw(1, 0, 200)
    assert failures(plant(place_value(7)).model, beyond) > 0
