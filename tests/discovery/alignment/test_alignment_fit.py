"""Alignments of a planted circuit, whose sites are known, and of weights that hold nothing."""

from functools import cache

import numpy as np
import pytest

from carrylens.arithmetic import Operation
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.task import arithmetic_task
from carrylens.benchmark.known_models import permuted_twin
from carrylens.discovery.alignment.fit import FitSettings, fit_alignment, score
from carrylens.discovery.alignment.joint_test import JointSettings, measure_jointly
from carrylens.discovery.alignment.targets import AlignmentTarget, targets_of
from carrylens.discovery.alignment.trial import IDLE, AlignmentTask, JointDraw, NodePlacement, Trial
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.samplers import population_of

DIGITS = 2
TASK = arithmetic_task(Operation.ADD, DIGITS)
HYPOTHESIS = left_to_right(Operation.ADD, DIGITS)
ROWS = JointSettings(n_rows=512)


@cache
def planted_model() -> Transformer:
    return plant(describe(Operation.ADD, DIGITS)).model


def about(model: Transformer) -> AlignmentTask:
    return AlignmentTask(model, TASK, HYPOTHESIS.model, population_of(TASK.causal))


def targets() -> tuple[AlignmentTarget, ...]:
    return targets_of(HYPOTHESIS.model, HYPOTHESIS.required, HYPOTHESIS.folded)


def true_placement() -> NodePlacement:
    """Where the circuit's description puts every target."""
    described, wanted = describe(Operation.ADD, DIGITS), targets()
    held: dict[Node, int] = dict.fromkeys(about(planted_model()).nodes, IDLE)
    for at, target in enumerate(wanted):
        for role in described.of(str(target.variables[0])):
            held |= dict.fromkeys(role.nodes, at)
    return NodePlacement(wanted, held, tuple(range(len(wanted))))


def test_at_the_planted_sites_every_intervention_does_what_the_algorithm_says() -> None:
    found = measure_jointly(about(planted_model()), true_placement(), ROWS)
    assert found.interchange.hits == found.interchange.n > 300
    assert found.scrubbed.hits == found.scrubbed.n == 512
    assert found.both.hits == found.both.n
    assert all(rate.hits == rate.n > 100 for rate in found.families.values())
    assert found.null.value < 0.3, "sites that are given to the wrong targets"


def test_a_target_without_a_site_is_missed_and_never_left_out() -> None:
    whole = true_placement()
    lost = next(at for at, target in enumerate(whole.targets) if target.family == "ST")
    without = whole.moved([node for node, at in whole.held.items() if at == lost], IDLE)
    found = measure_jointly(about(planted_model()), without, ROWS)
    assert found.families["ST"].n > 100
    assert found.families["ST"].value < 0.8
    assert found.families["SA"].value == 1
    assert found.scrubbed.value < 0.9, "its nodes are resampled like any that hold nothing"


def test_a_wrong_node_costs_score_and_a_trial_is_the_same_each_time() -> None:
    this, right = about(planted_model()), true_placement()
    trial, again = (Trial.drawn(this, len(right.targets), JointDraw(), 3, 128) for _ in range(2))
    assert score(trial, right) == score(again, right) == 1.5
    assert np.array_equal(trial.chosen, again.chosen)
    for target in ("SA", "ST"):
        at = next(at for at, each in enumerate(right.targets) if each.family == target)
        node = next(node for node, held in right.held.items() if held == at)
        assert score(trial, right.moved([node], IDLE)) < 1.5


@pytest.mark.slow
def test_the_fit_finds_sites_of_a_planted_circuit_and_none_in_shuffled_weights() -> None:
    this = about(planted_model())
    fitted = fit_alignment(this, targets(), FitSettings(n_rows=128, n_sweeps=2))
    found = measure_jointly(this, fitted.placement, ROWS)
    assert min(found.interchange.value, found.scrubbed.value, found.worst_family[1].value) > 0.95
    empty = about(permuted_twin(planted_model(), 1))
    nothing = fit_alignment(empty, targets(), FitSettings(n_rows=128, n_sweeps=1))
    assert measure_jointly(empty, nothing.placement, ROWS).interchange.value < 0.3
