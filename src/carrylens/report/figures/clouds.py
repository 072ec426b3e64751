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

from carrylens.arithmetic.variables import label
from carrylens.discovery.behaviours import Clusters
from carrylens.nodes import Node
from carrylens.report.terminal.map import short

_COLOURS, _MARKS = ("#0072b2", "#d55e00", "#8a7000"), ("o", "s", "^")
_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class Cloud:
    """One panel: a node's points with their classes, and the measured clusters."""

    node: Node
    clusters: Clusters
    points: NDArray[np.float64]
    labels: NDArray[np.int64]


def clouds_figure(model: str, clouds: Sequence[Cloud]) -> Figure:
    """A panel for each cloud."""
    n_columns = min(_COLUMNS, len(clouds))
    n_rows = -(-len(clouds) // n_columns)
    figure = Figure(figsize=(2.3 * n_columns, 2.15 * n_rows + 0.4), layout="constrained")
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for panel, cloud in zip(panels, clouds, strict=False):
        variable, found = cloud.clusters.variable, cloud.clusters
        for value in variable.values:
            of_class = cloud.points[cloud.labels == value]
            style = {"color": _COLOURS[value], "marker": _MARKS[value]}
            panel.scatter(*of_class.T, s=9, alpha=0.7, linewidths=0, label=label(variable, value), **style)
        title = (
            f"{cloud.node} by {short(variable)}\nsilhouette {found.quality:.2f}, shuffled {found.null:.2f}, n {found.n}"
        )
        panel.set_title(title, fontsize=7)
        panel.tick_params(labelsize=6)
        panel.legend(fontsize=6, title=short(variable), title_fontsize=6)
    for panel in panels[len(clouds) :]:
        panel.set_visible(False)
    figure.suptitle(f"{model}: first two principal components of what a node writes", fontsize=8)
    return figure
