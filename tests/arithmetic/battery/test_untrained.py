"""Untrained weights, asked although they answer nothing: behind the gate too, no effect is above its null."""

from __future__ import annotations

from types import ModuleType

import pytest

import carrylens.arithmetic.battery.combiner.measure as combiner
import carrylens.arithmetic.battery.paths.measure as paths
from arithmetic.battery.plants import outcome_of, untrained_subject
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm


def whether_right_or_not(_subject: Subject, pairs: ColumnPairs) -> ColumnPairs:
    return pairs


@pytest.mark.parametrize("module", [paths, combiner], ids=["paths", "combiner"])
def test_nothing_turns_as_it_should(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "answered_pairs", whether_right_or_not)
    outcome = outcome_of(module.CARD.name, untrained_subject(Operation.MIX))
    asked = [fact for fact in outcome.facts if fact.effect.n]
    assert len(asked) > 5
    assert outcome.verdict is not Verdict.SUPPORTED
    assert min(holm([fact.p for fact in asked])) > 0.01
    assert max(fact.effect.value for fact in asked) < 0.5


@pytest.mark.parametrize("name", ["selection", "whole-algorithm"])
def test_nothing_follows(name: str) -> None:
    outcome = outcome_of(name, untrained_subject(Operation.MIX))
    asked = [fact for fact in outcome.facts if fact.effect.n]
    assert asked
    assert min(holm([fact.p for fact in asked])) > 0.01
    assert sum(fact.effect.hits for fact in asked) < 0.2 * sum(fact.effect.n for fact in asked)
