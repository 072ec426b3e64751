"""Methods of single nodes held against what their authors define, computed slowly with hooks; trained subspaces."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmark.relay import CARRIERS, N, relay_input
from benchmark.tiny import tiny_input
from carrylens.benchmark.baselines import alignment_search
from carrylens.benchmark.baselines.activation_patching import find_by_patching
from carrylens.benchmark.baselines.alignment_search import (
    alignment_stimuli,
    find_by_alignment_search,
    interchange_accuracy,
    train_bases,
)
from carrylens.benchmark.baselines.exhaustive_interchange import score_interchange
from carrylens.benchmark.method_interface import Given
from carrylens.benchmark.node_outputs import hook_point_of, model_ids
from carrylens.model.hooks import HookPoint
from carrylens.nodes import Node
from carrylens.tasks.pairs import interchange_pairs
from carrylens.tasks.samplers import population_of


@pytest.fixture(scope="module")
def tiny() -> Given:
    return tiny_input()


def patched_logits(given: Given, node: Node, base: Tensor, source: Tensor, basis: Tensor | None = None) -> Tensor:
    """One node, one row at a time: its write becomes that of the source, within a basis where one is given."""
    rows = []
    for own, other in zip(base, source, strict=True):
        _, cache = given.model.run_with_cache(other[None])
        place = (0, node.position) if node.head is None else (0, node.position, node.head)

        def put(
            activation: Tensor, /, hook: HookPoint, place: tuple[int, ...] = place, cache: object = cache
        ) -> Tensor:
            new, there = activation.clone(), cache[hook.name][place]  # type: ignore[index]
            move = there - activation[place]
            new[place] = activation[place] + (move if basis is None else basis @ (basis.T @ move))
            return new

        logits = given.model.run_with_hooks(own[None], [(hook_point_of(node), put)])
        rows.append(logits[0, list(given.task.layout.read_positions)])
    return torch.stack(rows)


def test_activation_patching_is_the_divergence_of_each_patched_pass(tiny: Given) -> None:
    found = find_by_patching(tiny).node_scores
    population = population_of(tiny.causal)
    base, source = (model_ids(tiny, population.draw(tiny.seed, start, 32)) for start in (0, 32))
    with torch.no_grad():
        clean = tiny.model(base)[:, list(tiny.task.layout.read_positions)].log_softmax(-1)
        for node in (Node(0, 0, 0), Node(3, 0, None), Node(4, 1, 1), Node(5, 1, None)):
            moved = patched_logits(tiny, node, base, source).log_softmax(-1)
            slow = float((clean.exp() * (clean - moved)).sum(-1).mean())
            assert found[node] == pytest.approx(slow, rel=1e-4, abs=1e-7), node
    assert set(found) == set(tiny.nodes)


def test_exhaustive_interchange_is_interchange_accuracy_over_what_should_change() -> None:
    given = relay_input()
    found = score_interchange(given).role_scores
    pairs = interchange_pairs(given.causal, N[1], 32, given.seed)
    base, source = (model_ids(given, side) for side in (pairs.base, pairs.source))
    wanted, own = (given.task.output_ids(pairs.base, to) for to in (pairs.counterfactual(), None))
    with torch.no_grad():
        for node in (CARRIERS[N[1]], CARRIERS[N[0]], Node(4, 0, 1)):
            told = patched_logits(given, node, base, source).argmax(-1).numpy()
            assert found[node, N[1]] == pytest.approx(float((told == wanted)[wanted != own].mean()))
    assert found[CARRIERS[N[1]], N[1]] == 1.0
    assert found[CARRIERS[N[0]], N[1]] == 0.0


@pytest.mark.parametrize("node", [Node(4, 0, 0), Node(3, 0, None)])
def test_an_interchange_within_a_subspace_leaves_the_rest_of_the_write_as_it_is(tiny: Given, node: Node) -> None:
    """Geiger et al.: the projection onto the basis comes from the source, what is orthogonal to it from the base."""
    stimuli = alignment_stimuli(tiny, interchange_pairs(tiny.causal, N[2], 8, 0))
    width = 6 if node.head is not None else 12
    random = torch.Generator().manual_seed(1)
    basis = torch.linalg.qr(torch.randn(width, 2, generator=random, dtype=torch.float64)).Q
    with torch.no_grad():
        told = patched_logits(tiny, node, stimuli.base, stimuli.source, basis).argmax(-1)
    slow = float((told == stimuli.wanted)[stimuli.due].double().mean())
    assert interchange_accuracy(tiny, [node], stimuli, basis[None]) == [pytest.approx(slow)]


def test_a_trained_basis_is_orthonormal_and_better_than_a_random_one() -> None:
    given, node = relay_input(quick=False), CARRIERS[N[1]]
    train, test = (alignment_stimuli(given, interchange_pairs(given.causal, N[1], 32, seed)) for seed in (0, 1))
    bases = train_bases(given, [node], train, n_directions=4)
    torch.testing.assert_close(bases[0].T @ bases[0], torch.eye(4))
    assert interchange_accuracy(given, [node], test, bases) == [1.0]
    random = torch.linalg.qr(torch.randn(1, 12, 4, generator=torch.Generator().manual_seed(0))).Q
    assert interchange_accuracy(given, [node], test, random)[0] < 0.9


def test_training_turns_a_random_basis_to_where_the_variable_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual start is where the mean writes differ, which is enough in this model; so here the start is random."""

    def random_basis(fill: Tensor, _values: Tensor, n_directions: int, seed: int) -> Tensor:
        return torch.linalg.qr(
            torch.randn(fill.shape[1], n_directions, generator=torch.Generator().manual_seed(seed))
        ).Q

    given, node = relay_input(quick=False), CARRIERS[N[1]]
    train, test = (alignment_stimuli(given, interchange_pairs(given.causal, N[1], 32, seed)) for seed in (0, 1))
    monkeypatch.setattr(alignment_search, "first_basis", random_basis)
    first = random_basis(torch.zeros(1, 12), torch.zeros(1), 4, given.seed)
    assert interchange_accuracy(given, [node], test, first[None])[0] < 0.3
    assert interchange_accuracy(given, [node], test, train_bases(given, [node], train, n_directions=4)) == [1.0]


def test_alignment_search_finds_carriers_and_leaves_decoys() -> None:
    found = find_by_alignment_search(relay_input(quick=False)).role_scores
    assert all(found[node, variable] > 0.95 for variable, node in CARRIERS.items())
    assert all(score == 0.0 for (node, _), score in found.items() if node.head == 1)
    assert np.mean(list(found.values())) < 0.5
