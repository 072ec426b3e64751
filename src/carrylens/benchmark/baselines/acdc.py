"""ACDC, automatic circuit discovery: edges are removed one after another as long as the outputs stay.

Takes  what a method is given; it does not use the algorithm.
Gives  for every edge and node the number of thresholds at which it stays in the circuit.
Never  puts an edge back.

Conmy et al. 2023:
1. Readers are gone through from the logits back to the first layer; for each, all that send to it.
2. An edge is removed: its reader reads the sender's write as it is for the corrupted question.
3. If the divergence of the circuit's outputs from the model's grows by less than the threshold, the edge stays removed.
As its authors do for ROC curves, it is run at several thresholds. The embedding sends, too, but is not reported.
A node is in the circuit if an edge that starts at it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from carrylens.benchmark.baselines.edge_attribution import EdgeStimuli, edge_stimuli
from carrylens.benchmark.component_edges import ComponentEdge
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.split_pass import Reader, SplitModel
from carrylens.nodes import Node

_PAIRS, _QUICK_PAIRS = 32, 16
THRESHOLDS = (0.3, 0.03, 0.003)
"""In nats for each output; the highest first."""


@dataclass(frozen=True, eq=False)
class EdgeRemoval:
    """A pass without some edges. `removed` has for each reader a mask [sender, pos]."""

    split: SplitModel
    stimuli: EdgeStimuli
    corrupted: list[Tensor]
    removed: dict[str, Tensor] = field(default_factory=dict)

    def divergence(self, clean: Tensor) -> float:
        """How far the outputs are from the model's, in nats for each output; `clean` are its log probabilities."""
        with torch.no_grad():
            logits = self.split.run(self.stimuli.clean, self.change_of).logits[:, self.stimuli.positions]
            return float((clean.exp() * (clean - logits.log_softmax(-1))).sum(-1).mean())

    def change_of(self, key: str, writes: list[Tensor]) -> Tensor | None:
        """What removed edges change in what a reader is given: what the other question writes, less this one's."""
        if key not in self.removed or not bool(self.removed[key].any()):
            return None
        change = torch.stack([other - own for other, own in zip(self.corrupted, writes, strict=False)])
        mask = self.removed[key].to(change.dtype)
        axes = "xhsp,sbpd->xbphd" if key.endswith("heads") else "sp,sbpd->bpd"
        return torch.einsum(axes, mask, change)


def find_by_acdc(given: Given) -> Found:
    """The edges that stay, at every threshold."""
    split, stimuli = SplitModel(given.model), edge_stimuli(given, _QUICK_PAIRS if given.quick else _PAIRS)
    edges, nodes = dict.fromkeys(given.edges, 0.0), dict.fromkeys(given.nodes, 0.0)
    for threshold in THRESHOLDS:
        kept = kept_edges(given, split, stimuli, threshold)
        edges |= {edge: edges[edge] + 1 for edge in kept}
        nodes |= {node: nodes[node] + 1 for node in {edge.sender for edge in kept}}
    return Found(node_scores=nodes, edge_scores=edges)


def kept_edges(given: Given, split: SplitModel, stimuli: EdgeStimuli, threshold: float) -> list[ComponentEdge]:
    """The edges of the circuit at one threshold."""
    with torch.no_grad():
        clean = split.run(stimuli.clean).logits[:, stimuli.positions].log_softmax(-1)
        removal = EdgeRemoval(split, stimuli, split.run(stimuli.corrupted).writes)
    n_pos, n_heads = stimuli.clean.shape[1], split.model.config.n_heads
    readers, kept, now = list(split.readers())[::-1], list[ComponentEdge](), 0.0
    for reader in readers:
        if reader.key not in removal.removed:
            heads = (3, n_heads) if reader.part is not None else ()
            removal.removed[reader.key] = torch.zeros(*heads, reader.n_senders, n_pos, dtype=torch.bool)
    for at, reader in enumerate(readers):
        given.progress("removing edges", at, len(readers))
        mask = _mask_of(removal, reader)
        for sender in reversed(range(reader.n_senders)):
            for position in _positions(given, reader):
                mask[sender, position] = True
                tried = removal.divergence(clean)
                if tried - now < threshold:
                    now = tried
                    continue
                mask[sender, position] = False
                if at_sender := split.senders[sender]:
                    kept.append(ComponentEdge(Node(position, *at_sender), reader.name))
    return kept


def _mask_of(removal: EdgeRemoval, reader: Reader) -> Tensor:
    whole = removal.removed[reader.key]
    return whole if reader.part is None else whole[reader.part]


def _positions(given: Given, reader: Reader) -> range:
    # Where a write can matter to an output: for keys and values anywhere before the last place that is read, for all
    # else, in the last layer, only where outputs are read.
    config = given.model.config
    is_last = reader.name == "logits" or reader.key.startswith(f"L{config.n_layers - 1}")
    looks_back = reader.part is not None and reader.part[0] > 0
    return config.reads if is_last and not looks_back else range(config.reads.stop)
