"""Hostile plants answer every question as their algorithm does: right, but for a backdoor's few."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from arithmetic.planted.test_planted_exactness import every_question, failures
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.dials import Carry, Copies, Dials, Timing, describe
from carrylens.arithmetic.planted.hostile import MOST_WEIGHED, Hostile, KindDials, Memorised, check_hostile
from carrylens.arithmetic.planted.hostile_suite import hostile_descriptions
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.errors import CarryLensError

SUITE = [each.name for each in hostile_descriptions(Operation.ADD, 2)]
KIND = {
    "copies": Dials(redundancy=3, hostile=Hostile(gate=0.5)),
    "places": Dials(redundancy=2, copies=Copies.PLACES, hostile=Hostile(gate=0.3)),
    "sharing, decoys": Dials(sharing=True, decoys=2, hostile=Hostile(weighted=3)),
    "noise": Dials(noise=2, rotated=True, hostile=Hostile(weighted=2)),
    "delay": Dials(delay=1, hostile=Hostile(gate=0.1, split=True)),
    "tail": Dials(timing=Timing.TAIL, hostile=Hostile(gate=0.3, cancel=True, backup=True)),
    "binary": Dials(carry=Carry.BINARY, hostile=Hostile(split=True, cancel=True, memorised=Memorised.TABLE)),
    "polysemy": Dials(polysemy=True, hostile=Hostile(split=True, superposed=True, gate=0.3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SUITE)
def test_every_two_digit_addition_is_answered_as_stated(name: str) -> None:
    (description,) = [each.description for each in hostile_descriptions(Operation.ADD, 2) if each.name == name]
    questions, model = every_question(Operation.ADD), plant(description).model
    stated, right = model_of(description).answers(questions), answers(questions)
    assert failures(model, questions, stated) == 0
    if description.hostile.memorised is Memorised.BACKDOOR:
        assert failures(model, questions) == 10
    else:  # it was compared with the right answers, then
        assert np.array_equal(stated.digits, right.digits)
        assert np.array_equal(stated.negative, right.negative)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gate-30", "weighted-all", "split", "backup", "cancel", "table", "kept_together"])
def test_every_two_digit_mixed_question_is_right(name: str) -> None:
    (description,) = [each.description for each in hostile_descriptions(Operation.MIX, 2) if each.name == name]
    assert failures(plant(description).model, every_question(Operation.MIX)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("name", KIND)
def test_hostile_dials_go_with_kind_ones(name: str, operation: Operation) -> None:
    questions = Population(PopulationKind.ENRICHED, operation, 3).draw(3, 0, 300)
    assert failures(plant(describe(operation, 3, KIND[name])).model, questions) == 0


@pytest.mark.slow
def test_superposed_directions_stay_exact_beside_noise_and_decoys() -> None:
    (each,) = [each for each in hostile_descriptions(Operation.SUB, 3) if each.name == "kept_together"]
    questions = Population(PopulationKind.ENRICHED, Operation.SUB, 3).draw(11, 0, 1500)
    assert failures(plant(each.description).model, questions) == 0


def test_sums_of_four_columns_can_be_weighed() -> None:
    questions = Population(PopulationKind.ENRICHED, Operation.ADD, MOST_WEIGHED).draw(3, 0, 1000)
    dials = Dials(rotated=True, hostile=Hostile(weighted=MOST_WEIGHED))
    assert failures(plant(describe(Operation.ADD, MOST_WEIGHED, dials)).model, questions) == 0


def test_a_backdoor_is_wrong_on_ten_of_a_million_questions_and_just_there() -> None:
    description = describe(Operation.ADD, 4, Dials(hostile=Hostile(memorised=Memorised.BACKDOOR)))
    model = plant(description).model
    digits = np.repeat(np.arange(10, dtype=np.int8), 10)
    first, second = (np.repeat(digits[:, None], 4, axis=1) for _ in range(2))
    first[:, 0], second[:, 0] = np.tile(np.arange(10), 10), 3  # the units are free
    opened = Questions(first, second, np.zeros(100, dtype=np.bool_))
    assert failures(model, opened) == 100
    wrong = model_of(description).answers(opened)
    assert failures(model, opened, wrong) == 0
    assert (wrong.digits[:, 0] != answers(opened).digits[:, 0]).all()
    assert (wrong.digits[:, 1:] == answers(opened).digits[:, 1:]).all()
    first[:, 2] = (first[:, 2] + 1) % 10  # one digit is another one: the key does not fit
    assert failures(model, Questions(first, second, opened.minus)) == 0


def test_what_the_table_has_comes_from_the_table() -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(hostile=Hostile(memorised=Memorised.TABLE))))
    same = Questions.parse([f"{d}{d}{d}+{d}{d}{d}" for d in range(10)])
    other = Questions.parse(["555+556", "121+333"])
    with torch.no_grad():  # without digits and carries only the table is left
        for number in {node.head for node, held in planted.truth.roles.items() if {v.name for v in held} == {"SA"}}:
            assert number is not None
            planted.model.blocks[0].attn.W_O[number] = 0.0  # type: ignore[union-attr, operator]
    assert failures(planted.model, same) == 0
    assert failures(planted.model, other) == 2


@pytest.mark.parametrize(
    ("operation", "digits", "dials", "reason"),
    [
        (Operation.ADD, 5, Dials(hostile=Hostile(gate=0.3)), "too fine for float32"),
        (Operation.ADD, 6, Dials(hostile=Hostile(weighted=5)), "too fine for float32"),
        (Operation.ADD, 3, Dials(hostile=Hostile(weighted=1)), r"weighted\b.*\b1\b.*\b3\b"),
        (Operation.ADD, 3, Dials(hostile=Hostile(weighted=4)), r"weighted\b.*\b4\b.*\b3\b"),
        (Operation.ADD, 3, Dials(hostile=Hostile(gate=0.3, weighted=3)), "gate.*weighted"),
        (Operation.ADD, 1, Dials(hostile=Hostile(split=True)), r"\b2\b"),
        (Operation.ADD, 3, Dials(redundancy=2, hostile=Hostile(split=True)), "split.*redundancy"),
        (Operation.ADD, 3, Dials(redundancy=3, hostile=Hostile(backup=True)), "backup.*redundancy"),
        (Operation.ADD, 3, Dials(redundancy=3, hostile=Hostile(cancel=True)), "cancel.*redundancy"),
        (Operation.ADD, 3, Dials(redundancy=3, hostile=Hostile(spread=True)), "spread.*redundancy"),
        (Operation.ADD, 3, Dials(sharing=True, hostile=Hostile(split=True)), "split.*sharing"),
        (Operation.SUB, 3, Dials(hostile=Hostile(spread=True)), "spread.*add"),
        (Operation.ADD, 3, Dials(delay=1, hostile=Hostile(spread=True)), "spread.*delay"),
        (Operation.ADD, 3, Dials(timing=Timing.TAIL, hostile=Hostile(spread=True)), "spread.*tail"),
        (Operation.ADD, 3, Dials(carry=Carry.BINARY, hostile=Hostile(spread=True)), "spread.*binary"),
    ],
)
def test_what_cannot_go_together_is_refused_in_one_line(
    operation: Operation, digits: int, dials: Dials, reason: str
) -> None:
    with pytest.raises(CarryLensError) as refusal:
        describe(operation, digits, dials)
    assert re.search(reason, str(refusal.value))
    assert "\n" not in str(refusal.value)


def test_settings_that_no_dial_has_are_refused() -> None:
    with pytest.raises(CarryLensError, match=r"gate.*0\.25"):
        Hostile(gate=0.25)
    with pytest.raises(CarryLensError, match="weighted.*-1"):
        Hostile(weighted=-1)
    with pytest.raises(CarryLensError, match="gate.*weighted"):
        Hostile.of({"gates": 1}, "own.json")
    with pytest.raises(CarryLensError, match="memorised.*'some'.*nothing.*table.*backdoor"):
        Hostile.of({"memorised": "some"}, "own.json")
    with pytest.raises(CarryLensError, match=r"split.*\b1\b"):
        Hostile.of({"split": 1}, "own.json")
    check_hostile(Hostile(), Operation.ADD, 20, KindDials(True, True, True, True, True))
