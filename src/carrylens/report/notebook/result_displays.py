"""Results in a notebook: experiments, tests, training, leaderboards, questions.

Takes  the records of each.
Gives  HTML, and rows for tables.
Never  computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.benchmark.leaderboard import Leaderboard
from carrylens.report.figures.battery import outcome_svg
from carrylens.report.figures.losses import losses_svg
from carrylens.report.notebook.claim_display import verdict_chip
from carrylens.report.notebook.html_parts import (
    BAD,
    GOOD,
    MOST_ROWS,
    Html,
    chip,
    drawing,
    folded,
    framed,
    heading,
    paragraph,
    table,
)
from carrylens.report.saved_words import in_present_words
from carrylens.report.terminal.leaderboard import leaderboard_tables
from carrylens.report.terminal.tables import few_figures


def outcomes_html(model: str, outcomes: Sequence[Outcome]) -> str:
    """A small table: experiment, verdict, what it says, with its estimates folded; of one the figure, too."""
    rows = [[each.card.title, verdict_chip(each.verdict.value), in_present_words(each.says)] for each in outcomes]
    parts: list[str] = [
        heading(f"{model}: {len(outcomes)} experiments"),
        table(["experiment", "verdict", "says"], rows),
    ]
    for each in outcomes:
        inside = [_estimates(each)] if each.estimates else []
        if inside:
            parts.append(folded(f"{each.card.title}: {len(each.estimates)} estimates", *inside))
    if len(outcomes) == 1 and outcomes[0].figure is not None:  # all figures together are half a megabyte
        parts.append(drawing(outcome_svg(outcomes[0])))
    return framed(*parts)


def _estimates(outcome: Outcome) -> Html:
    rows = [
        [e.name, few_figures(e.value), f"{few_figures(e.low)} to {few_figures(e.high)}", few_figures(e.null), e.n]
        for e in outcome.estimates
    ]
    return table(["estimate", "value", "95% interval", "null", "n"], rows, numbers=(1, 3, 4))


def outcome_rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """A row for each estimate of each experiment; one without figures for an experiment that has no estimate."""
    rows: list[dict[str, Any]] = []
    for outcome in outcomes:
        about = {"experiment": outcome.card.name, "verdict": outcome.verdict.value}
        for each in outcome.estimates:
            figures = {"value": each.value, "low": each.low, "high": each.high, "null": each.null, "n": each.n}
            rows.append({**about, "estimate": each.name, **figures})
        if not outcome.estimates:
            rows.append({**about, **dict.fromkeys(("estimate", "value", "low", "high", "null", "n"))})
    return rows


def exam_html(record: Mapping[str, Any]) -> str:
    """Failures of each population, then of classes and depths, folded."""
    head = ["questions", "operation", "evaluated on", "failed", "per million", "95% interval"]
    populations = [part for part in record["parts"] if part["name"] in ("natural", "paper", "enriched")]
    others = [part for part in record["parts"] if part not in populations]
    bar = {True: chip("meets the bar", *GOOD), False: chip("misses the bar", *BAD), None: "too few for the bar"}
    said = " of fewer than 10 failures per million natural and enriched questions"
    parts: list[str] = [heading(str(record["model"])), paragraph(bar[record["meets_bar"]], said)]
    parts.append(table(head, map(_part_row, populations), numbers=(2, 3, 4)))
    if others:
        parts.append(
            folded(f"{len(others)} classes and depths", table(head, map(_part_row, others), numbers=(2, 3, 4)))
        )
    failures = [failure for part in record["parts"] for failure in part["failures"]]
    if failures:
        shown = failures[:MOST_ROWS]
        rows = table(["question", "right answer", "answered"], shown)
        parts.append(folded(f"{len(shown)} of {len(failures)} failures that were kept", rows))
    return framed(*parts)


def _part_row(part: Mapping[str, Any]) -> list[object]:
    low, high = (few_figures(1e6 * bound) for bound in part["interval"])
    rate = few_figures(1e6 * part["failed"] / max(1, part["asked"]))
    return [part["name"], part["operation"], f"{part['asked']:,}", f"{part['failed']:,}", rate, f"{low} to {high}"]


def exam_rows(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each part of a test."""
    return [
        {
            "questions": part["name"],
            "operation": part["operation"],
            "evaluated": part["asked"],
            "failed": part["failed"],
            "low": part["interval"][0],
            "high": part["interval"][1],
        }
        for part in record["parts"]
    ]


def training_html(line: str, name: str, history: Sequence[Mapping[str, Any]]) -> str:
    """The learning curves."""
    return framed(heading(line), drawing(losses_svg(name, history)))


def training_rows(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each note: the step, the loss, and each answer token's loss."""
    rows = []
    for note in history:
        if "step" in note:
            tokens = {
                f"{operation} token {at}": loss
                for operation, losses in note["token_losses"].items()
                for at, loss in enumerate(losses)
            }
            rows.append({"step": note["step"], "loss": note["loss"], **tokens})
    return rows


def leaderboard_html(board: Leaderboard) -> str:
    """Every table of the leaderboard; the first is open."""
    first, *others = [(title, table(head, body)) for title, head, body in leaderboard_tables(board)]
    return framed(heading(first[0]), first[1], *(folded(title, body) for title, body in others))
