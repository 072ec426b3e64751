"""Experiments: every outcome of the battery as a section of the page.

Takes  outcomes as they were saved.
Gives  what was asked, the figure, effects beside their nulls, the verdict, what would refute it, the paper's figure.
Never  shows a figure, a fact or an estimate that has no null, nor a card's words but as they stand in the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from carrylens.arithmetic.battery.outcome import Card
from carrylens.arithmetic.battery.registry import card_called
from carrylens.errors import CarryLensError
from carrylens.report.page.chart import chart
from carrylens.report.page.effects import Effect, effect_of_record
from carrylens.report.saved_words import in_present_words

_MOST_FACTS = 40


@dataclass(frozen=True)
class EstimateRow:
    """A measured number beside that of its null."""

    name: str
    ours: str
    null: str
    n: int


@dataclass(frozen=True)
class ExperimentSection:
    """One experiment, ready to be shown."""

    name: str
    title: str
    question: str
    method: tuple[str, ...]
    refuted_if: str
    paper: str
    verdict: str
    says: str
    drawing: Markup
    legend: tuple[tuple[int, str, str], ...]
    effects: tuple[Effect, ...]
    n_more: int
    estimates: tuple[EstimateRow, ...]
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    beside_paper: tuple[Mapping[str, Any], ...]
    settings: tuple[tuple[str, str], ...]


def experiments_of(outcomes: Sequence[Mapping[str, Any]]) -> list[ExperimentSection]:
    """Every outcome, in the order they were saved."""
    return [_experiment(outcome, at) for at, outcome in enumerate(outcomes)]


def _experiment(outcome: Mapping[str, Any], at: int) -> ExperimentSection:
    card = _card(outcome["card"])
    effects, figure = tuple(_effects(outcome)), outcome.get("figure")
    estimates = tuple(_estimate(each) for each in outcome.get("estimates", ()))
    verdict = str(outcome["verdict"]).upper()
    if verdict in ("SUPPORTED", "REFUTED") and not (effects or estimates or figure):
        raise CarryLensError(
            f"The experiment {card.name!r} is {verdict.lower()} and has no effect with its null, so it cannot be "
            "shown. Run the battery again."
        )
    return ExperimentSection(
        name=card.name,
        title=card.title,
        question=card.question,
        method=card.method,
        refuted_if=card.refuted_if,
        paper=f"{card.paper} ({card.where})" if card.paper and card.where else card.paper,
        verdict=verdict,
        says=in_present_words(outcome["says"]),
        drawing=chart(figure, card.title, f"experiment-{at}") if figure else Markup(""),
        legend=tuple((i % 8, each["kind"], each["label"]) for i, each in enumerate(figure["series"])) if figure else (),
        effects=effects[:_MOST_FACTS],
        n_more=max(0, len(effects) - _MOST_FACTS),
        estimates=estimates,
        headers=tuple(outcome.get("headers", ())),
        rows=tuple(tuple(map(str, row)) for row in outcome.get("rows", ())),
        beside_paper=tuple(outcome.get("beside_paper", ())),
        settings=tuple((name, str(value)) for name, value in outcome.get("settings", {}).items()),
    )


def _effects(outcome: Mapping[str, Any]) -> Iterator[Effect]:
    for fact in outcome.get("facts", ()):
        what = ", ".join(f"{name} {value}" for name, value in fact["about"].items())
        rates = {"hit": fact["effect"], "null": fact.get("null")}
        if (fact.get("null") or {"n": None})["n"] == 0:
            continue  # there was nothing to hold it against, so it is not shown
        yield effect_of_record(what or fact["kind"], rates, "matched null")


def _estimate(given: Mapping[str, Any]) -> EstimateRow:
    if any(given.get(name) is None for name in ("null", "null_low", "null_high")):
        raise CarryLensError(
            f"The estimate {given.get('name')!r} has no null, so it cannot be shown. Run the battery again."
        )
    ours = f"{given['value']:.3g} [{given['low']:.3g}, {given['high']:.3g}]"
    null = f"{given['null']:.3g} [{given['null_low']:.3g}, {given['null_high']:.3g}]"
    return EstimateRow(given["name"], ours, null, given["n"])


def _card(saved: Mapping[str, Any]) -> Card:
    # As it stands in the code; only of an experiment that is no longer there what was saved is shown.
    name = str(saved["name"])
    texts = {key: str(saved.get(key, "")) for key in ("title", "question", "refuted_if", "paper", "where")}
    return card_called(name) or Card(name=name, method=tuple(map(str, saved.get("method", ()))), **texts)
