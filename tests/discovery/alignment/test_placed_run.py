"""A move at one place, computed from what is kept, against a whole pass."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Operation
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.placed_run import PlacedRun, Try
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.targets import targets_of
from carrylens.discovery.alignment.trial import JointDraw, Trial
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.samplers import population_of


def about(operation: Operation, n_layers: int) -> AlignmentTask:
    """A model of random weights, so large that every node sways the answer."""
    model = Transformer(config_of_width(2, n_layers, 2, 18, seed=3))
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel())) * 0.4)
    task, stated = arithmetic_task(operation, 2), left_to_right(operation, 2)
    targets = targets_of(stated.model, stated.required, stated.folded)
    return AlignmentTask(model, task, stated.model, targets, population_of(task.causal))


def random_held(this: AlignmentTask, nodes: Sequence[Node], rng: np.random.Generator) -> dict[Node, tuple[int, ...]]:
    required = [at for at, target in enumerate(this.targets) if not target.optional]
    held = dict[Node, tuple[int, ...]]()
    for node in nodes:
        some = tuple(sorted(rng.choice(required, rng.integers(0, 3), replace=False).tolist()))
        held[node] = some if len(some) < 2 or this.finder.of(node, some) is not None else some[:1]
    return held


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.MIX])
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_moves_at_one_place_give_what_a_whole_pass_gives(operation: Operation, n_layers: int) -> None:
    this, rng = about(operation, n_layers), np.random.default_rng(n_layers)
    trial = Trial.drawn(this, JointDraw(), 3, 96)
    run = PlacedRun(trial, NodePlacement(random_held(this, this.nodes, rng)))
    assert np.array_equal(run.right, trial.followed(run.placement))
    n_shared, n_changed = run.placement.n_shared, 0
    for _ in range(80):
        chosen = this.nodes[rng.integers(len(this.nodes))]
        nodes = [n for n in this.nodes if (n.layer, n.position) == (chosen.layer, chosen.position)]
        tried = run.placement.given(random_held(this, nodes, rng))
        n_shared = max(n_shared, tried.n_shared)
        differ = np.flatnonzero(trial.differs(run.placement, tried, nodes))
        assert np.array_equal(differ, np.flatnonzero(trial.differs(run.placement, tried)))
        other = run.placement.given(random_held(this, nodes, rng))
        tries = [Try(other, tuple(nodes), np.arange(5)), Try(tried, tuple(nodes), differ)]
        (beside, moved), before = run.moved(tries), run.right.copy()
        assert np.array_equal(beside.right, trial.followed(other)[:5])
        expected = trial.followed(tried)
        assert np.array_equal(moved.right, expected[differ])
        untouched = np.setdiff1d(np.arange(len(expected)), differ)
        assert np.array_equal(before[untouched], expected[untouched]), "rows that cannot differ"
        n_changed += int((before != expected).any())
        if rng.random() < 0.6:
            run.accept(moved)
            assert np.array_equal(run.right, expected)
    assert n_shared > 0
    assert n_changed > 5, "moves that change nothing show nothing"
