"""Methods of edges on a tiny random network, held against what their authors define, computed slowly another way."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmark.relay import CARRIERS, relay_input
from benchmark.tiny import tiny_input
from carrylens.benchmark.baselines.acdc import EdgeRemoval, find_by_acdc, kept_edges
from carrylens.benchmark.baselines.edge_attribution import (
    edge_attributions,
    edge_stimuli,
    find_by_edge_attribution,
    find_by_integrated_gradients,
)
from carrylens.benchmark.component_edges import ComponentEdge
from carrylens.benchmark.method_interface import Given
from carrylens.benchmark.node_outputs import model_ids
from carrylens.benchmark.split_pass import SplitModel
from carrylens.interventions.edits import Edge, Edit
from carrylens.interventions.engine import Engine
from carrylens.interventions.sites import parse_receivers
from carrylens.tasks.batches import Batch
from carrylens.tasks.samplers import population_of

PAIRS = 4


@pytest.fixture(scope="module")
def tiny() -> Given:
    return tiny_input()


def drawn(given: Given, n: int = PAIRS) -> tuple[Batch, Batch]:
    population = population_of(given.causal)
    return population.draw(given.seed, 0, n), population.draw(given.seed, n, n)


def edit_of(edges: list[ComponentEdge], given: Given, share: float = 1.0) -> Edit:
    """The edges as edits of the engine, which tells every query of a head apart: so all queries that see the sender."""
    changes = []
    for edge in edges:
        at, last = edge.sender.position, given.model.config.reads.stop
        queries = range(at, last) if edge.receiver[-2:] in (".k", ".v") else range(at, at + 1)
        joint = "." if edge.receiver == "logits" else ""
        receivers = parse_receivers(" ".join(f"P{query}{joint}{edge.receiver}" for query in queries))
        changes.append(Edge((edge.sender,), receivers, share=share))
    return Edit(tuple(changes))


def clean_logits(given: Given) -> Tensor:
    with torch.no_grad():
        return given.model(model_ids(given, drawn(given)[0]))[:, list(given.task.layout.read_positions)]


def edited_logits(given: Given, edges: list[ComponentEdge], share: float = 1.0) -> Tensor:
    with Engine(given.model, given.task) as engine:
        outcomes = engine.run([edit_of(edges, given, share)], *drawn(given), logits=True)
    assert outcomes.logits is not None
    return torch.from_numpy(np.asarray(outcomes.logits[0], dtype=np.float64))


def test_a_split_pass_in_which_nothing_is_added_is_the_models_own(tiny: Given) -> None:
    ids, split = model_ids(tiny, drawn(tiny)[0]), SplitModel(tiny.model)
    with torch.no_grad():
        torch.testing.assert_close(split.run(split.embed(ids)).logits, tiny.model(ids))


def test_an_edge_attribution_is_the_slope_of_patching_that_edge_alone(tiny: Given) -> None:
    """Syed et al.: to first order what patching the edge does to the metric. The engine patches a ten-thousandth."""
    found, share = edge_attributions(tiny, n_steps=0, n_pairs=PAIRS), 1e-4
    stimuli = edge_stimuli(tiny, PAIRS)
    own, other = (each[..., None] for each in (stimuli.own, stimuli.other))

    def metric(logits: Tensor) -> float:
        gap = (logits.gather(-1, own) - logits.gather(-1, other))[..., 0] * (stimuli.own != stimuli.other)
        return float(gap.sum(-1).mean())

    clean = metric(clean_logits(tiny))
    some = ["P3L0H0->L1H0.q", "P1L0H1->L1H1.k", "P2L0MLP->L1H0.v", "P4L0H0->L0MLP", "P5L0H1->L1MLP", "P3L1H0->logits"]
    for name in some:
        slope = (metric(edited_logits(tiny, [ComponentEdge.parse(name)], share)) - clean) / share
        assert found[ComponentEdge.parse(name)] == pytest.approx(slope, rel=0.02, abs=1e-5), name
    assert set(found) == set(tiny.edges)


def test_integrated_gradients_are_the_mean_of_slopes_at_inputs_between(tiny: Given) -> None:
    """Hanna et al.: worked out by numbers, one reader's input moved a little at each of the points between."""
    found, stimuli = edge_attributions(tiny, n_steps=3, n_pairs=PAIRS), edge_stimuli(tiny, PAIRS)
    split, small = SplitModel(tiny.model), 1e-5
    with torch.no_grad():
        change = split.run(stimuli.corrupted).writes[3] - split.run(stimuli.clean).writes[3]  # the MLP of layer 0
        slopes = []
        for share in (1 / 3, 2 / 3, 1.0):
            entered = stimuli.corrupted + share * (stimuli.clean - stimuli.corrupted)

            def moved(key: str, _writes: list[Tensor], way: float) -> Tensor | None:
                if key != "L1heads":
                    return None
                added = torch.zeros(3, PAIRS, 7, 2, 12, dtype=torch.float64)
                added[2, :, 1, 1] = way * change[:, 1]  # the value input of head 1, at position 1
                return added

            up, down = (split.run(entered, partial(moved, way=way)).logits for way in (small, -small))
            slopes.append(float((stimuli.metric(up) - stimuli.metric(down)).mean()) / (2 * small))
    assert found[ComponentEdge.parse("P1L0MLP->L1H1.v")] == pytest.approx(sum(slopes) / 3, rel=1e-4)


def test_removing_edges_is_what_the_engine_does_with_the_same_edges(tiny: Given) -> None:
    names = ["P3L0H0->L1H0.q", "P1L0H1->L1H1.k", "P2L0MLP->L1H0.v", "P4L0H0->L0MLP", "P5L1MLP->logits"]
    edges = [ComponentEdge.parse(name) for name in names]
    stimuli, split = edge_stimuli(tiny, PAIRS), SplitModel(tiny.model)
    with torch.no_grad():
        clean = split.run(stimuli.clean).logits[:, stimuli.positions].log_softmax(-1)
        removal = EdgeRemoval(split, stimuli, split.run(stimuli.corrupted).writes)
    for reader in split.readers():
        shape = (3, 2, reader.n_senders, 7) if reader.part is not None else (reader.n_senders, 7)
        mask = removal.removed.setdefault(reader.key, torch.zeros(shape, dtype=torch.bool))
        for edge in edges:
            if edge.receiver == reader.name:
                sender = split.senders.index((edge.sender.layer, edge.sender.head))
                mask[(*(reader.part or ()), sender, edge.sender.position)] = True
    slow = edited_logits(tiny, edges).log_softmax(-1)
    expected = float((clean.exp() * (clean - slow)).sum(-1).mean())
    assert expected > 1e-4
    assert removal.divergence(clean) == pytest.approx(expected, rel=1e-6)


def slow_acdc(given: Given, threshold: float) -> set[ComponentEdge]:
    """Conmy et al., by their own loop, with the engine for every pass; the embedding is never removed here."""
    order = {reader.name: at for at, reader in enumerate(SplitModel(given.model).readers())}
    senders = {at: number for number, at in enumerate(SplitModel(given.model).senders)}
    clean = clean_logits(given).log_softmax(-1)
    removed: list[ComponentEdge] = []
    now = 0.0

    def key(edge: ComponentEdge) -> tuple[int, int, int]:
        return -order[edge.receiver], -senders[edge.sender.layer, edge.sender.head], edge.sender.position

    for edge in sorted(given.edges, key=key):
        tried = edited_logits(given, [*removed, edge]).log_softmax(-1)
        grown = float((clean.exp() * (clean - tried)).sum(-1).mean())
        if grown - now < threshold:
            now = grown
            removed.append(edge)
    return set(given.edges) - set(removed)


def test_acdc_keeps_the_edges_that_its_authors_loop_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = tiny_input(n_heads=1)

    # The engine has no edit of the embedding, so it is kept here as there.
    def without_embedding(self: EdgeRemoval, key: str, writes: list[Tensor]) -> Tensor | None:
        self.removed[key][..., 0, :] = False
        return plain(self, key, writes)

    plain = EdgeRemoval.change_of
    monkeypatch.setattr(EdgeRemoval, "change_of", without_embedding)
    kept = kept_edges(tiny, SplitModel(tiny.model), edge_stimuli(tiny, PAIRS), threshold=0.003)
    slow = slow_acdc(tiny, 0.003)
    assert 10 < len(slow) < len(tiny.edges) / 2
    assert set(kept) == slow


@pytest.mark.parametrize("method", [find_by_edge_attribution, find_by_integrated_gradients, find_by_acdc])
def test_edge_methods_find_the_carriers_and_leave_what_is_not_read(method: object) -> None:
    assert callable(method)
    found = method(relay_input())
    carriers = set(CARRIERS.values())
    assert min(found.node_scores[node] for node in carriers) > max(
        score for node, score in found.node_scores.items() if node not in carriers
    )
    best = max(found.edge_scores, key=lambda edge: found.edge_scores[edge])
    assert best.sender in carriers
    assert best.receiver == "logits"
