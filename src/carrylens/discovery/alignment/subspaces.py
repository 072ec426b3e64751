"""Subspaces: which directions of a node's write belong to which of the variables that it holds.

Takes  what nodes write for many questions, and the values of targets there.
Gives  for each of several targets a linear map that reads its part of the write; all of them together leave the rest.
Never  looks at what the model then puts out: that a subspace carries its variable is for a test to show.

In closed form, for the targets t1, t2, ... of a node:
1. Regress the write on the values of all targets at once, each value with its own effect. The effects of a target's
   values, centred, span its directions B(t).
2. Together B = [B(t1), B(t2), ...] must be independent: a direction that belongs to two targets belongs to neither.
3. Read coordinates along B so that the unexplained part of the write disturbs them least (generalised least squares).
   The map of a target is B(t) times its coordinates; interchange replaces just that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.discovery.singular_values import singular_values
from carrylens.nodes import Node

_LEAST_DIRECTION = 0.03  # of a target's strongest direction
_LEAST_INDEPENDENCE = 0.05  # the smallest singular value of all directions together, each of length 1
_RIDGE = 1e-3  # of the unexplained variance

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class NodeSubspaces:
    """The map of each target, [width, width]; `ranks` says how many directions each has."""

    maps: tuple[Tensor, ...]
    ranks: tuple[int, ...]

    @property
    def rest(self) -> Tensor:
        """The map that reads what belongs to none of them."""
        return torch.eye(len(self.maps[0])) - torch.stack(self.maps).sum(0)


@dataclass(frozen=True, eq=False)
class SubspaceFinder:
    """Writes of every node for many questions, and what each target was there: `codes` number its values from 0."""

    writes: dict[Node, Floats]
    codes: Sequence[Codes]
    _found: dict[tuple[Node, tuple[int, ...]], NodeSubspaces | None] = field(default_factory=dict)

    def share(self, node: Node, target: int) -> float:
        """The share of the write's variance that the target's value accounts for, less what chance gives."""
        write, code = self.writes[node], self.codes[target]
        centred = write - write.mean(0)
        total = float((centred**2).sum())
        if total < 1e-9 * len(write):
            return 0.0
        counts = np.bincount(code)
        sums = np.eye(len(counts))[:, code] @ centred
        between = float(((sums**2).sum(1) / counts).sum())
        return max(0.0, between / total - (len(counts) - 1) / len(write))

    def of(self, node: Node, targets: tuple[int, ...]) -> NodeSubspaces | None:
        """The subspaces of these targets in this node, or none where they cannot be told apart."""
        key = (node, targets)
        if key not in self._found:
            self._found[key] = _subspaces(self.writes[node], [self.codes[each] for each in targets])
        return self._found[key]


def _subspaces(write: Floats, codes: Sequence[Codes]) -> NodeSubspaces | None:
    designs = _independent([_one_hot(code) for code in codes])
    found = _read(write, designs) if all(each.shape[1] for each in designs) else None
    if found is None or not all(ranks := [rank for _, rank in found]):
        return None
    return NodeSubspaces(tuple(each for each, _ in found), tuple(ranks))


def directions_of(write: Floats, designs: Sequence[Floats]) -> tuple[Tensor, ...] | None:
    """For each design the map that reads what of a write goes with it, beside the others; none if they are not apart.

    Directions much weaker than the strongest of all count as nothing; a design without any gets a map of zeros.
    """
    found = _read(write, designs, together=True)
    return None if found is None else tuple(each for each, _ in found)


def _read(write: Floats, designs: Sequence[Floats], *, together: bool = False) -> list[tuple[Tensor, int]] | None:
    # For each design its map and rank.
    centred = write - write.mean(0)
    design = np.concatenate(designs, axis=1)
    effects, *_ = np.linalg.lstsq(design, centred, rcond=1e-6)
    bases = _bases(designs, effects, together=together)
    basis = np.concatenate(bases, axis=1)
    if not 0 < basis.shape[1] <= basis.shape[0]:
        return None
    if np.linalg.svd(basis, compute_uv=False)[-1] < _LEAST_INDEPENDENCE:
        return None
    left = centred - design @ effects
    noise = left.T @ left / len(left)
    noise += np.eye(len(noise)) * (_RIDGE * np.trace(centred.T @ centred) / len(left) / len(noise) + 1e-9)
    weighted = np.linalg.solve(noise, basis)
    coordinates = np.linalg.solve(basis.T @ weighted, weighted.T)
    found, at = list[tuple[Tensor, int]](), 0
    for each in bases:
        rank = each.shape[1]
        found.append((torch.from_numpy((each @ coordinates[at : at + rank]).astype(np.float32)), rank))
        at += rank
    return found


def _bases(designs: Sequence[Floats], effects: Floats, *, together: bool) -> list[Floats]:
    # The directions of `each @ effects`, so that a value counts as often as it comes, from as few rows as it has. Weak
    # ones are left out: beside the strongest of their design, or of all designs together.
    found, at = list[tuple[Floats, Floats]](), 0
    for each in designs:
        end = at + each.shape[1]
        _, strengths, directions = singular_values(np.linalg.qr(each, mode="r") @ effects[at:end])
        found.append((strengths, directions))
        at = end
    most = max(float(strengths[0]) for strengths, _ in found)
    return [
        directions[strengths > max(1e-6, _LEAST_DIRECTION * (most if together else strengths[0]))].T
        for strengths, directions in found
    ]


def _independent(designs: list[Floats]) -> list[Floats]:
    # A value of one target may go with just one value of another, as a sum of 9 does with an uncertain carry. What they
    # share is given to the target of fewer values.
    order = sorted(range(len(designs)), key=lambda at: designs[at].shape[1])
    columns = np.concatenate([designs[at] for at in order], axis=1)
    products, least = columns.T @ columns, 1e-6 * len(columns)
    kept = _independent_rows(products, least)
    found, start = list(designs), 0
    for at in order:
        end = start + designs[at].shape[1]
        found[at] = designs[at][:, [each - start for each in kept if start <= each < end]]
        start = end
    return found


def _independent_rows(products: Floats, least: float) -> list[int]:
    # Each row that is independent of those kept before it; part of an independent set is one, so most need one look.
    if _are_independent(products, least):
        return list(range(len(products)))
    kept = list[int]()
    for row in range(len(products)):
        tried = [*kept, row]
        if _are_independent(products[np.ix_(tried, tried)], least):
            kept = tried
    return kept


def _are_independent(products: Floats, least: float) -> bool:
    return len(products) == 0 or float(np.linalg.eigvalsh(products)[0]) > least


def _one_hot(code: Codes) -> Floats:
    # Centred, without the last value, which the others give.
    flags = np.eye(code.max() + 1)[code][:, :-1]
    return np.asarray(flags - flags.mean(0))
