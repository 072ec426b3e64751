"""Seeds for print: how models that differ in nothing but their seed came out.

Takes  histories and tests of models of one shape.
Gives  one figure: losses by step on the left, failures per million with exact intervals on the right.
Never  joins models of two shapes, and never hides how many questions a rate is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from carrylens.report.figures.node_tables import WIDTH
from carrylens.report.plain_records import Record

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_POPULATIONS = ("natural", "enriched")
_FLOOR = 1e-8


@dataclass(frozen=True)
class SeedRun:
    """One of the models: its seed, its history, and its test where it was tested."""

    seed: int
    history: Sequence[Record]
    test: Record | None


def seeds_figure(shape: str, runs: Sequence[SeedRun]) -> Figure:
    """How the seeds of one shape came out."""
    figure = Figure(figsize=(WIDTH, 2.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for run, colour in zip(runs, _COLOURS * len(runs), strict=False):
        notes = [note for note in run.history if note.get("token_losses")]
        losses = [fmean(loss for each in note["token_losses"].values() for loss in each) for note in notes]
        left.plot([note["step"] for note in notes], [max(loss, _FLOOR) for loss in losses], color=colour, linewidth=0.9)
    left.set_yscale("log")
    left.set_xlabel("step", fontsize=7)
    left.set_ylabel("mean loss", fontsize=7)
    _draw_failures(right, runs)
    for panel in (left, right):
        panel.tick_params(labelsize=7)
        panel.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{shape}: {len(runs)} seeds", fontsize=8)
    return figure


def _draw_failures(panel: Axes, runs: Sequence[SeedRun]) -> None:
    names: list[str] = []
    for run, colour in zip(runs, _COLOURS * len(runs), strict=False):
        parts = [part for part in (run.test or {}).get("parts", ()) if part["name"] in _POPULATIONS]
        for part in parts:
            low, high = (1e6 * bound for bound in part["interval"])
            y, rate = len(names), 1e6 * part["failed"] / part["asked"]
            panel.plot([low, high], [y, y], color=colour, linewidth=2, solid_capstyle="butt")
            panel.plot([rate], [y], "o", color=colour, markersize=4)
            names.append(f"s{run.seed}, {part['name']} {part['operation']}: {part['failed']} of {part['asked']:,}")
    panel.axvline(10, color="#888888", linewidth=0.8, linestyle="--")
    panel.set_xscale("symlog", linthresh=1)
    panel.set_xlim(left=-0.1)
    panel.set_yticks(range(len(names)), names)
    panel.invert_yaxis()
    panel.set_xlabel("failures per million, 95% interval; the bar is 10", fontsize=7)
