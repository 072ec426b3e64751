"""Training under an alignment, of a task that is no arithmetic: what is asked, and that it comes out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from carrylens.alignment import AlignedSite, Alignment
from carrylens.errors import CarryLensError
from carrylens.model import load_model
from carrylens.model.interchange_pass import MEAN, OWN
from carrylens.model.weights import hash_of
from carrylens.nodes import Node
from carrylens.training.acceptance import HeldOut, measure_acceptance, noisy_twin
from carrylens.training.interchange import Interchange, draw_interchanged, nodes_of
from carrylens.training.plan import TrainingPlan
from carrylens.training.run import resume, start, train
from training.bit_parity import PARITIES, parity_plan, parity_task
from training.quiet import Quiet

CPU = torch.device("cpu")
TASK = parity_task()
READ_AT = dict(zip(PARITIES, TASK.layout.read_positions, strict=True))
SITES = tuple(
    AlignedSite((output,), (tuple(Node(place, layer, head) for layer in (0, 1) for head in (0, 1, None)),), (output,))
    for output, place in READ_AT.items()
)  # each parity is worked out where it is predicted, and nowhere else
ALIGNED = Alignment("parity", SITES)
HOW = Interchange(TASK.causal, ALIGNED)


def aligned_plan(n_steps: int = 60, how: Interchange = HOW) -> TrainingPlan:
    return replace(parity_plan(n_steps, task=TASK), interchange=how)


def test_a_batch_moves_sites_as_a_whole_and_resamples_the_rest() -> None:
    config = aligned_plan().config
    questions = TASK.samplers["every"].draw(1, 0, 400)
    batch = draw_interchanged(TASK, HOW, config, questions, np.random.default_rng(1))
    slots = batch.slots.numpy()
    counts = np.stack([slots[:, place, 1, -1] != OWN for place in READ_AT.values()], axis=1).sum(1)
    assert set(counts.tolist()) == {0, 1, 2, 3}
    idle = HOW.alignment.idle(nodes_of(config))
    share = np.mean([slots[:, n.position, n.layer, -1 if n.head is None else n.head] != OWN for n in idle])
    assert 0.4 < share < 0.6
    assert (slots != MEAN).all()
    changed = (batch.counterfactual != batch.wanted).numpy()
    moved = np.stack([slots[:, place, 1, -1] != OWN for place in READ_AT.values()], axis=1)
    assert changed.any()
    assert not (changed & ~moved).any(), "an output changes only where its own site is moved"


def test_copies_are_silenced_but_for_one_and_only_where_the_site_stays() -> None:
    two = Alignment("parity", (AlignedSite((PARITIES[0],), ((Node(1, 0, 0),), (Node(1, 0, 1),))),))
    how = Interchange(TASK.causal, two, means=0.5, idle_shares=(0.0,))
    questions = TASK.samplers["every"].draw(1, 0, 400)
    slots = draw_interchanged(TASK, how, aligned_plan().config, questions, np.random.default_rng(1)).slots[:, 1, 0, :2]
    silenced = (slots == MEAN).sum(1)
    assert set(silenced.tolist()) == {0, 1}
    assert ((slots == MEAN).any(1) & (slots >= 0).any(1)).sum() == 0


def test_a_stopped_run_goes_on_to_the_same_bits_under_the_same_alignment_only(tmp_path: Path) -> None:
    plan = aligned_plan(30)
    assert train(start(plan, tmp_path / "whole", CPU), Quiet(), checkpoint_seconds=1e9)
    assert not train(start(plan, tmp_path / "parts", CPU), Quiet(stop_at=11), checkpoint_seconds=1e9)
    other = aligned_plan(30, Interchange(TASK.causal, Alignment("parity", SITES[:2])))
    with pytest.raises(CarryLensError, match="aligned"):
        resume(other, tmp_path / "parts", CPU)
    assert train(resume(plan, tmp_path / "parts", CPU), Quiet(), checkpoint_seconds=1e9)
    assert hash_of(load_model(tmp_path / "parts")) == hash_of(load_model(tmp_path / "whole"))


def test_an_alignment_that_does_not_fit_is_refused_before_training() -> None:
    with pytest.raises(CarryLensError, match="P99L0H0"):
        aligned_plan(1, Interchange(TASK.causal, Alignment("parity", (AlignedSite.of("P[1]", "P99L0H0"),))))


def test_what_is_trained_to_hold_variables_holds_them_and_nothing_else_does(tmp_path: Path) -> None:
    plan = aligned_plan(700)
    run = start(plan, tmp_path, CPU)
    elsewhere = Alignment("parity", tuple(AlignedSite((o,), ((Node(p, 1, 0),),), (o,)) for o, p in READ_AT.items()))
    others = {"at a head": Interchange(TASK.causal, elsewhere)}
    asked = HeldOut(TASK, TASK.samplers["every"], 99, 600)
    before = measure_acceptance(run.model, HOW, asked, others)
    assert not before.accepted
    assert train(run, Quiet(), checkpoint_seconds=1e9)
    after = measure_acceptance(load_model(tmp_path), HOW, asked, others)
    assert after.accepted, after
    assert after.others["at a head"].value < 0.5, "one head of a site is not all of it"
    assert all(share.rows > 100 for share in (after.one_site, after.several_sites, after.idle))


def test_noise_changes_weights_by_its_share() -> None:
    model = start(aligned_plan(), Path(), CPU).model
    twin = noisy_twin(model, 0.01, 1)
    weight = model.state_dict()["embed.W_E"]
    share = (twin.state_dict()["embed.W_E"] / weight - 1).std()
    assert 0.005 < float(share) < 0.015
