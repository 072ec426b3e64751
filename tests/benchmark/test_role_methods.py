"""Methods that score roles held against what their authors define, computed slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax
from torch import Tensor

from benchmark.relay import CARRIERS, N, relay_input
from benchmark.tiny import tiny_input
from carrylens.benchmark.baselines.attention import score_attention
from carrylens.benchmark.baselines.attribution import attributions_of
from carrylens.benchmark.baselines.linear_probes import probe_gains
from carrylens.benchmark.baselines.published_search import PublishedSearch
from carrylens.benchmark.method_interface import Given
from carrylens.benchmark.node_outputs import hook_point_of, model_ids
from carrylens.model.hooks import HookPoint
from carrylens.nodes import Node
from carrylens.tasks.pairs import effect_pairs, interchange_pairs


@pytest.fixture(scope="module")
def tiny() -> Given:
    return tiny_input()


def test_attention_is_the_mean_pattern_at_the_inputs(tiny: Given) -> None:
    found = score_attention(tiny).role_scores
    with torch.no_grad():
        _, cache = tiny.model.run_with_cache(model_ids(tiny, tiny.draw(128)))
    for node, position in ((Node(4, 1, 1), 1), (Node(3, 0, 0), 1)):
        slow = float(cache[f"blocks.{node.layer}.attn.hook_pattern"][:, node.head or 0, node.position, position].mean())
        assert found[node, N[1]] == pytest.approx(slow, rel=1e-4), "N[1] is made from X1, which stands at place 1"


def held_out_accuracy(features: NDArray[np.float64], labels: NDArray[np.int64], penalty: float) -> float:
    """That of the multinomial regression whose penalised likelihood is highest, found by a library's minimiser."""
    half, rows = len(labels) // 2, np.hstack([features, np.ones((len(features), 1))])

    def loss(flat: NDArray[np.float64]) -> float:
        weights = flat.reshape(rows.shape[1], 3)
        likely = log_softmax(rows[:half] @ weights, axis=1)[np.arange(half), labels[:half]]
        return float(-likely.mean() + penalty / 2 * (weights**2).sum())

    best = minimize(loss, np.zeros(rows.shape[1] * 3), method="L-BFGS-B").x.reshape(-1, 3)
    return float(((rows[half:] @ best).argmax(1) == labels[half:]).mean())


def test_a_probe_is_the_penalised_logistic_regression_less_that_on_shuffled_labels() -> None:
    """Hewitt and Liang's selectivity: what a probe reads beyond what it reads of labels that mean nothing."""
    random, labels = np.random.default_rng(0), np.arange(240) % 3
    features = np.stack([random.normal(size=(240, 4)) + size * np.eye(4)[labels] for size in (3.0, 1.0)])
    found = probe_gains(torch.from_numpy(features), torch.from_numpy(labels), seed=0)
    orders = torch.Generator().manual_seed(0)
    halves = [labels[:120][torch.randperm(120, generator=orders)], labels[120:][torch.randperm(120, generator=orders)]]
    real, null = ([held_out_accuracy(each, of, 1e-3) for each in features] for of in (labels, np.concatenate(halves)))
    slow = [(one - chance) / (1 - chance) for one, chance in zip(real, null, strict=True)]
    assert found.tolist() == pytest.approx(slow, abs=0.03)
    assert slow[0] > slow[1] + 0.1


@pytest.mark.parametrize("node", [Node(3, 0, 0), Node(4, 0, None), Node(5, 1, 1)])
def test_attribution_is_the_mean_slope_along_the_change_of_one_node(tiny: Given, node: Node) -> None:
    """Nanda's attribution patching, with the gradient taken at five inputs between, by moving the node a little."""
    pairs = interchange_pairs(tiny.causal, N[1], 6, 0)
    ids = [torch.from_numpy(tiny.task.output_ids(pairs.base, to)).long() for to in (pairs.counterfactual(), None)]
    shown = (ids[0] != ids[1]).any(-1)
    wanted, own = (each[shown] for each in ids)
    base, source = (model_ids(tiny, side)[shown] for side in (pairs.base, pairs.source))
    point, reads = hook_point_of(node), list(tiny.task.layout.read_positions)
    place: tuple[Any, ...] = (slice(None), node.position, *(() if node.head is None else (node.head,)))

    def goal(logits: Tensor) -> Tensor:
        gap = (logits[:, reads].gather(-1, wanted[..., None]) - logits[:, reads].gather(-1, own[..., None]))[..., 0]
        return (gap * (wanted != own)).sum(-1)

    with torch.no_grad():
        logits, before = tiny.model.run_with_cache(base)
        _, after = tiny.model.run_with_cache(source)
        change, small, slopes = (after[point] - before[point])[place], 1e-5, []
        for step in range(5):
            share = (step + 0.5) / 5
            mixed = (1 - share) * before["hook_embed"] + share * after["hook_embed"]

            def enter(_write: Tensor, /, hook: HookPoint, mixed: Tensor = mixed) -> Tensor:
                return mixed

            def moved(way: float, enter: Any = enter) -> Tensor:
                def move(write: Tensor, /, hook: HookPoint) -> Tensor:
                    write = write.clone()
                    write[place] = write[place] + way * change
                    return write

                return goal(tiny.model.run_with_hooks(base, [("hook_embed", enter), (point, move)]))

            slopes.append((moved(small) - moved(-small)) / (2 * small))
        distance = -goal(logits).clamp_max(-1e-6)
    found = attributions_of(tiny, pairs, [point])[point][place].sum(-1)
    torch.testing.assert_close(found * distance, torch.stack(slopes).mean(0), rtol=1e-4, atol=1e-8)


def test_the_published_search_reports_what_its_steps_by_hand_report() -> None:
    """A head passes that fails some question at its mean, looks at the variable's input, and changes its output."""
    given = relay_input()
    found = {(role.node, role.variable) for role in PublishedSearch(("N",), ())(given).node_roles}
    ids, mean_over = (model_ids(given, given.draw(128, start)) for start in (0, 128))
    reads = list(given.task.layout.read_positions)
    by_hand = set()
    with torch.no_grad():
        clean = given.model(ids)[:, reads].argmax(-1)
        _, cache = given.model.run_with_cache(mean_over)
        _, seen = given.model.run_with_cache(ids)
        for node in given.nodes:
            at = (slice(None), node.position, node.head)

            def put(write: Tensor, /, hook: HookPoint, at: Any = at, other: Tensor | None = None) -> Tensor:
                write = write.clone()
                write[at] = cache[hook.name].mean(0)[at[1:]] if other is None else other[at]
                return write

            fails = (given.model.run_with_hooks(ids, [(hook_point_of(node), put)])[:, reads].argmax(-1) != clean).any()
            looks = int(seen["blocks.0.attn.hook_pattern"][:, node.head or 0, node.position].mean(0).argmax())
            for variable, index in ((N[k], k) for k in (2, 1, 0)):
                if not fails or looks != 2 - index or node.position < looks:
                    continue
                pairs = effect_pairs(given.causal, variable, 16, given.seed)
                base, source = (model_ids(given, side) for side in (pairs.base, pairs.source))
                _, there = given.model.run_with_cache(source)

                def swap(write: Tensor, /, hook: HookPoint, at: Any = at, there: Any = there) -> Tensor:
                    return put(write, hook, at, there[hook.name])

                told = given.model.run_with_hooks(base, [(hook_point_of(node), swap)])[:, reads].argmax(-1)
                if (told != given.model(base)[:, reads].argmax(-1))[:, 2 - index].any():
                    by_hand.add((node, variable))
    assert found == by_hand
    assert by_hand == {(node, variable) for variable, node in CARRIERS.items()}
