"""What `selection` says: whether the state chooses at every digit, and of which rank the choice is.

Takes  what every turn did.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.verdict_rules import overall, surely_most, surely_seldom, weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.selection.branch_pairs import Turn
from carrylens.arithmetic.battery.selection.card import CARD
from carrylens.arithmetic.battery.selection.measure import BranchSelection, SelectionMeasurements, sum_rates
from carrylens.arithmetic.battery.selection.subspaces import OTHER, SAME, RankedSubspace
from carrylens.arithmetic.battery.subject import Subject
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

SIGN_PLACE = "the sign's place"
STEERING_ROW = "rank-1 steering, difference to sum"
"""What is set beside the paper."""


@dataclass(frozen=True)
class SelectionTold:
    """What the sentence about `selection` is made of."""

    subject: Subject
    some: Sequence[BranchSelection]
    verdicts: Sequence[Verdict]


def summarise(context: ExperimentContext, measured: SelectionMeasurements) -> Summary:
    """Whether the state chooses at every digit, and whether one direction of it does."""
    subject, some = context.subject, measured.turned
    states = [fact for each in some for fact in _state_facts(context, each)]
    ranked = [one for each in some for one in each.ranked]
    verdicts = _judge_apart(states, ranked) if measured.able else (Verdict.UNTESTED, Verdict.UNTESTED)
    outcome = Outcome(
        card=CARD,
        settings=context.settings.plain(),
        verdict=overall(verdicts),
        says="",
        facts=(*states, *(fact for each in some for fact in _other_facts(context, each))),
        figure=_figure(ranked) if ranked else None,
        headers=("turn", "what", "followed", "null", "ceiling"),
        rows=tuple(row for each in some for row in _table(subject, each)),
        beside_paper=_beside(some) if measured.able else (),
    )
    return Summary(outcome, SelectionTold(subject, some, verdicts))


def judge_selection(states: Sequence[Verdict], ranked: Sequence[RankedSubspace]) -> Verdict:
    """The state chooses at every digit, and no single direction does."""
    parts = []
    for each in (one for one in ranked if one.rank == 1):
        if _suffices(each):
            parts.append(Verdict.REFUTED)
        else:
            parts.append(Verdict.SUPPORTED if surely_seldom(each.followed.effect) else Verdict.INCONCLUSIVE)
    return overall([*states, *(parts or [Verdict.INCONCLUSIVE])])


def _judge_apart(states: Sequence[Fact], ranked: Sequence[RankedSubspace]) -> tuple[Verdict, Verdict]:
    # The operator's turns, and the sign's; corrected together for being many.
    weighed = list(zip(weigh(states), (Turn(str(fact.about["turn"])) for fact in states), strict=True))

    def judged(*, operator: bool) -> Verdict:
        mine = [verdict for verdict, turn in weighed if turn.of_operator is operator]
        return judge_selection(mine, [one for one in ranked if one.turn.of_operator is operator])

    return judged(operator=True), judged(operator=False)


def needed_rank(ranked: Sequence[RankedSubspace], turn: Turn, source: str) -> int | None:
    """The least rank that surely turns most digits, and more than random subspaces do."""
    mine = [each for each in ranked if (each.turn, each.source) == (turn, source) and _suffices(each)]
    return min((each.rank for each in mine), default=None)


def _suffices(each: RankedSubspace) -> bool:
    return is_enough(each.followed.effect, each.followed.null)


def is_enough(followed: Rate, random: Rate) -> bool:
    """Whether a subspace surely turns most digits, and more than random ones do."""
    return surely_most(followed) and Fact("", {}, followed, random).p <= THRESHOLDS.level


def residual_stream(subject: Subject, layer: int) -> str:
    """Where in the residual stream a layer begins, in words."""
    return "stream into the last layer" if layer == subject.last_layer else f"stream into layer {layer}"


def _state_facts(context: ExperimentContext, each: BranchSelection) -> Iterator[Fact]:
    # Those the verdict rests on: the operator's state, and the sign's place.
    settings = context.settings
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    site = residual_stream(context.subject, each.layer) if each.turn.of_operator else SIGN_PLACE
    for digit, rates in (each.states if each.turn.of_operator else each.sign_place).items():
        yield rates.fact(CARD.name, {"turn": each.turn.value, "digit": digit, "site": site}, stimuli)


def _other_facts(context: ExperimentContext, each: BranchSelection) -> Iterator[Fact]:
    settings = context.settings
    turn, stimuli = {"turn": each.turn.value}, {"n_train": settings.n_train // 4, "seed": settings.seed}
    level = {"level": residual_stream(context.subject, each.layer)}
    if not each.turn.of_operator:
        for digit, rates in each.states.items():
            yield rates.fact(CARD.name, {**turn, "digit": digit, "whole state": True, **level}, stimuli)
    for one in each.ranked:
        about = {**turn, "rank": one.rank, "source": one.source, "null": "random subspaces", **level}
        about["ceiling"] = f"{one.ceiling.hits} of {one.ceiling.n}"
        yield one.followed.fact(CARD.name, about, stimuli)
    for one in each.copied_ranks:
        about = {**turn, "copied rank": one.rank, "level": "behind the last heads, as the paper has it"}
        yield one.followed.fact(CARD.name, about, stimuli)


def _table(subject: Subject, each: BranchSelection) -> Iterator[tuple[str, ...]]:
    turn, where = each.turn.value, residual_stream(subject, each.layer)
    for digit, rates in each.states.items():
        yield (turn, f"A{digit}, {where}, whole", _share(rates.effect), _share(rates.null), "-")
        if digit in each.sign_place:
            there = each.sign_place[digit]
            yield (turn, f"A{digit}, {SIGN_PLACE}", _share(there.effect), _share(there.null), "-")
        if digit in each.copied:
            yield (turn, f"A{digit}, behind the last heads (a copy)", _share(each.copied[digit]), "-", "-")
    for some, what in ((each.ranked, where), (each.copied_ranks, "behind the last heads (a copy)")):
        for one in some:
            shown = (one.followed.effect, one.followed.null, one.ceiling)
            yield (turn, f"rank {one.rank}, {one.source}, {what}", *map(_share, shown))


def _beside(some: Sequence[BranchSelection]) -> tuple[BesidePaper, ...]:
    rows = []
    for each in (one for one in some if one.turn is Turn.TO_ADD):
        if 2 in each.copied:
            what, copied = "state patch, digit 2, difference to sum", each.copied[2]
            ours = f"{copied} behind the last heads, where it is a copy; {each.states[2].effect} where it is chosen"
            rows.append(BesidePaper(what, ".96", ours, copied.interval[0] <= 0.96 <= copied.interval[1]))
        for one in (one for one in each.copied_ranks if one.rank == 1):
            effect, null = one.followed.effect, one.followed.null
            agrees = Fact("", {}, effect, null).p > THRESHOLDS.level  # none, or no more than a random direction turns
            what, ours = STEERING_ROW, f"{effect}, a random direction {null.value:.3f}"
            rows.append(BesidePaper(what, "0", f"{ours}, behind the last heads", agrees))
    return tuple(rows)


def _figure(ranked: Sequence[RankedSubspace]) -> Figure:
    ranks = sorted({one.rank for one in ranked})
    series: list[Series] = []

    def add(label: str, kind: SeriesKind, source: str, side: str, *, operator: bool) -> None:
        mine = [one for one in ranked if one.turn.of_operator is operator and one.source == source]
        groups = [[one for one in mine if one.rank == rank] for rank in ranks]
        rates = [
            sum_rates(one.ceiling if side == "ceiling" else getattr(one.followed, side) for one in g) for g in groups
        ]
        there = [at for at, rate in enumerate(rates) if rate.n]
        if there:
            series.append(Series.of_rates(label, kind, there, [rates[at] for at in there]))

    for name, mine in (("operator", True), ("sign", False)):
        for source in (SAME, OTHER):
            add(f"{name}, source of {source}", SeriesKind.EFFECT, source, "effect", operator=mine)
        add(f"{name}, whole state (ceiling)", SeriesKind.RIVAL, SAME, "ceiling", operator=mine)
        add(f"{name}, random, {SAME}", SeriesKind.NULL, SAME, "null", operator=mine)
    return Figure("rank of the subspace", "share of digits turned", tuple(series), tuple(map(str, ranks)))


def _share(rate: Rate) -> str:
    return f"{rate.hits}/{rate.n}"
