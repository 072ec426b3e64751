"""Behaviours: what a node is seen to do, before anything is supposed of it, as records that are kept.

Takes  what the measurements of this room found.
Gives  `Behaviour` of a node, `PlaceUse` of a place.
Never  imports torch, and never says what a behaviour is for.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct, field

from carrylens.evidence.rates import Rate
from carrylens.json_records import Count
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

CLEAR_QUALITY = 0.5
"""The silhouette from which classes are called apart: halfway from no order at all to three points."""
CLEAR_LEVEL = 0.01


@dataclass(frozen=True)
class Look:
    """A place and the share of a head's attention that it gets."""

    place: str
    share: float


@dataclass(frozen=True)
class AttentionSummary:
    """Where a head looks on average over `n` questions of one condition: its top places, the first of them first."""

    operation: str
    looks: tuple[Look, ...]
    n: Count


@dataclass(frozen=True)
class Clusters:
    """Whether a write falls into the classes of a variable, in its first two principal components.

    `quality` is the silhouette of the classes, 1 for points and about 0 for no order; `null` the highest of all
    shuffles of the labels; `p` the share of shuffles, and of the labels as they are, with at least that quality.
    """

    variable: Variable
    quality: float
    null: float
    p: float
    n: Count
    n_classes: Count

    @property
    def are_clear(self) -> bool:
        """Whether the classes lie apart, and no shuffle of the labels comes near."""
        return self.quality >= CLEAR_QUALITY and self.p <= CLEAR_LEVEL


@dataclass(frozen=True)
class BackupUse:
    """What goes wrong when a node is ablated with those that could do its work, and when only those are.

    `mean_lost` and `resample_lost` count the questions that fail together with the node and not without it.
    """

    nodes: tuple[Node, ...]
    mean: Rate
    mean_alone: Rate
    mean_lost: Rate
    resample: Rate
    resample_alone: Rate
    resample_lost: Rate

    @property
    def p(self) -> float:
        """The lower chance of both ablations, doubled, of so many questions lost if the node did nothing."""
        sides = (
            (self.mean, self.mean_alone, self.mean_lost),
            (self.resample, self.resample_alone, self.resample_lost),
        )
        return min(1.0, 2 * min(_sign_test(*side) for side in sides))

    @property
    def is_useful(self) -> bool:
        """Whether the node does something that its backups hide."""
        return self.p <= CLEAR_LEVEL


class Behaviour(Struct, frozen=True):
    """What one node does: where it looks (heads), what its write falls into, and what its backups hide."""

    node: Node
    attention: tuple[AttentionSummary, ...] = ()
    clusters: tuple[Clusters, ...] = ()
    backups: BackupUse | None = field(default=None, name="stand_ins")


@dataclass(frozen=True)
class PlaceUse:
    """What goes wrong when every node at one position is ablated."""

    position: Count
    place: str
    mean: Rate
    resample: Rate
    clean: Rate
    tokens: tuple[Rate, ...]

    @property
    def is_useful(self) -> bool:
        """Whether some question that the model answers right fails without them."""
        return max(self.mean.hits, self.resample.hits) > self.clean.hits


def _sign_test(together: Rate, alone: Rate, lost: Rate) -> float:
    regained = alone.hits - (together.hits - lost.hits)
    differ = lost.hits + regained
    from scipy.stats import binomtest  # takes half a second to import, which reading a map does not need

    return float(binomtest(lost.hits, differ, alternative="greater").pvalue) if differ else 1.0
