"""Loss curves: how the loss falls during training, of each answer token or of many models.

Takes  the lines of training histories.
Gives  one figure as an SVG document.
Never  smooths: every point is the mean over the steps since the point before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from carrylens.errors import CarryLensError
from carrylens.report.figures.svg import FIXED, as_svg

Line = Mapping[str, Any]
_FLOOR = 1e-12  # what is drawn for a loss that rounds to none
_COLUMNS = 4
_COLOURS = {"add": "#1f77b4", "sub": "#d62728"}
_TITLES = {"add": "addition", "sub": "subtraction"}


def losses_svg(name: str, lines: Sequence[Line]) -> str:
    """One model: a panel for each operation or condition, a curve for each answer token."""
    with rc_context(FIXED):
        return as_svg(losses_figure(name, lines), f"Training losses of {name}")


def losses_figure(name: str, lines: Sequence[Line]) -> Figure:
    """The same as a figure, to be written in any form."""
    notes = _notes(lines)
    named = {name for note in notes for name, losses in note["token_losses"].items() if losses}
    operations = [*(name for name in _TITLES if name in named), *sorted(named - _TITLES.keys())]
    if not operations:
        raise CarryLensError(f"The training history of {name} has no loss of an answer token. Train it again.")
    with rc_context(FIXED):
        figure = Figure(figsize=(4.2 * len(operations) + 0.8, 3.2), layout="constrained")
        panels = figure.subplots(1, len(operations), sharey=True, squeeze=False)[0]
        for panel, operation in zip(panels, operations, strict=True):
            _draw_panel(panel, operation, [note for note in notes if note["token_losses"].get(operation)])
        panels[0].set_ylabel("loss")
        panels[-1].legend(
            title="answer token", fontsize=7, title_fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1)
        )
        figure.suptitle(name, fontsize=10)
        return figure


def step_losses_svg(name: str, losses: Sequence[float]) -> str:
    """One model of which only the whole loss after each step is known."""
    with rc_context(FIXED):
        figure = Figure(figsize=(5, 3.2), layout="constrained")
        panel = figure.subplots()
        panel.semilogy(range(1, len(losses) + 1), [max(loss, _FLOOR) for loss in losses], linewidth=0.7)
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("step")
        panel.set_ylabel("loss")
        panel.grid(visible=True, linewidth=0.3)
        return as_svg(figure, f"Training loss of {name}")


def all_losses_svg(histories: Mapping[str, Sequence[Line]]) -> str:
    """Many models: a panel for each, a curve for each operation, all with one scale of losses."""
    n_columns = min(_COLUMNS, len(histories))
    n_rows = -(-len(histories) // n_columns)
    with rc_context(FIXED):
        figure = Figure(figsize=(2.3 * n_columns, 1.75 * n_rows + 0.5), layout="constrained")
        grid = list(figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).flat)
        for panel, (name, lines) in zip(grid, histories.items(), strict=False):
            _draw_model(panel, name, _notes(lines))
        for panel in grid[len(histories) :]:
            panel.set_visible(False)
        figure.supxlabel("step", fontsize=9)
        figure.supylabel("mean loss", fontsize=9)
        handles = [Line2D([], [], color=_COLOURS[operation], label=title) for operation, title in _TITLES.items()]
        figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=8)
        return as_svg(figure, "Training losses of every shipped model")


def _notes(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if "token_losses" in line]


def _draw_model(panel: Axes, name: str, notes: Sequence[Line]) -> None:
    for operation, colour in _COLOURS.items():
        points = [
            (note["step"], max(fmean(losses), _FLOOR))
            for note in notes
            if (losses := note["token_losses"].get(operation))
        ]
        panel.semilogy(*zip(*points, strict=True), color=colour, linewidth=0.9) if points else None
    shape, _, run = name.rpartition("_t")
    panel.set_title(f"{shape}\n{run.replace('_s', ' steps, seed ')}", fontsize=7)
    panel.tick_params(labelsize=7)
    panel.xaxis.set_major_locator(MaxNLocator(3))
    panel.grid(visible=True, linewidth=0.3)


def _draw_panel(panel: Axes, operation: str, notes: Sequence[Line]) -> None:
    steps = [note["step"] for note in notes]
    n_tokens = len(notes[0]["token_losses"][operation])
    colours = colormaps["viridis"].resampled(n_tokens)
    for token in range(n_tokens):
        label = f"A{n_tokens - 1 - token}" + (" (sign)" if token == 0 else "")
        losses = [max(note["token_losses"][operation][token], _FLOOR) for note in notes]
        panel.semilogy(steps, losses, color=colours(token), linewidth=1, label=label)
    panel.set_title(_TITLES.get(operation, operation), fontsize=9, parse_math=False)
    panel.set_xlabel("step")
    panel.grid(visible=True, linewidth=0.3)
