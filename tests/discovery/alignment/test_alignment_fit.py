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
from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.fit import FitSettings, fit_alignment, score_of
from carrylens.discovery.alignment.joint_test import JointSettings, measure_jointly
from carrylens.discovery.alignment.placed_run import PlacedRun
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.targets import AlignmentTarget, targets_of
from carrylens.discovery.alignment.trial import JointDraw, Trial
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.samplers import population_of

DIGITS = 2
TASK = arithmetic_task(Operation.ADD, DIGITS)
HYPOTHESIS = left_to_right(Operation.ADD, DIGITS)
ROWS = JointSettings(n_rows=256, n_each=48)


@cache
def planted_model() -> Transformer:
    return plant(describe(Operation.ADD, DIGITS)).model


def targets() -> tuple[AlignmentTarget, ...]:
    return targets_of(HYPOTHESIS.model, HYPOTHESIS.required, HYPOTHESIS.folded)


def about(model: Transformer) -> AlignmentTask:
    return AlignmentTask(model, TASK, HYPOTHESIS.model, targets(), population_of(TASK.causal))


def true_placement() -> NodePlacement:
    """Where the circuit's description puts every target; the top carry is the top digit."""
    described = describe(Operation.ADD, DIGITS)
    held: dict[Node, tuple[int, ...]] = dict.fromkeys(about(planted_model()).nodes, ())
    for at, target in enumerate(targets()):
        for role in described.of(str(target.variables[0])):
            held |= dict.fromkeys(role.nodes, (at,))
    top = next(at for at, target in enumerate(targets()) if str(target.variables[0]) == f"A[{DIGITS}]")
    for role in described.of(f"SV[{DIGITS - 1}]"):  # it is the top digit
        held |= dict.fromkeys(role.nodes, (top,))
    return NodePlacement(held)


def test_at_the_planted_sites_every_intervention_does_what_the_algorithm_says() -> None:
    found = measure_jointly(about(planted_model()), true_placement(), ROWS)
    assert found.interchange.hits == found.interchange.n > 150
    assert found.scrubbed.hits == found.scrubbed.n == 256
    assert found.both.hits == found.both.n
    assert found.changed.hits == found.changed.n > 200
    assert found.carriers
    for carrier in found.carriers:
        assert carrier.hit.hits == carrier.hit.n > 30, carrier
        assert carrier.null.hits == 0, carrier
    assert found.permuted.value < 0.5, "sites that are given to the wrong targets"
    assert found.deviation is None


def test_a_target_without_a_site_is_missed_and_never_left_out() -> None:
    whole = true_placement()
    lost = next(at for at, target in enumerate(targets()) if target.family == "ST")
    without = whole.given(dict.fromkeys(whole.nodes(lost), ()))
    found = measure_jointly(about(planted_model()), without, ROWS)
    carrier = next(each for each in found.carriers if each.target == str(targets()[lost]))
    assert carrier.hit.n > 30
    assert carrier.hit.hits == 0
    assert not carrier.nodes
    assert found.scrubbed.value < 0.9, "its nodes are resampled like any that hold nothing"


def test_a_wrong_node_costs_score_and_a_trial_is_the_same_each_time() -> None:
    this, right = about(planted_model()), true_placement()
    trial, again = (Trial.drawn(this, JointDraw(), 3, 128) for _ in range(2))
    best = PlacedRun(trial, right)
    assert best.right.all()
    assert np.array_equal(trial.chosen, again.chosen)
    for family in ("SA", "ST"):
        at = next(at for at, each in enumerate(targets()) if each.family == family)
        worse = right.given({right.nodes(at)[0]: ()})
        assert score_of(trial, trial.followed(worse), worse) < score_of(trial, best.right, right)


def test_a_whole_node_is_interchanged_as_the_engine_does_it() -> None:
    this, right = about(planted_model()), true_placement()
    at = next(at for at, each in enumerate(targets()) if each.family == "SA")
    alone = NodePlacement(dict.fromkeys(this.nodes, ()) | dict.fromkeys(right.nodes(at), (at,)))
    trial = Trial.drawn(this, JointDraw(1, 1, 0.0, (at,)), 5, 32)
    slot = trial.chosen[trial.rows, at]
    sources = trial.questions[(trial.rows + np.where(slot == 0, 1, 3)) % len(trial.questions)]
    edit = interchange(" + ".join(map(str, right.nodes(at))))
    theirs = Engine(planted_model(), TASK).run([edit], trial.questions[trial.rows], sources).tokens[0]
    changed = trial.put_out(alone)
    read = [str(each) for each in this.causal.outputs].index(str(targets()[at].outputs[0]))
    assert np.array_equal(changed[:, read], theirs[:, read])


@pytest.mark.slow
def test_the_fit_finds_sites_of_a_planted_circuit_and_none_in_shuffled_weights() -> None:
    this = about(planted_model())
    fitted = fit_alignment(this, FitSettings(n_rows=128, n_sweeps=2))
    found = measure_jointly(this, fitted.placement, ROWS)
    assert min(found.interchange.value, found.scrubbed.value) > 0.95
    assert min(each.hit.value for each in found.carriers) > 0.9
    empty = about(permuted_twin(planted_model(), 1))
    nothing = fit_alignment(empty, FitSettings(n_rows=64, n_sweeps=1))
    assert measure_jointly(empty, nothing.placement, ROWS, carriers=False).interchange.value < 0.3
