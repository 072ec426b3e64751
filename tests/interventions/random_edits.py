"""Random models, and random edits of every kind for them."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import torch

from carrylens.arithmetic import Operation
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError
from carrylens.interventions import (
    Edit,
    Receiver,
    Residual,
    ablate,
    add_direction,
    edge,
    keep_only,
    parse_sites,
    patch_difference,
)
from carrylens.interventions.edits import Edge, Fill, KeepOnly, Replace
from carrylens.interventions.sites import Input, Site
from carrylens.model import ModelConfig, Transformer
from carrylens.nodes import Node, all_nodes
from interventions.slow_interventions import can_read

KINDS = (
    "zero",
    "mean",
    "class-mean",
    "resample",
    "interchange",
    "part",
    "project",
    "add",
    "difference",
    "edge",
    "frozen",
    "keep",
)


def random_model(config: ModelConfig, seed: int) -> Transformer:
    """A float64 model with every weight random, norms and biases too, and every part as loud as the others."""
    model = Transformer(config).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            fan_in = parameter.shape[-2] if "W_" in name and "W_E" not in name and "W_pos" not in name else 1
            is_gain = name.endswith(".w")
            parameter.copy_(1 + 0.3 * drawn if is_gain else drawn * (fan_in**-0.5 if "W_" in name else 0.3))
    with suppress(CarryLensError):  # other shapes have no task, and are run on bare token ids
        model.task = arithmetic_task(Operation.MIX, digits_of(config))
    return model


class RandomEdits:
    """Draws edits that a model of some shape can take, from two slots and a reference."""

    def __init__(self, config: ModelConfig, rng: np.random.Generator) -> None:
        self.config, self.rng = config, rng
        self.nodes = all_nodes(config.n_ctx, config.n_layers, config.n_heads, config.has_mlp)
        every = [(position, layer) for position in range(config.n_ctx) for layer in range(config.n_layers + 1)]
        self.sites: list[Site] = [*self.nodes, *(Residual(*place) for place in every)]

    def draw(self, kinds: tuple[str, ...] = KINDS) -> Edit:
        """One edit of one to three changes, no site and no edge among them twice."""
        free, edges = list(self.sites), set[tuple[Site, Receiver]]()
        norm, edit = str(self.rng.choice(["recomputed", "frozen"])), Edit(())
        wanted = self.rng.choice(kinds, size=self.rng.choice([1, 1, 2, 3]))
        for kind in sorted(wanted, key=lambda kind: kind != "keep"):  # a keep-only leaves few sites to the others
            if kind in ("edge", "frozen"):
                found = self._edge(norm)
                pairs = {(s, r) for s in found.senders for r in found.receivers}
                if pairs & edges:
                    continue
                edges |= pairs
                edit += Edit((found,))
            elif kind == "keep":
                if any(isinstance(change, KeepOnly) for change in edit.changes):
                    continue
                kept = self._some(list(self.nodes), len(self.nodes) - 1)
                free = [site for site in free if isinstance(site, Residual) or site in kept]
                fill = str(self.rng.choice(["zero", "mean", "class-mean", "resample"]))
                edit += keep_only(kept, fill, seed=int(self.rng.integers(5)))
            elif free:  # a tiny model may have none left
                sites = self._some(free, 4)
                free = [site for site in free if site not in sites]
                edit += self._plain(kind, sites)
        return edit

    def _plain(self, kind: str, sites: list[Site]) -> Edit:
        rng, slot = self.rng, int(self.rng.integers(2))
        found = parse_sites(sites)
        if kind == "interchange":
            return Edit((Replace(found, Fill.SOURCE, slot),))
        if kind == "difference":
            return patch_difference(sites, slot, 1 - slot)
        if kind == "part":
            return Edit((Replace(found, Fill.SOURCE, slot, share=float(rng.normal())),))
        if kind == "project":
            fill = Fill(rng.choice(["source", "zero", "mean"]))
            size = (int(rng.integers(1, self.config.d_model)), self.config.d_model)
            basis = tuple(map(tuple, rng.normal(size=size).tolist()))
            return Edit((Replace(found, fill, slot, share=float(rng.choice([1.0, 0.7])), basis=basis),))
        if kind == "add":
            return add_direction(sites, rng.normal(size=self.config.d_model), float(rng.normal()))
        return ablate(sites, kind, seed=int(rng.integers(5)))

    def _edge(self, norm: str) -> Edge:
        rng = self.rng
        while True:
            senders = [node for node in self._some(list(self.nodes), 3) if isinstance(node, Node)]
            readers = [reader for reader in self._receivers() if any(can_read(reader, sender) for sender in senders)]
            if not readers:
                continue
            chosen = [readers[at] for at in rng.choice(len(readers), size=min(len(readers), int(rng.integers(1, 5))))]
            senders = [sender for sender in senders if any(can_read(reader, sender) for reader in chosen)]
            share = float(rng.choice([1.0, 1.0, 0.6, -1.3]))
            edit = edge(senders, chosen, int(rng.integers(2)), share, norm)
            assert isinstance(edit.changes[0], Edge)
            return edit.changes[0]

    def _receivers(self) -> list[Receiver]:
        found = [Receiver(position, None, None, Input.LOGITS) for position in range(self.config.n_ctx)]
        for node in self.nodes:
            ways = (Input.MLP,) if node.is_mlp else (Input.QUERY, Input.KEY, Input.VALUE)
            found += [Receiver(node.position, node.layer, node.head, way) for way in ways]
        return found

    def _some(self, sites: list[Site], most: int) -> list[Site]:
        count = int(self.rng.integers(1, min(most, len(sites)) + 1))
        return [sites[at] for at in self.rng.choice(len(sites), size=count, replace=False)]
