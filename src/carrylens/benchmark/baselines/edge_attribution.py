"""Edge attribution patching, plain and with integrated gradients: a gradient stands for patching each edge.

Takes  what a method is given; it does not use the algorithm.
Gives  a score for every edge, and for every node that of its strongest edge.
Never  patches an edge.

1. Draw unrelated questions as clean and corrupted inputs. The metric is the logit of what the model answers to the
   clean one less that of what it answers to the corrupted one, over the outputs in which they differ.
2. EAP (Syed, Rager and Conmy 2023): the score of an edge is the sender's change from clean to corrupted, times the
   gradient of the metric at the reader's input in the clean pass.
3. EAP-IG (Hanna, Pezzelle and Belinkov 2024): the gradient is the mean over passes whose inputs lie between the
   corrupted and the clean embedding, in equal steps.
Scores are averaged over pairs with their sign; what counts is their size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carrylens.benchmark.component_edges import ComponentEdge
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.node_outputs import model_ids
from carrylens.benchmark.split_pass import Reader, SplitModel
from carrylens.nodes import Node

_PAIRS = 64
_STEPS = 5


@dataclass(frozen=True, eq=False)
class EdgeStimuli:
    """Clean and corrupted inputs as they enter the model, and which logits are compared."""

    clean: Tensor
    corrupted: Tensor
    own: Tensor
    other: Tensor
    positions: list[int]

    def metric(self, logits: Tensor) -> Tensor:
        """The clean answer's logits less the corrupted one's, where they differ: one number for each pair."""
        here = logits[:, self.positions]
        gap = here.gather(-1, self.own[..., None]) - here.gather(-1, self.other[..., None])
        return (gap[..., 0] * (self.own != self.other)).sum(-1)


def find_by_edge_attribution(given: Given) -> Found:
    """Edge attribution patching."""
    return _as_found(given, edge_attributions(given, n_steps=0))


def find_by_integrated_gradients(given: Given) -> Found:
    """Edge attribution patching with integrated gradients."""
    return _as_found(given, edge_attributions(given, n_steps=_STEPS))


def edge_stimuli(given: Given, n_pairs: int) -> EdgeStimuli:
    """Unrelated questions, with what the model itself answers to them."""
    split, positions = SplitModel(given.model), list(given.task.layout.read_positions)
    ids = [model_ids(given, given.draw(n_pairs, start)) for start in (0, n_pairs)]
    with torch.no_grad():
        own, other = (given.model(each)[:, positions].argmax(-1) for each in ids)
        clean, corrupted = (split.embed(each) for each in ids)
    return EdgeStimuli(clean, corrupted, own, other, positions)


def edge_attributions(given: Given, n_steps: int, n_pairs: int = _PAIRS) -> dict[ComponentEdge, float]:
    """The signed score of every edge; without steps the gradient is that of the clean pass."""
    split, stimuli = SplitModel(given.model), edge_stimuli(given, n_pairs)
    with torch.no_grad():
        before, after = (split.run(each).writes for each in (stimuli.clean, stimuli.corrupted))
        change = [other - own for own, other in zip(before, after, strict=True)]
    shares = [step / n_steps for step in range(1, n_steps + 1)] or [1.0]
    slopes: dict[str, Tensor] = {}
    for share in shares:
        mixed = stimuli.corrupted + share * (stimuli.clean - stimuli.corrupted)
        for key, slope in reader_slopes(split, stimuli, mixed).items():
            slopes[key] = slopes.get(key, torch.zeros_like(slope)) + slope / len(shares)
    wanted, found = set(given.edges), {}
    for reader in split.readers():
        slope = slope_of(slopes, reader)
        for sender, at in enumerate(split.senders[1 : reader.n_senders], start=1):
            assert at is not None
            by_position = (change[sender] * slope).sum(-1).mean(0).tolist()
            for position, score in enumerate(by_position):
                edge = ComponentEdge(Node(position, *at), reader.name)
                if edge in wanted:
                    found[edge] = score
    return found


def reader_slopes(split: SplitModel, stimuli: EdgeStimuli, entered: Tensor) -> dict[str, Tensor]:
    """The gradient of each pair's metric at the input of every reader, by the reader's key."""
    config, (n_rows, n_pos, width) = split.model.config, entered.shape
    held: dict[str, Tensor] = {}

    def extra(key: str, _writes: list[Tensor]) -> Tensor:
        shape = (3, n_rows, n_pos, config.n_heads, width) if key.endswith("heads") else (n_rows, n_pos, width)
        held[key] = entered.new_zeros(shape).requires_grad_()
        return held[key]

    with torch.enable_grad():
        goal = stimuli.metric(split.run(entered, extra).logits).sum()
        slopes = torch.autograd.grad(goal, list(held.values()))
    return dict(zip(held, slopes, strict=True))


def slope_of(slopes: dict[str, Tensor], reader: Reader) -> Tensor:
    """The part of one reader: [batch, pos, d_model]."""
    whole = slopes[reader.key]
    return whole if reader.part is None else whole[reader.part[0], :, :, reader.part[1]]


def _as_found(given: Given, signed: dict[ComponentEdge, float]) -> Found:
    edges = {edge: abs(score) for edge, score in signed.items()}
    nodes = dict.fromkeys(given.nodes, 0.0)
    for edge, score in edges.items():
        nodes[edge.sender] = max(score, nodes[edge.sender])
    return Found(node_scores=nodes, edge_scores=edges)
