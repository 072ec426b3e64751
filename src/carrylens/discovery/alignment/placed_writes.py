"""What nodes write under a placement: their own, another question's, or some of each in subspaces.

Takes  a trial, a placement.
Gives  for some rows and places the writes that go into the residual stream, from those that nodes compute.
Never  runs a layer.

Nodes that hold at most one target take over whole writes: those of all places are kept as one table with a mask.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.trial import HOLD, Slots, Trial, source_offsets
from carrylens.model.interchange_pass import OWN, PassWrites
from carrylens.nodes import Node


class PlacedWrites:
    """The writes of all nodes in the rows of a trial that count, under a placement."""

    def __init__(self, trial: Trial, placement: NodePlacement) -> None:
        self._trial, self._placement = trial, placement
        self._slots = trial.prediction.chosen
        config = trial.about.model.config
        self._first = [0] * (config.n_layers - 1) + [config.reads.start]
        self._shared = dict[tuple[int, bool], set[Node]]()
        self._tables = dict[tuple[int, bool], tuple[Tensor, Tensor]]()
        n_rows = len(trial.rows)
        for layer in range(config.n_layers):
            for is_mlp, kept in ((False, trial.writes.heads[layer]), (True, trial.writes.mlps[layer])):
                if kept is not None:
                    shape = (n_rows, *kept.shape[1:])
                    self._tables[layer, is_mlp] = (torch.zeros(shape), torch.zeros(shape[:-1], dtype=torch.bool))
                    self._shared[layer, is_mlp] = set()
        with torch.inference_mode():
            self.give(placement, list(placement.held))

    def give(self, placement: NodePlacement, nodes: Sequence[Node]) -> None:
        """Let these nodes hold what a placement gives them."""
        self._placement = placement
        every = np.arange(len(self._trial.rows))
        for node in nodes:
            held, key = placement.held[node], (node.layer, node.is_mlp)
            self._shared[key].discard(node)
            values, mask = self._tables[key]
            place = self._place(node)
            if len(held) > 1:
                self._shared[key].add(node)
                mask[_every_row(place)] = False
                continue
            slots = self._slots_of(node, held[0] if held else None, every)
            mask[_every_row(place)] = torch.from_numpy(slots != OWN)
            values[_every_row(place)] = self._taken(node, slots, every)

    def heads(self, layer: int, first: int, mixed: Tensor, rows: NDArray[np.intp]) -> Tensor:
        """What all heads of a layer write at the positions from `first` on, in some rows."""
        return self._replaced(layer, first, mixed, rows, is_mlp=False)

    def mlps(self, layer: int, first: int, own: Tensor, rows: NDArray[np.intp]) -> Tensor:
        """What the MLP of a layer writes at the positions from `first` on, in some rows."""
        return self._replaced(layer, first, own, rows, is_mlp=True)

    def at_place(self, layer: int, position: int, own: Tensor, rows: NDArray[np.intp], *, is_mlp: bool) -> Tensor:
        """What the heads of one place write, or its MLP, as the nodes are placed; `own` is what they compute."""
        values, mask = self._tables[layer, is_mlp]
        some, at = torch.from_numpy(rows), position - self._first[layer]
        found = torch.where(mask[some, at].unsqueeze(-1), values[some, at], own)
        for node in self._shared[layer, is_mlp]:
            if node.position == position:
                place = _every_row(() if node.head is None else (node.head,))
                found[place] = self._in_subspaces(node, self._placement.held[node], own[place], rows)
        return found

    def of_node(self, node: Node, placement: NodePlacement, own: Tensor, rows: NDArray[np.intp]) -> Tensor:
        """What one node writes under a placement, in some rows."""
        held = placement.held[node]
        if len(held) > 1:
            return self._in_subspaces(node, held, own, rows)
        slots = self._slots_of(node, held[0] if held else None, rows)
        moved = torch.from_numpy(slots != OWN)
        return torch.where(moved[:, None], self._taken(node, slots, rows), own)

    def _replaced(self, layer: int, first: int, own: Tensor, rows: NDArray[np.intp], *, is_mlp: bool) -> Tensor:
        values, mask = self._tables[layer, is_mlp]
        some, at = torch.from_numpy(rows), first - self._first[layer]
        found = torch.where(mask[some, at:].unsqueeze(-1), values[some, at:], own)
        for node in self._shared[layer, is_mlp]:
            if node.position >= first:
                place = _every_row((node.position - first, *(() if node.head is None else (node.head,))))
                found[place] = self._in_subspaces(node, self._placement.held[node], own[place], rows)
        return found

    def _in_subspaces(self, node: Node, held: tuple[int, ...], own: Tensor, rows: NDArray[np.intp]) -> Tensor:
        subspaces = self._trial.about.finder.of(node, held)
        assert subspaces is not None
        found = own
        for target, matrix in (*zip(held, subspaces.maps, strict=True), (None, subspaces.rest)):
            slots = self._slots_of(node, target, rows)
            moved = torch.from_numpy(slots != OWN)[:, None]
            found = found + torch.where(moved, self._taken(node, slots, rows) - own, 0) @ matrix.T
        return found

    def _slots_of(self, node: Node, target: int | None, rows: NDArray[np.intp]) -> Slots:
        slots = self._trial.idle_slots[node] if target is None else self._slots[:, target]
        return np.asarray(slots[self._trial.rows[rows]])

    def _taken(self, node: Node, slots: Slots, rows: NDArray[np.intp]) -> Tensor:
        n_questions = len(self._trial.questions)
        offsets = np.array([*source_offsets(n_questions), 0])  # OWN, the last, takes the row itself
        source = (self._trial.rows[rows] + offsets[slots]) % n_questions
        found = _of(self._trial.writes, node)[_rows_at(source, self._place(node))]
        if (slots == HOLD).any():
            held = _of(self._trial.held_writes, node)[_rows_at(rows, self._place(node))]
            found = torch.where(torch.from_numpy(slots == HOLD)[:, None], held, found)
        return found

    def _place(self, node: Node) -> tuple[int, ...]:  # of the axes after the rows
        at = node.position - self._first[node.layer]
        return (at,) if node.head is None else (at, node.head)


def _of(writes: PassWrites, node: Node) -> Tensor:
    kept = writes.mlps[node.layer] if node.is_mlp else writes.heads[node.layer]
    assert kept is not None
    return kept


def _every_row(place: tuple[int, ...]) -> tuple[slice | int, ...]:
    return (slice(None), *place)


def _rows_at(rows: NDArray[np.intp], place: tuple[int, ...]) -> tuple[Tensor | int, ...]:
    return (torch.from_numpy(rows), *place)
