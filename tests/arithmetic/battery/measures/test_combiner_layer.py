"""Combining: the layer that puts digit and carry together is found, not supposed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arithmetic.battery.paths.test_paths import rates
from arithmetic.battery.plants import (
    SMALL,
    combined_a_layer_later,
    outcome_of,
    planted_subject,
    subject_of,
    untrained_subject,
)
from carrylens.arithmetic.battery.combiner.summarise import DIGIT_TURNS
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.combiner_layer import combiner_layer, combiner_layers, senders
from carrylens.arithmetic.battery.paths.measure import LAYER_HEADS
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict


def idle_last_layer(operation: Operation, digits: int) -> Subject:
    plain = describe(operation, digits)
    return subject_of(replace(plain, n_layers=plain.n_layers + 1))


def test_a_plant_combines_in_its_last_layer_or_where_it_was_told_to() -> None:
    assert set(combiner_layers(ExperimentContext(planted_subject(Operation.MIX, 2), SMALL)).values()) == {1}
    assert (
        combiner_layer(ExperimentContext(subject_of(combined_a_layer_later(Operation.ADD, 2)), SMALL), Branch.ADD) == 2
    )


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.MIX])
def test_an_idle_last_layer_does_not_combine(operation: Operation) -> None:
    subject = idle_last_layer(operation, 2)
    assert subject.last_layer == 2
    assert set(combiner_layers(ExperimentContext(subject, SMALL)).values()) == {1}


def test_experiments_look_where_it_is_combined() -> None:
    """In the last layer there would be nothing to see."""
    subject = idle_last_layer(Operation.ADD, 2)
    paths, patching, combiner = (outcome_of(name, subject) for name in ("paths", "patching", "combiner"))
    assert paths.verdict is patching.verdict is Verdict.SUPPORTED
    assert rates(paths, LAYER_HEADS) == {(1.0, 0.0)}
    assert (paths.beside_paper[0].ours, paths.beside_paper[0].agrees) == ("add layer 1", False)
    assert all(fact.effect.value == 1 for fact in combiner.facts if fact.about["effect"] == DIGIT_TURNS)
    same = outcome_of("necessity", planted_subject(Operation.ADD, 2))
    assert outcome_of("necessity", subject).verdict is same.verdict
    assert {row[0] for row in outcome_of("necessity", subject).rows} == {row[0] for row in same.rows}


def test_axes_are_those_before_each_combiner() -> None:
    last = outcome_of("axes", planted_subject(Operation.MIX, 2))
    idle = outcome_of("axes", idle_last_layer(Operation.MIX, 2))
    assert [each.value for each in idle.estimates] == pytest.approx([each.value for each in last.estimates], abs=0.05)


def test_where_nothing_turns_the_last_layer_is_taken() -> None:
    assert combiner_layer(ExperimentContext(untrained_subject(Operation.ADD), SMALL), Branch.ADD) == 1


def test_the_sign_has_a_combiner_of_its_own() -> None:
    assert combiner_layer(ExperimentContext(idle_last_layer(Operation.SUB, 2), SMALL), None) < 2


def test_an_mlp_reads_what_came_before_it_at_its_place() -> None:
    subject = untrained_subject(Operation.ADD)
    assert [str(node) for node in senders(subject, 4, 1)] == [
        *("P4L0H0", "P4L0H1", "P4L0H2", "P4L0MLP"),
        *("P4L1H0", "P4L1H1", "P4L1H2"),
    ]
