"""Clouds: what a node writes in its first two principal components, coloured by the class of a variable.

Takes  points that were computed from a model, and how clear their clusters were measured to be.
Gives  a figure with a panel for each node.
Never  draws a panel without the quality of shuffled labels beside its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from carrylens.discovery.behaviours import Clusters
from carrylens.discovery.node_map import NodeMap
from carrylens.nodes import Node
from carrylens.report.kind_styles import family_of
from carrylens.report.terminal.map import short_name

_COLOURS, _MARKS = ("#0072b2", "#d55e00", "#8a7000", "#009e73", "#cc79a7"), ("o", "s", "^", "D", "v", "P", "X")
_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class Cloud:
    """One panel: a node's points with their classes, and the measured clusters."""

    node: Node
    clusters: Clusters
    points: NDArray[np.float64]
    labels: NDArray[np.int64]


def clouds_figure(found: NodeMap, clouds: Sequence[Cloud]) -> Figure:
    """A panel for each cloud of nodes of this map."""
    n_columns = min(_COLUMNS, len(clouds))
    n_rows = -(-len(clouds) // n_columns)
    figure = Figure(figsize=(2.3 * n_columns, 2.15 * n_rows + 0.4), layout="constrained")
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for panel, cloud in zip(panels, clouds, strict=False):
        variable, measured = cloud.clusters.variable, cloud.clusters
        family = family_of(found, variable)
        for at, value in enumerate(family.values_at(variable.index)):
            of_class = cloud.points[cloud.labels == value]
            style = {"color": _COLOURS[at % len(_COLOURS)], "marker": _MARKS[at % len(_MARKS)]}
            panel.scatter(*of_class.T, s=9, alpha=0.7, linewidths=0, label=family.label(value), **style)
        title = (
            f"{cloud.node} by {short_name(variable)}\nsilhouette {measured.quality:.2f}, "
            f"shuffled {measured.null:.2f}, n {measured.n}"
        )
        panel.set_title(title, fontsize=7)
        panel.tick_params(labelsize=6)
        panel.legend(fontsize=6, title=short_name(variable), title_fontsize=6)
    for panel in panels[len(clouds) :]:
        panel.set_visible(False)
    figure.suptitle(f"{found.model}: first two principal components of what a node writes", fontsize=8)
    return figure
