"""Fills: the value that takes a write's place.

Takes  clean passes, means, and for each row where its sources stand among them.
Gives  what a change puts at its sites.
Never  changes anything itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
import torch
from torch import Tensor

from carrylens.interventions.clean import Book, Means
from carrylens.interventions.edits import Add, Fill, Replace
from carrylens.interventions.plan import Act

Origin = tuple[Fill, int]
"""Where a row's foreign values come from: SOURCE and a slot, or RESAMPLE and a seed."""


class Kind(Enum):
    """What is replaced: the entering stream, heads' outputs before they are written, or an MLP's write."""

    STREAM = "stream"
    HEADS = "heads"
    MLP = "mlp"


@dataclass(frozen=True)
class Rows:
    """The rows of one batch: where each row's question and origins stand in the book, and its question's class."""

    book: Book
    means: Means | None
    questions: Tensor
    origins: Mapping[Origin, Tensor]
    classes: Tensor

    def fill(self, change: Replace, layer: int, kind: Kind, act: Act, rows: slice) -> Tensor:
        """The fill at the act's sites, axes [batch, site, ...]; one row for all where they do not differ."""
        if change.fill is Fill.ZERO:
            clean = self._clean(layer, kind)
            return clean.new_zeros(1, len(act.positions), *clean.shape[3 if act.heads else 2 :])
        if change.fill is Fill.MEAN:
            return _at(self._mean(layer, kind), torch.zeros(1, dtype=torch.int64), act, self._first(layer, kind))
        if change.fill is Fill.CLASS_MEAN:
            return _at(self._mean(layer, kind), 1 + self.classes[rows], act, self._first(layer, kind))
        return self.foreign(origin_of(change), layer, kind, act, rows)

    def foreign(self, origin: Origin, layer: int, kind: Kind, act: Act, rows: slice) -> Tensor:
        """What the sites hold in the rows' clean passes of another question."""
        return _at(self._clean(layer, kind), self.origins[origin][rows], act, self._first(layer, kind))

    def _clean(self, layer: int, kind: Kind) -> Tensor:
        if layer == len(self.book.layers):
            return self.book.last
        page = self.book.layers[layer]
        return {Kind.STREAM: page.stream, Kind.HEADS: page.z, Kind.MLP: page.mlp}[kind]

    def _mean(self, layer: int, kind: Kind) -> Tensor:
        assert self.means is not None
        if layer == len(self.book.layers):
            return self.means.last
        page = self.means.layers[layer]
        return {Kind.STREAM: page.stream, Kind.HEADS: page.z, Kind.MLP: page.mlp}[kind]

    def _first(self, layer: int, kind: Kind) -> int:
        if layer == len(self.book.layers):
            return self.book.first_answer
        return 0 if kind is Kind.STREAM else self.book.layers[layer].first


def origin_of(change: Replace) -> Origin:
    """Where the change takes its values from."""
    return (change.fill, change.source if change.fill is Fill.SOURCE else change.seed)


def projector(change: Replace, like: Tensor) -> Tensor:
    """The matrix that keeps what lies in the span of the change's basis."""
    orthonormal = np.linalg.qr(np.array(change.basis, dtype=np.float64).T)[0]
    return torch.from_numpy(orthonormal @ orthonormal.T).to(like)


def direction(change: Add, like: Tensor) -> Tensor:
    """What the change adds, axis [d_model]."""
    return change.amount * torch.tensor(change.direction, dtype=like.dtype, device=like.device)


def _at(values: Tensor, rows: Tensor, act: Act, first: int) -> Tensor:
    places = torch.tensor(act.positions, device=values.device) - first
    sites = (places,) if not act.heads else (places, torch.tensor(act.heads, device=values.device))
    return values[(rows.to(values.device)[:, None], *(site[None] for site in sites))]
