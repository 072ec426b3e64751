"""What `make-carry` says: where each carry is made, and with how many values.

Takes  what was measured about every column.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.make_carry.card import CARD
from carrylens.arithmetic.battery.make_carry.measure import CONTRASTS, CarryColumn, CarryMeasurements
from carrylens.arithmetic.battery.make_carry.written_classes import BESIDE, Cut
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates
from carrylens.arithmetic.battery.measures.verdict_rules import weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

MADE_IN_PLACE, MADE_SPLIT = "at its own place, all its values", "at its own place, as two binary values"
MADE_BINARY, MADE_LATER = "at its own place, binary", "not there alone, but before the answer"
MADE_AT_ANSWER, MADE_OPEN, NOT_ASKED = "only at the answer", "open", "not asked"
MADE_ROW = "how a column's carry is made"
"""What is set beside the paper."""
ContrastVerdicts = dict[tuple[str, str, str], Verdict]
"""By site or node, column, and the values between which it is interchanged."""


@dataclass(frozen=True)
class MakeCarryTold:
    """What the sentence about `make-carry` is made of."""

    found: Sequence[CarryColumn]
    kinds: Sequence[str]
    cuts: Sequence[Cut]


def summarise(context: ExperimentContext, measured: CarryMeasurements) -> Summary:
    """What the interchanges say of where each carry is made."""
    settings, found, cuts = context.settings, measured.columns, measured.cuts
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    facts = [fact for column in found for fact in _facts(column, stimuli)]
    alone = [fact for column in found for fact in _facts_alone(column, stimuli)]
    questions = {"n_train": settings.n_train, "seed": settings.seed}
    written = [fact for cut in cuts for fact in cut.facts(CARD.name, questions)]
    verdicts = _verdicts(facts) | _verdicts(alone)
    kinds = [_kind(column, verdicts) for column in found]
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=_overall(kinds),
        says="",
        facts=(*facts, *alone, *written),
        figure=_figure(found),
        headers=(
            "column",
            "made at",
            *(f"{name}, null" for name in CONTRASTS),
            *(f"write: {name}, one value" for name in BESIDE),
        ),
        rows=tuple(
            (column_name(column), kind, *(_cell(column.own.get(name)) for name in CONTRASTS), *_written(column, cuts))
            for column, kind in zip(found, kinds, strict=True)
        ),
        beside_paper=(_beside(found, kinds),),
    )
    return Summary(outcome, MakeCarryTold(found, kinds, cuts))


def _facts(column: CarryColumn, stimuli: Mapping[str, object]) -> list[Fact]:
    return [
        rates.fact(CARD.name, {"site": site, "column": column_name(column), "values": name}, stimuli)
        for site, measured in (("own place", column.own), ("up to =", column.tail))
        for name, rates in measured.items()
    ]


def _facts_alone(column: CarryColumn, stimuli: Mapping[str, object]) -> list[Fact]:
    return [
        rates.fact(
            CARD.name, {"site": str(node), "column": column_name(column), "values": name, "alone": True}, stimuli
        )
        for name, measured in column.alone.items()
        for node, rates in measured.items()
    ]


def _verdicts(facts: Sequence[Fact]) -> ContrastVerdicts:
    return {
        (str(fact.about["site"]), str(fact.about["column"]), str(fact.about["values"])): verdict
        for fact, verdict in zip(facts, weigh(facts), strict=True)
    }


def _kind(column: CarryColumn, verdicts: ContrastVerdicts) -> str:
    own = {name: verdicts["own place", column_name(column), name] for name in column.own}
    if own["0-1"] is Verdict.UNTESTED:
        return NOT_ASKED
    if set(own.values()) == {Verdict.SUPPORTED}:
        return MADE_SPLIT if _is_split(column, verdicts) else MADE_IN_PLACE
    if own["0-1"] is Verdict.SUPPORTED and own.get("0-U") is Verdict.REFUTED:
        return MADE_BINARY
    if own["0-1"] is Verdict.REFUTED:
        tail = verdicts["up to =", column_name(column), "0-1"]
        return {Verdict.SUPPORTED: MADE_LATER, Verdict.REFUTED: MADE_AT_ANSWER}.get(tail, MADE_OPEN)
    return MADE_OPEN


def _is_split(column: CarryColumn, verdicts: ContrastVerdicts) -> bool:
    # Whether one head tells carries and surely not nines, another nines and surely not carries, and none both.
    if "0-U" not in column.alone:
        return False
    heads = [node for node in column.alone["0-U"] if not node.is_mlp]
    told = {tuple(verdicts[str(node), column_name(column), name] for name in ("0-1", "0-U")) for node in heads}
    yes, no = Verdict.SUPPORTED, Verdict.REFUTED
    return {(yes, no), (no, yes)} <= told and (yes, yes) not in told


def _overall(kinds: Sequence[str]) -> Verdict:
    asked = [kind for kind in kinds if kind != NOT_ASKED]
    if not asked:
        return Verdict.UNTESTED
    if {MADE_SPLIT, MADE_BINARY, MADE_LATER, MADE_AT_ANSWER} & set(asked):
        return Verdict.REFUTED
    return Verdict.SUPPORTED if set(kinds) == {MADE_IN_PLACE} else Verdict.INCONCLUSIVE


def _beside(found: Sequence[CarryColumn], kinds: Sequence[str]) -> BesidePaper:
    # The units have no U, so nothing there tells binary from tri-state.
    above = [kind for column, kind in zip(found, kinds, strict=True) if column.column]
    told = [kind for kind in above if kind not in (NOT_ASKED, MADE_OPEN)]
    binary, split, three = (told.count(kind) for kind in (MADE_BINARY, MADE_SPLIT, MADE_IN_PLACE))
    ours = (
        f"in place in {binary + split + three} of {len(told)} columns above the units that could be told: binary in "
        f"{binary}, two binary values in {split}, three values in {three}"
    )
    return BesidePaper(MADE_ROW, CARD.paper, ours, binary + split == len(told) if told else None)


def _figure(found: Sequence[CarryColumn]) -> Figure:
    def pooled(measured: Mapping[str, ColumnRates], null: bool) -> Rate:
        return sum(((each.null if null else each.effect) for each in measured.values()), Rate(0, 0))

    x = range(len(found))
    return Figure(
        x_label="column",
        y_label="share of pairs",
        names=tuple(map(column_name, found)),
        series=(
            Series.of_rates("own place interchanged", SeriesKind.EFFECT, x, [pooled(c.own, False) for c in found]),
            Series.of_rates(
                "all places up to = interchanged", SeriesKind.RIVAL, x, [pooled(c.tail, False) for c in found]
            ),
            Series.of_rates("null: own place, same carry", SeriesKind.NULL, x, [pooled(c.own, True) for c in found]),
        ),
    )


def column_name(column: CarryColumn) -> str:
    """The variable that the column's carry is."""
    return str(column.branch.family[column.column])


def _written(column: CarryColumn, cuts: Sequence[Cut]) -> list[str]:
    own = {cut.name: cut for cut in cuts if (cut.branch, cut.column) == (column.branch, column.column)}
    return [
        f"{own[name].told.hits}/{own[name].told.n}, {own[name].other_sums.value:.2f}" if name in own else "-"
        for name in BESIDE
    ]


def _cell(rates: ColumnRates | None) -> str:
    return "-" if rates is None else f"{rates.effect.hits}/{rates.effect.n}, {rates.null.hits}/{rates.null.n}"
