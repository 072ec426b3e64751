"""Loss curves: how the loss of each answer token falls during training, for each operation.

Takes  the lines of a training history.
Gives  one figure as an SVG document.
Never  smooths: every point is the mean over the steps since the point before.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_TITLES = {"add": "addition", "sub": "subtraction"}
_FIXED: Any = {"svg.hashsalt": "carrylens", "svg.fonttype": "path", "font.size": 9}


def losses_svg(name: str, lines: Sequence[Mapping[str, Any]]) -> str:
    """One panel for each operation, one curve for each answer token."""
    notes = [line for line in lines if "token_losses" in line]
    operations = [operation for operation in _TITLES if any(operation in note["token_losses"] for note in notes)]
    with rc_context(_FIXED):
        figure = Figure(figsize=(4.2 * len(operations) + 0.8, 3.2), layout="constrained")
        panels = figure.subplots(1, len(operations), sharey=True, squeeze=False)[0]
        for panel, operation in zip(panels, operations, strict=True):
            _draw_panel(panel, operation, [note for note in notes if operation in note["token_losses"]])
        panels[0].set_ylabel("loss")
        panels[-1].legend(
            title="answer token", fontsize=7, title_fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1)
        )
        figure.suptitle(name, fontsize=10)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Title": f"Training losses of {name}"})
    return out.getvalue()


def _draw_panel(panel: Axes, operation: str, notes: Sequence[Mapping[str, Any]]) -> None:
    steps = [note["step"] for note in notes]
    n_tokens = len(notes[0]["token_losses"][operation])
    colours = colormaps["viridis"].resampled(n_tokens)
    for token in range(n_tokens):
        label = f"A{n_tokens - 1 - token}" + (" (sign)" if token == 0 else "")
        losses = [max(note["token_losses"][operation][token], 1e-12) for note in notes]
        panel.semilogy(steps, losses, color=colours(token), linewidth=1, label=label)
    panel.set_title(_TITLES[operation], fontsize=9)
    panel.set_xlabel("step")
    panel.grid(visible=True, linewidth=0.3)
