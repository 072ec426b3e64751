"""What `patching` says: at which digits and depths the answer follows each interchange.

Takes  what was measured at every digit and depth.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates
from carrylens.arithmetic.battery.measures.verdict_rules import overall, weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.patching.card import CARD
from carrylens.arithmetic.battery.patching.measure import (
    ALL_HEADS,
    COLUMN_PLACE,
    COMBINER_HEADS,
    PatchedCell,
    patched_sites,
)
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

HEADS_ROW = "digits that follow the deciding carry, brought by the heads of the combiner's layer alone"
"""What is set beside the paper."""


@dataclass(frozen=True)
class PatchingTold:
    """What the sentence about `patching` is made of."""

    cells: Sequence[PatchedCell]
    verdicts: Mapping[str, Sequence[Verdict]]


def summarise(context: ExperimentContext, cells: Sequence[PatchedCell]) -> Summary:
    """What the interchanges say of where the deciding carry is held, and who brings it to the digit."""
    settings = context.settings
    facts = [fact for cell in cells for fact in _facts(cell, settings)]
    pooled = [fact for name in ("depth", "digit") for fact in _pooled(cells, settings, name)]
    judged = [fact for fact in facts if fact.about["site"] != ALL_HEADS]
    verdicts: dict[str, list[Verdict]] = {}
    for fact, verdict in zip(judged, weigh(judged), strict=True):
        verdicts.setdefault(str(fact.about["site"]), []).append(verdict)
    sites = patched_sites(context.subject)
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([verdict for some in verdicts.values() for verdict in some]),
        says="",
        facts=(*facts, *pooled),
        figure=_figure(cells),
        headers=("branch", "digit", "depth", "answered", *(f"{site}, null" for site in sites)),
        rows=tuple(_row(cell, sites) for cell in cells),
        beside_paper=_beside(cells, sites),
    )
    return Summary(outcome, PatchingTold(cells, verdicts))


def _row(cell: PatchedCell, sites: Sequence[str]) -> tuple[str, ...]:
    return (
        cell.branch,
        "-" if cell.digit is None else str(cell.digit),
        str(cell.depth),
        f"{cell.answered.hits}/{cell.answered.n}",
        *(_text(cell.sites[site]) for site in sites),
    )


def _facts(cell: PatchedCell, settings: BatterySettings) -> list[Fact]:
    about = {"branch": cell.branch, "digit": cell.digit, "depth": cell.depth}
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [rates.fact(CARD.name, {**about, "site": site}, stimuli) for site, rates in cell.sites.items()]


def _pooled(cells: Sequence[PatchedCell], settings: BatterySettings, name: str) -> list[Fact]:
    groups: dict[tuple[str, int | None], list[PatchedCell]] = {}
    for cell in cells:
        groups.setdefault((cell.branch, cell.depth if name == "depth" else cell.digit), []).append(cell)
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [
        joined_cells(some, site).fact(CARD.name, {"branch": branch, name: value, "site": site, "pooled": True}, stimuli)
        for (branch, value), some in groups.items()
        for site in some[0].sites
    ]


def _beside(cells: Sequence[PatchedCell], sites: Sequence[str]) -> tuple[BesidePaper, ...]:
    rows = []
    for site, what in (
        (COMBINER_HEADS, HEADS_ROW),
        (
            ALL_HEADS,
            "check, all heads of the place: a copy of the source's pass there, bound to work if the model is right",
        ),
    ):
        if site in sites:
            both = joined_cells(cells, site)
            fits = both.effect.interval[1] >= 0.99 and both.null.interval[0] <= 0.01
            agrees = None if site == ALL_HEADS or not both.effect.n else fits
            rows.append(BesidePaper(what, "1.00, null 0.00", f"{both.effect}, null {both.null}", agrees))
    return tuple(rows)


def _figure(cells: Sequence[PatchedCell]) -> Figure:
    depths = sorted({cell.depth for cell in cells})
    by_depth = [[cell for cell in cells if cell.depth == depth] for depth in depths]
    series = []
    for name in dict.fromkeys(cell.branch for cell in cells):
        some = [(depth, [cell for cell in cells if (cell.branch, cell.depth) == (name, depth)]) for depth in depths]
        own = [(depth, joined_cells(group, COLUMN_PLACE).effect) for depth, group in some if group]
        series.append(
            Series.of_rates(
                f"{name}, interchanged at its column", SeriesKind.EFFECT, [d for d, _ in own], [r for _, r in own]
            )
        )
    if all(COMBINER_HEADS in cell.sites for cell in cells):
        rates = [joined_cells(some, COMBINER_HEADS).effect for some in by_depth]
        series.append(Series.of_rates("all, through the combiner's heads", SeriesKind.RIVAL, depths, rates))
    nulls = [joined_cells(some, COLUMN_PLACE).null for some in by_depth]
    series.append(Series.of_rates("null: column, same carry", SeriesKind.NULL, depths, nulls))
    return Figure("cascade depth", "share of pairs", tuple(series))


def joined_cells(cells: Sequence[PatchedCell], site: str) -> ColumnRates:
    """The rates of all cells at a site, together."""
    effect, null = (sum((getattr(c.sites[site], name) for c in cells), Rate(0, 0)) for name in ("effect", "null"))
    return ColumnRates(effect, null)


def _text(rates: ColumnRates) -> str:
    return f"{rates.effect.hits}/{rates.effect.n}, {rates.null.hits}/{rates.null.n}"
