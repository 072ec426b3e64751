"""What `patching` says: at which digits and depths the answer follows each interchange.

Takes  what was measured at every digit and depth.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from carrylens.arithmetic.battery.context import ExperimentContext
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

_NAMED = 4  # how many failing cells the sentence names
HEADS_ROW = "digits that follow the deciding carry, brought by the heads of the combiner's layer alone"
"""What is set beside the paper."""


def summarise(context: ExperimentContext, cells: Sequence[PatchedCell]) -> Outcome:
    """What the interchanges say of where the deciding carry is held, and who brings it to the digit."""
    settings = context.settings
    facts = [fact for cell in cells for fact in _facts(cell, settings)]
    pooled = [fact for name in ("depth", "digit") for fact in _pooled(cells, settings, name)]
    judged = [fact for fact in facts if fact.about["site"] != ALL_HEADS]
    verdicts: dict[str, list[Verdict]] = {}
    for fact, verdict in zip(judged, weigh(judged), strict=True):
        verdicts.setdefault(str(fact.about["site"]), []).append(verdict)
    sites = patched_sites(context.subject)
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([verdict for some in verdicts.values() for verdict in some]),
        says=_says(cells, verdicts),
        facts=(*facts, *pooled),
        figure=_figure(cells),
        headers=("branch", "digit", "depth", "answered", *(f"{site}, null" for site in sites)),
        rows=tuple(_row(cell, sites) for cell in cells),
        beside_paper=_beside(cells, sites),
    )


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
        _joined(some, site).fact(CARD.name, {"branch": branch, name: value, "site": site, "pooled": True}, stimuli)
        for (branch, value), some in groups.items()
        for site in some[0].sites
    ]


def _says(cells: Sequence[PatchedCell], verdicts: Mapping[str, Sequence[Verdict]]) -> str:
    if not any(cell.answered.hits for cell in cells):
        return "The model answers none of the pairs of questions, so nothing can follow."
    parts = {
        COLUMN_PLACE: "Interchanged at its column's own place, the deciding carry turns all digits above in",
        COMBINER_HEADS: "through the combiner's heads alone, where a digit is predicted, it turns that and no other in",
    }
    told = [f"{parts[site]} {_told(cells, site, some)}" for site, some in verdicts.items()]
    right = sum((cell.answered for cell in cells), Rate(0, 0))
    few = "" if right.hits == right.n else f". Pairs that the model answers: {right.hits} of {right.n}"
    return f"{'; '.join(told)}{few}."


def _told(cells: Sequence[PatchedCell], site: str, verdicts: Sequence[Verdict]) -> str:
    whole = _joined(cells, site)
    text = f"{whole.effect}, null {whole.null.value:.3f}"
    if set(verdicts) == {Verdict.SUPPORTED}:
        return f"{text}, surely in most at every digit and depth"
    failing = [str(cell) for cell, each in zip(cells, verdicts, strict=True) if each is Verdict.REFUTED]
    more = f" and {len(failing) - _NAMED} more" if len(failing) > _NAMED else ""
    named = f", surely not in {len(failing)} ({', '.join(failing[:_NAMED])}{more})" if failing else ""
    return f"{text}, surely in most in {verdicts.count(Verdict.SUPPORTED)} of {len(verdicts)} digits and depths{named}"


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
            both = _joined(cells, site)
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
        own = [(depth, _joined(group, COLUMN_PLACE).effect) for depth, group in some if group]
        series.append(
            Series.of_rates(
                f"{name}, interchanged at its column", SeriesKind.EFFECT, [d for d, _ in own], [r for _, r in own]
            )
        )
    if all(COMBINER_HEADS in cell.sites for cell in cells):
        rates = [_joined(some, COMBINER_HEADS).effect for some in by_depth]
        series.append(Series.of_rates("all, through the combiner's heads", SeriesKind.RIVAL, depths, rates))
    nulls = [_joined(some, COLUMN_PLACE).null for some in by_depth]
    series.append(Series.of_rates("null: column, same carry", SeriesKind.NULL, depths, nulls))
    return Figure("cascade depth", "share of pairs", tuple(series))


def _joined(cells: Sequence[PatchedCell], site: str) -> ColumnRates:
    effect, null = (sum((getattr(c.sites[site], name) for c in cells), Rate(0, 0)) for name in ("effect", "null"))
    return ColumnRates(effect, null)


def _text(rates: ColumnRates) -> str:
    return f"{rates.effect.hits}/{rates.effect.n}, {rates.null.hits}/{rates.null.n}"
