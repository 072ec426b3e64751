"""A trial run under a placement, kept so that a move at one place computes only what it can change.

Takes  a trial, a placement; then other placements that differ at one place.
Gives  which outputs come out as predicted, as `Trial.followed` does from a whole pass.
Never  chooses a placement.

1. A whole pass keeps, for every layer, the residual stream that goes in, queries, keys, values and what heads mix.
2. A move at layer l, position p changes what is written there. In layer l nothing else can change.
3. In each later layer keys and values change only where the stream did, and queries before p see none of it.
4. A move that is accepted writes what it computed into what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from carrylens.discovery.alignment.placed_writes import PlacedWrites
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.trial import Bools, Trial
from carrylens.model.interchange_pass import neurons, split_heads
from carrylens.model.transformer import Block
from carrylens.nodes import Node

_MOST_ROWS = 1024  # of one pass


@dataclass(eq=False)
class _Layer:
    """What one layer was given and computed: `first` is the position of its first query."""

    block: Block
    first: int
    stream: Tensor
    queries: Tensor
    keys: Tensor
    values: Tensor
    mixed: Tensor


@dataclass(frozen=True, eq=False)
class _Change:
    """New values of a layer for some rows: its stream, keys and values from `start`, its queries from `asking` on."""

    layer: int
    start: int
    stream: Tensor
    keys: Tensor
    values: Tensor
    asking: int
    queries: Tensor
    mixed: Tensor

    def of(self, span: slice) -> _Change:
        """The same for some of the rows."""
        parts = (each[span] for each in (self.stream, self.keys, self.values, self.queries, self.mixed))
        stream, keys, values, queries, mixed = parts
        return _Change(self.layer, self.start, stream, keys, values, self.asking, queries, mixed)


@dataclass(frozen=True, eq=False)
class Try:
    """A placement that differs in `nodes`, all of one place, to be run in `rows`, as places among those that count."""

    placement: NodePlacement
    nodes: tuple[Node, ...]
    rows: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MovedRun:
    """What a try came to: which outputs are as predicted, and what to keep if it stays."""

    tried: Try
    right: Bools
    changes: tuple[_Change, ...]


class PlacedRun:
    """The rows of a trial that count, run under a placement. `right` says which outputs are as predicted."""

    def __init__(self, trial: Trial, placement: NodePlacement) -> None:
        self.trial, self.placement = trial, placement
        self._prediction = trial.prediction
        self._writes = PlacedWrites(trial, placement)
        self._layers = list[_Layer]()
        with torch.inference_mode():
            said = self._whole_pass()
        self.right: Bools = np.asarray(said == self._prediction.predicted[trial.rows])

    def moved(self, tries: Sequence[Try]) -> list[MovedRun]:
        """What comes out of each try: a placement that differs at one place, the same for all, in some rows."""
        found = list[MovedRun]()
        with torch.inference_mode():
            for some in _in_pieces(tries):
                found += self._moved(some)
        return found

    def accept(self, moved: MovedRun) -> None:
        """Take over a placement, and what it computed."""
        rows = torch.from_numpy(moved.tried.rows)
        self.placement = moved.tried.placement
        with torch.inference_mode():
            self._writes.give(self.placement, moved.tried.nodes)
            for change in moved.changes:
                layer = self._layers[change.layer]
                stop = change.start + change.stream.shape[1]
                layer.stream[rows, change.start : stop] = change.stream
                layer.keys[rows, :, change.start : stop] = change.keys
                layer.values[rows, :, change.start : stop] = change.values
                layer.queries[rows, :, change.asking - layer.first :] = change.queries
                layer.mixed[rows, change.asking - layer.first :] = change.mixed
        self.right[moved.tried.rows] = moved.right

    def _whole_pass(self) -> NDArray[np.int64]:
        trial, model = self.trial, self.trial.about.model
        reads = model.config.reads
        tokens = self._prediction.tokens[torch.from_numpy(trial.rows), : reads.stop]
        stream = model.embed(tokens) + model.pos_embed(tokens)
        self._ahead = stream.new_full((tokens.shape[1], tokens.shape[1]), -torch.inf).triu(1)
        every = np.arange(len(trial.rows))
        for at, each in enumerate(model.blocks):
            block = cast(Block, each)
            first = reads.start if at == model.config.n_layers - 1 else 0
            queries, keys, values = _projected(block, stream, first)
            mixed = self._mix(queries, keys, values, first)
            self._layers.append(_Layer(block, first, stream, queries, keys, values, mixed))
            stream = self._written(at, stream[:, first:], mixed, first, every)
        return self._said(stream, self._outputs_from(reads.start))

    def _moved(self, tries: Sequence[Try]) -> Iterator[MovedRun]:
        at, position = tries[0].nodes[0].layer, tries[0].nodes[0].position
        rows, spans = np.concatenate([each.rows for each in tries]), _spans(tries)
        if not len(rows):
            yield from (MovedRun(each, self.right[:0], ()) for each in tries)
            return
        layer, some = self._layers[at], torch.from_numpy(rows)
        mixed = layer.mixed[some, position - layer.first]
        middle = layer.stream[some, position] + _brought(layer.block, self._tried(tries, spans, mixed, rows))
        stream, changes = (middle + self._neurons_at(tries, spans, middle, rows))[:, None], list[_Change]()
        start = position
        for later in range(at + 1, len(self._layers)):
            change = self._passed_on(later, start, stream, position, rows)
            changes.append(change)
            given = self._layers[later].stream[some, change.asking :]
            _overlay(given, stream, start - change.asking, axis=1)
            stream, start = self._written(later, given, change.mixed, change.asking, rows), change.asking
        outputs = self._outputs_from(start, None if at < len(self._layers) - 1 else start)
        right = self.right[rows]
        right[:, outputs] = self._said(stream, outputs, start) == self._predicted(rows)[:, outputs]
        for each, span in zip(tries, spans, strict=True):
            yield MovedRun(each, np.asarray(right[span]), tuple(change.of(span) for change in changes))

    def _tried(self, tries: Sequence[Try], spans: Sequence[slice], own: Tensor, rows: NDArray[np.intp]) -> Tensor:
        # What the heads of the place write, or its MLP, in the rows of each try.
        is_mlp = own.dim() == 2
        at, position = tries[0].nodes[0].layer, tries[0].nodes[0].position
        found = self._writes.at_place(at, position, own, rows, is_mlp=is_mlp)
        for each, span in zip(tries, spans, strict=True):
            for node in each.nodes:
                if node.is_mlp is is_mlp and each.placement.held[node] != self.placement.held[node]:
                    place = span if node.head is None else (span, node.head)
                    found[place] = self._writes.of_node(node, each.placement, own[place], each.rows)
        return found

    def _passed_on(self, at: int, start: int, stream: Tensor, position: int, rows: NDArray[np.intp]) -> _Change:
        layer, some = self._layers[at], torch.from_numpy(rows)
        queries, keys, values = _projected(layer.block, stream, 0)
        asking = max(position, layer.first)
        every_key, every_value = layer.keys[some], layer.values[some]
        every_query = layer.queries[some][:, :, asking - layer.first :]
        _overlay(every_key, keys, start, axis=2)
        _overlay(every_value, values, start, axis=2)
        _overlay(every_query, queries, start - asking, axis=2)
        mixed = self._mix(every_query, every_key, every_value, asking)
        return _Change(at, start, stream, keys, values, asking, every_query, mixed)

    def _mix(self, queries: Tensor, keys: Tensor, values: Tensor, first: int) -> Tensor:
        n_rows, n_heads, _, d_head = queries.shape
        mask = self._ahead[first:].expand(n_rows * n_heads, -1, -1)
        scores = torch.baddbmm(mask, queries.flatten(0, 1), keys.flatten(0, 1).transpose(1, 2), alpha=d_head**-0.5)
        mixed = torch.bmm(scores.softmax(-1), values.flatten(0, 1))
        return mixed.view(n_rows, n_heads, -1, d_head).transpose(1, 2)

    def _written(self, at: int, stream: Tensor, mixed: Tensor, first: int, rows: NDArray[np.intp]) -> Tensor:
        # The stream after a layer at the positions from `first` on.
        block = self._layers[at].block
        stream = stream + _brought(block, self._writes.heads(at, first, mixed, rows))
        if block.mlp is None or block.ln2 is None:
            return stream
        return stream + self._writes.mlps(at, first, neurons(block.mlp, block.ln2.fused(stream)), rows)

    def _neurons_at(
        self, tries: Sequence[Try], spans: Sequence[slice], middle: Tensor, rows: NDArray[np.intp]
    ) -> Tensor:
        block = self._layers[tries[0].nodes[0].layer].block
        if block.mlp is None or block.ln2 is None:
            return torch.zeros_like(middle)
        return self._tried(tries, spans, neurons(block.mlp, block.ln2.fused(middle)), rows)

    def _outputs_from(self, start: int, only: int | None = None) -> list[int]:
        places = self.trial.about.task.layout.read_positions
        return [at for at, place in enumerate(places) if place >= start and (only is None or place == only)]

    def _said(self, stream: Tensor, outputs: Sequence[int], start: int | None = None) -> NDArray[np.int64]:
        model, places = self.trial.about.model, self.trial.about.task.layout.read_positions
        start = model.config.reads.start if start is None else start
        read = stream[:, [places[at] - start for at in outputs]]
        found: NDArray[np.int64] = model.unembed(model.ln_final.fused(read)).argmax(-1).numpy()
        return found

    def _predicted(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        return self._prediction.predicted[self.trial.rows[rows]]


def _in_pieces(tries: Sequence[Try]) -> Iterator[list[Try]]:
    # Several tries in one pass, up to a number of rows: most have few.
    some, n_rows = list[Try](), 0
    for each in tries:
        if some and n_rows + len(each.rows) > _MOST_ROWS:
            yield some
            some, n_rows = [], 0
        some.append(each)
        n_rows += len(each.rows)
    if some:
        yield some


def _spans(tries: Sequence[Try]) -> list[slice]:
    ends = np.cumsum([len(each.rows) for each in tries]).tolist()
    return [slice(end - len(each.rows), end) for each, end in zip(tries, ends, strict=True)]


def _projected(block: Block, stream: Tensor, first: int) -> tuple[Tensor, Tensor, Tensor]:
    x, attention = block.ln1.fused(stream), block.attn
    return (
        split_heads(x[:, first:], attention.W_Q, attention.b_Q),
        split_heads(x, attention.W_K, attention.b_K),
        split_heads(x, attention.W_V, attention.b_V),
    )


def _brought(block: Block, mixed: Tensor) -> Tensor:
    return F.linear(mixed.flatten(-2), block.attn.W_O.flatten(0, 1).T, block.attn.b_O)


def _overlay(kept: Tensor, fresh: Tensor, start: int, axis: int) -> None:
    # Writes `fresh` over `kept` from place `start` of an axis on; what lies before the first place is left out.
    skipped = max(0, -start)
    length = fresh.shape[axis] - skipped
    if length > 0:
        kept.narrow(axis, start + skipped, length).copy_(fresh.narrow(axis, skipped, length))
