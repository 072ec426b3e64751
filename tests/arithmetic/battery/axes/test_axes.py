"""The axes of carries and borrows: planted shared and planted apart, both are told."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch

from arithmetic.battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.battery.axes.angles import CarryDifferences, angles_between
from carrylens.arithmetic.battery.axes.measure import BOTH_BORROWS
from carrylens.arithmetic.battery.axes.summarise import ALONG_AXIS_OF, PAIRS_OF, judge_angles
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm
from carrylens.model.transformer import Block


def test_borrows_of_two_heads_look_shared_only_when_they_turn_together() -> None:
    outcome = outcome_of("axes", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is not Verdict.SUPPORTED
    shown = {row[1]: float(row[2].split()[0]) for row in outcome.rows}
    assert shown[f"{BOTH_BORROWS}, turned together"] > 0.85
    assert shown[BOTH_BORROWS] < 0.7


def leaning_borrows(cos: float) -> Subject:
    """A plant of the same function in which the negative borrow's direction has that cosine with the positive one's.

    The last layer's heads write the carries along other directions, and the last MLP reads them accordingly.
    """
    plain = planted_subject(Operation.MIX, 2)
    model = deepcopy(plain.model)
    block = model.blocks[-1]
    assert isinstance(block, Block)
    writes = block.attn.W_O.detach()
    carries, (positive,), (negative,) = ([row for row in writes[head] if row.norm() > 0] for head in range(3))
    every = [*carries, positive, negative]

    def apart(way: torch.Tensor) -> torch.Tensor:
        left = way - (way @ positive) / (positive @ positive) * positive
        return left * (way.norm() / left.norm())

    ways = [(way, apart(way)) for way in carries]
    ways.append((negative, cos * positive + (1 - cos**2) ** 0.5 * apart(negative)))
    turn = torch.eye(len(positive))
    for way, other in ways:
        own = next(int(i) for i in way.nonzero() if all(each[i] == 0 for each in every if each is not way))
        turn[:, own] += (other - way) / way[own]
    block.attn.W_O.data = writes @ turn.T
    assert block.mlp is not None
    block.mlp.W_in.data = torch.linalg.inv(turn).T @ block.mlp.W_in.detach()
    return Subject("leaning", model, Operation.MIX)


def test_planted_borrows_that_share_an_axis_are_told_from_those_that_do_not() -> None:
    asked = Population(PopulationKind.ENRICHED, Operation.MIX, 2).draw(1, 0, 200)
    for cos, verdict in ((0.95, Verdict.SUPPORTED), (0.0, Verdict.REFUTED)):
        subject = leaning_borrows(cos)
        assert subject.right(asked).all()
        outcome = outcome_of("axes", subject, replace(SMALL, n_pairs=48))  # of 24 the 95th percentile is one or two
        assert outcome.verdict is verdict
        found = {row[1]: float(row[2].split()[0]) for row in outcome.rows}
        assert (found[BOTH_BORROWS] > 0.7) == (verdict is Verdict.SUPPORTED)
        assert max(found["add-positive"], found["add-negative"]) < 0.5
        along = [
            f for f in outcome.facts if {f.about[PAIRS_OF], f.about[ALONG_AXIS_OF]} == set(BOTH_BORROWS.split("-"))
        ]
        assert len(along) == 2
        assert all((fact.p < 1e-6) == (verdict is Verdict.SUPPORTED) for fact in along)
        assert not outcome.beside_paper  # the paper's figures are of 6 digits


def test_all_principal_angles_are_given_beside_those_of_unrelated_differences() -> None:
    random, directions = np.random.default_rng(5), np.eye(20)

    def spread(*rows: int) -> CarryDifferences:
        mixed = random.standard_normal((80, len(rows))) @ directions[list(rows)]
        noise = random.standard_normal((80, 20))
        return CarryDifferences(mixed + 5 * directions[rows[0]], 0.1 * noise, noise)

    three = {Branch.ADD: spread(5, 6, 7), Branch.POSITIVE: spread(0, 1, 2), Branch.NEGATIVE: spread(0, 1, 3)}
    found = {angle.name: angle.principal for angle in angles_between(2, three, SMALL)}
    assert [round(each.value, 2) for each in found[BOTH_BORROWS]] == [1.0, 1.0, 0.0]
    assert [round(each.value, 2) for each in found["add-positive"]] == [0.0, 0.0, 0.0]
    assert all(each.null_high < 0.95 for each in found[BOTH_BORROWS])
    one = {
        branch: CarryDifferences(np.outer(np.ones(40), directions[0]), three[branch].null, three[branch].null)
        for branch in Branch
    }
    assert [len(angle.principal) for angle in angles_between(2, one, SMALL)] == [1, 1, 1]  # rounding spans nothing


def test_untrained_weights_have_no_shared_axis() -> None:
    outcome = outcome_of("axes", ungated_subject(Operation.MIX))
    assert outcome.verdict is not Verdict.SUPPORTED
    assert min(holm([fact.p for fact in outcome.facts])) > THRESHOLDS.level
    assert all(each.low <= each.null_high for each in outcome.estimates if each.name.startswith("|cos|"))


def test_a_source_that_changes_nothing_is_no_direction() -> None:
    one, other = turned(np.eye(20)[0], 1), turned(np.eye(20)[0], 2)
    still = CarryDifferences(other.effect, 1e-7 * other.effect, other.unrelated)
    both = {Branch.ADD: turned(np.eye(20)[1], 3), Branch.POSITIVE: one, Branch.NEGATIVE: still}
    shared = next(angle for angle in angles_between(2, both, SMALL) if angle.name == BOTH_BORROWS)
    assert shared.cos.null_high < 0.01


def turned(direction: np.ndarray, seed: int) -> CarryDifferences:
    random = np.random.default_rng(seed)
    noise = 0.1 * random.standard_normal((3, 60, 20))
    return CarryDifferences(direction + noise[0], noise[1], noise[2])


def test_a_shared_borrow_axis_is_supported_and_one_axis_for_all_is_not() -> None:
    one, other = np.eye(20)[:2]
    shared = {Branch.ADD: turned(one, 1), Branch.POSITIVE: turned(other, 2), Branch.NEGATIVE: turned(other, 3)}
    assert judge_angles(angles_between(2, shared, SMALL)) is Verdict.SUPPORTED
    same = {branch: turned(one, seed) for seed, branch in enumerate(Branch)}
    assert judge_angles(angles_between(2, same, SMALL)) is Verdict.REFUTED
    apart = {branch: turned(np.eye(20)[seed], seed) for seed, branch in enumerate(Branch)}
    assert judge_angles(angles_between(2, apart, SMALL)) is Verdict.REFUTED


def test_untrained_weights_have_no_axes_to_test() -> None:
    assert outcome_of("axes", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED


def test_a_model_that_only_adds_has_no_axes_to_compare() -> None:
    assert outcome_of("axes", planted_subject(Operation.ADD, 2)).verdict is Verdict.UNTESTED
