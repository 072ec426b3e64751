"""Table or circle: does a site hold a digit as ten directions of their own, or as an angle?

Takes  writes with the digit that each holds; for a model, an alignment and the place of a target that has ten values.
Gives  `HeldAs`: how often the output becomes the counterfactual one if the whole write is replaced, only what lies on
       the circle, only what does not.
Never  takes the shape of class means for evidence: ten points always have a Fourier series. Interchange decides.

Both are hypotheses about the subspace that is read. On a circle the digit s is the angle 2 pi f s / 10, for at most
MOST_FREQUENCIES frequencies f; a table needs all five.

1. Regress the write on cos and sin of every frequency; keep the frequencies with most power as the circle.
2. In closed form, read the coordinates on the circle so that all else disturbs them least.
3. On other questions: take over from the source the part on the circle, then what class means have beside it.
A circle, if the first carries the digit as surely as a whole carrier must; a table, if it surely does not while the
whole write does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.subspaces import Codes, Floats, directions_of
from carrylens.discovery.alignment.trial import OFFSETS, JointDraw, Trial
from carrylens.evidence.rates import Rate
from carrylens.model.interchange_pass import replacing_pass
from carrylens.nodes import Node

MOST_FREQUENCIES = 2
"""Of a circle: a table needs five, and any three of them hold most of one."""
_VALUES = 10
_LEAST = 0.9
_SEED = 86_028_121
CIRCLE, TABLE, UNTOLD = "circle", "table", "cannot be told apart"
"""How a digit is held."""


@dataclass(frozen=True)
class HeldAs:
    """Three rates of one target: the whole write is taken over, its part on the circle, or what is beside that."""

    target: str
    frequencies: tuple[int, ...]
    whole: Rate
    circle: Rate
    beside: Rate

    @property
    def standing(self) -> str:
        """`circle`, `table`, or that they cannot be told apart.

        >>> HeldAs("SA[0]", (1,), Rate(99, 100), Rate(20, 100), Rate(70, 100)).standing
        'table'
        """
        if self.circle.interval[0] >= _LEAST:
            return CIRCLE
        if self.whole.interval[0] >= _LEAST and self.circle.interval[1] < _LEAST:
            return TABLE
        return UNTOLD


@dataclass(frozen=True, eq=False)
class DigitSubspaces:
    """Maps that read the part of a write on the circle, and what class means have beside it."""

    frequencies: tuple[int, ...]
    circle: Tensor
    beside: Tensor


def digit_subspaces(write: Floats, digit: Codes, frequencies: tuple[int, ...] | None = None) -> DigitSubspaces | None:
    """The subspaces of these frequencies, or of those with most power; none where a write does not show the digit."""
    chosen = frequencies or _strongest(write, digit)
    others = tuple(each for each in range(1, _VALUES // 2 + 1) if each not in chosen)
    maps = directions_of(write, [_waves(digit, chosen), _waves(digit, others)])
    return None if maps is None else DigitSubspaces(chosen, *maps)


def held_as(about: AlignmentTask, placement: NodePlacement, at: int, count: int = 256, seed: int = 0) -> HeldAs | None:
    """How the site of a target holds it; none, if it has not ten values, no site, or shares a node of it."""
    target, nodes = about.targets[at], placement.nodes(at)
    digit = about.finder.codes[at]
    if digit.max() + 1 != _VALUES or not nodes or any(len(placement.held[node]) > 1 for node in nodes):
        return None
    together = np.concatenate([about.finder.writes[node] for node in nodes], axis=1)
    frequencies = _strongest(together, digit)
    found = {node: digit_subspaces(about.finder.writes[node], digit, frequencies) for node in nodes}
    trial = Trial.drawn(about, JointDraw(1, 1, 0.0, (at,)), _SEED + seed, count)
    read = [trial.about.causal.outputs.index(output) for output in target.outputs]

    def rate(maps: Mapping[Node, Tensor]) -> Rate:
        with torch.inference_mode():
            said = _logits_with(trial, at, maps, trial.rows).argmax(-1).numpy()
        right = said[:, read] == trial.prediction.predicted[trial.rows][:, read]
        return Rate(int(right.all(1).sum()), len(right))

    eyes = {node: torch.eye(about.finder.writes[node].shape[1]) for node in nodes}
    circle, beside = (
        {node: getattr(each, name) if each else torch.zeros_like(eyes[node]) for node, each in found.items()}
        for name in ("circle", "beside")
    )
    return HeldAs(str(target), frequencies, rate(eyes), rate(circle), rate(beside))


def _strongest(write: Floats, digit: Codes) -> tuple[int, ...]:
    centred = write - write.mean(0)
    power = dict[int, float]()
    for each in range(1, _VALUES // 2 + 1):
        waves = _waves(digit, (each,))
        fitted, *_ = np.linalg.lstsq(waves, centred, rcond=None)
        power[each] = float(((waves @ fitted) ** 2).sum())
    return tuple(sorted(sorted(power, key=lambda each: -power[each])[:MOST_FREQUENCIES]))


def _waves(digit: Codes, frequencies: tuple[int, ...]) -> Floats:
    angles = 2 * np.pi * digit / _VALUES
    waves = [wave(each * angles) for each in frequencies for wave in (np.cos, np.sin) if wave is np.cos or each < 5]
    found = np.stack(waves, axis=1)
    return np.asarray(found - found.mean(0))


@dataclass(frozen=True, eq=False)
class _PartOfWrites:
    # Takes over from each row's source what a map reads of each node's write.

    trial: Trial
    sources: NDArray[np.intp]
    maps: Mapping[Node, Tensor]

    def replaced(self, own: Tensor, layer: int, first: int, *, is_mlp: bool = False) -> Tensor:
        """What a layer's heads, or its MLP, write at the positions from `first` on."""
        kept = self.trial.writes.mlps[layer] if is_mlp else self.trial.writes.heads[layer]
        assert kept is not None
        taken, found = kept[torch.from_numpy(self.sources)], own.clone()
        for node, matrix in self.maps.items():
            if node.layer == layer and node.is_mlp is is_mlp:
                at = node.position - first
                place = (slice(None), at) if node.head is None else (slice(None), at, node.head)
                found[place] = own[place] + (taken[place] - own[place]) @ matrix.T
        return found


def _logits_with(trial: Trial, target: int, maps: Mapping[Node, Tensor], rows: NDArray[np.intp]) -> Tensor:
    # The logits of every output in rows in which one target moves, when just these parts of writes are taken over.
    offsets = np.array(OFFSETS)[trial.chosen[rows, target]]
    part = _PartOfWrites(trial, (rows + offsets) % len(trial.questions), maps)
    layout = trial.about.task.layout
    logits = replacing_pass(trial.about.model, trial.prediction.tokens[torch.from_numpy(rows)], part)
    return logits[:, [each - layout.reads.start for each in layout.read_positions]]
