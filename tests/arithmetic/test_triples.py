"""Triples: what must hold between the asked question, the base and the source, on every triple."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic.algorithms import algorithm, answers
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.errors import CarryLensError
from carrylens.tasks.triples import effect_triples, null_triples
from carrylens.tasks.variables import Variable

of_batch = Questions.of_batch
CASES = [
    (Operation.ADD, "ST[1]", [1]),
    (Operation.ADD, "SV[2]", [0, 1, 2]),
    (Operation.SUB, "MV[1]", [0, 1]),
    (Operation.SUB, "NB[2]", [2]),
    (Operation.MIX, "SA[0]", [0]),
    (Operation.MIX, "NV[2]", [0, 1, 2]),
]


@pytest.mark.parametrize(("operation", "name", "own"), CASES)
def test_asked_and_base_share_the_variable_and_no_digit_of_other_columns(
    operation: Operation, name: str, own: list[int]
) -> None:
    model, variable = algorithm(operation, 4), Variable.parse(name)
    for triples in (effect_triples(model, variable, 40, seed=3), null_triples(model, variable, 40, seed=3)):
        assert len(triples) >= 20
        others = [k for k in range(4) if k not in own]
        for asked, base in (
            (of_batch(triples.asked).first, of_batch(triples.base).first),
            (of_batch(triples.asked).second, of_batch(triples.base).second),
        ):
            assert (asked[:, others] != base[:, others]).all()
            assert not (asked[:, own] == base[:, own]).all()
        assert (model.run(triples.asked)[variable] == model.run(triples.base)[variable]).all()
        assert (of_batch(triples.asked).minus == of_batch(triples.base).minus).all()
        assert (answers(of_batch(triples.asked)).negative == answers(of_batch(triples.base)).negative).all()


@pytest.mark.parametrize(("operation", "name", "own"), CASES)
def test_the_source_differs_in_the_variable_or_for_the_null_does_not(
    operation: Operation, name: str, own: list[int]
) -> None:
    model, variable = algorithm(operation, 4), Variable.parse(name)
    effect, null = effect_triples(model, variable, 40, seed=3), null_triples(model, variable, 40, seed=3)
    assert (model.run(effect.source)[variable] != model.run(effect.base)[variable]).all()
    assert (model.run(null.source)[variable] == model.run(null.base)[variable]).all()
    assert (
        (
            (of_batch(null.source).first != of_batch(null.base).first)
            | (of_batch(null.source).second != of_batch(null.base).second)
        )[:, own]
        .any(1)
        .all()
    )


def test_what_is_written_is_what_the_asked_question_gives_with_the_sources_value() -> None:
    """Checked with whole numbers: a carry into column 3 adds 1000 where it was none, and takes it away where it was."""
    model, variable = algorithm(Operation.ADD, 4), Variable("SV", 2)
    triples = effect_triples(model, variable, 40, seed=5)
    moved = model.run(triples.source)[variable].astype(int) - model.run(triples.base)[variable].astype(int)
    for text, change, given in zip(
        of_batch(triples.asked).text(), moved, Answers.of_outputs(triples.counterfactual()).text(), strict=True
    ):
        first, second = map(int, text.rstrip("=").split("+"))
        assert int(given) == first + second + 1000 * change


def test_rivals_keep_the_bases_value_in_the_asked_question() -> None:
    model, ours, theirs = algorithm(Operation.ADD, 4), Variable("ST", 2), Variable("SV", 2)
    triples = effect_triples(model, ours, 20, seed=1, tell_from=[theirs])
    assert len(triples)
    assert (model.run(triples.asked)[theirs] == model.run(triples.base)[theirs]).all()
    told = triples.counterfactual() != triples.counterfactual(theirs)
    assert np.asarray(told).any()


def test_a_variable_of_every_column_has_no_triples() -> None:
    with pytest.raises(CarryLensError, match=r"SV\[2\]"):
        effect_triples(algorithm(Operation.ADD, 3), Variable("SV", 2), 8, seed=0)
