"""Collect: every figure for print about one model, and how each is written to disk.

Takes  what was saved, and clouds where the model could be run.
Gives  figures by name; SVG and PDF bytes that are the same each time.
Never  leaves a figure out silently: what could not be drawn is named with its reason.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from matplotlib import rc_context
from matplotlib.figure import Figure

from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.traces import trace
from carrylens.discovery.node_map import NodeMap
from carrylens.report.figures.algorithm import algorithm_figure
from carrylens.report.figures.clouds import Cloud, clouds_figure
from carrylens.report.figures.losses import losses_figure
from carrylens.report.figures.node_tables import attention_map, failure_map, impact_map, purpose_map, reuse_map
from carrylens.report.figures.seeds import SeedRun, seeds_figure
from carrylens.report.figures.svg import FIXED, as_svg
from carrylens.report.page.saved import Saved

Draw = Callable[[], Figure]


@dataclass(frozen=True)
class Drawn:
    """Files by name, and why others are missing."""

    files: dict[str, bytes] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def figures_of(saved: Saved, examples: Sequence[str], clouds: Sequence[Cloud], seeds: Sequence[SeedRun] = ()) -> Drawn:
    """Every figure of a model; `examples` are the questions to trace, `seeds` the models of its shape.

    Those that only arithmetic has are left out for any other task.
    """
    found, drawn = saved.map, Drawn()
    wanted: dict[str, Draw] = {
        "failure_map": lambda: failure_map(found),
        "answer_impact_map": lambda: impact_map(found),
        "purpose_map": lambda: purpose_map(found),
        "attention_map": lambda: attention_map(found),
    }
    if isinstance(found.task, ArithmeticTask):
        wanted |= _arithmetic_figures(found, found.task, examples, seeds, drawn.missing)
    if any(any(line.get("token_losses", {}).values()) for line in saved.history):
        wanted["training_loss"] = lambda: losses_figure(found.model, saved.history)
    else:
        drawn.missing["training_loss"] = "no training history was saved"
    if clouds:
        wanted["principal_components"] = lambda: clouds_figure(found, clouds)
    else:
        drawn.missing["principal_components"] = "no node's write falls clearly into classes"
    for name, draw in wanted.items():
        drawn.files.update(_written(name, draw))
    return drawn


def _arithmetic_figures(
    found: NodeMap, task: ArithmeticTask, examples: Sequence[str], seeds: Sequence[SeedRun], missing: dict[str, str]
) -> dict[str, Draw]:
    wanted: dict[str, Draw] = {}
    if task.operation is Operation.ADD:
        missing["node_reuse"] = "a model that only adds has one kind of question"
    else:
        wanted["node_reuse"] = lambda: reuse_map(found)
    if len(seeds) > 1:
        wanted["seed_sensitivity"] = lambda: seeds_figure(found.model.rpartition("_s")[0], seeds)
    else:
        missing["seed_sensitivity"] = "no other seed of its shape comes with carrylens"
    for example in examples:
        name = "subtraction" if "-" in example else "addition"
        wanted[f"algorithm_{name}"] = lambda text=example: algorithm_figure(trace(text, task.digits))  # type: ignore[misc]
    return wanted


def _written(name: str, draw: Draw) -> dict[str, bytes]:
    with rc_context({**FIXED, "pdf.fonttype": 42, "pdf.compression": 6}):
        figure = draw()
        pdf = io.BytesIO()
        figure.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Title": name})
        return {f"{name}.svg": as_svg(figure, name.replace("_", " ")).encode(), f"{name}.pdf": pdf.getvalue()}
