"""Selection: how does a mixed model choose among a sum and two differences, and how many dimensions does that take?

Takes  a subject.
Gives  for every turn the level at which the choice stands where a digit is predicted; for every digit how often it
       follows a swap of the state there; for every rank how often it follows within a subspace of that rank.
Never  asks for the rank where a digit is chosen already, nor picks a level, a subspace or a share on the questions it
       is scored on.

1. A turn gives a base its other branch: the same operands with the other operator, or the same question read with the
   other sign. The stream where the digit is predicted is swapped whole at the entry of every layer but the first, all
   places before it staying the base's. The turn's level is the first at which half the digits of some questions follow;
   later the stream may hold a digit that is chosen already. If there is none, the best stands for it.
2. State, on other questions: how often a digit follows there. Sign also: its place takes another question's values.
   Null: a source of the base's branch with the same column and the same digit, other digits elsewhere.
3. Rank, at the same level: the state goes a share of the way to the source's within a subspace of rank r, found by
   descent on some questions from the first principal directions of the differences; so is the share. Sources have the
   same operands, or others: these can bring nothing but the choice. On other questions, beside random subspaces (null)
   and beside the whole state (ceiling). Ranks 1, 2, 4, 8, 16 are tried until .95 of the ceiling is reached.
   Where fewer than half the digits follow the whole state, no rank is asked for.
4. Behind the last heads, where the paper looks and the digit is chosen already: the same swap, and the first principal
   directions, for the operator alone. No verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.subspaces import (
    BASE,
    NULL,
    OTHER,
    SAME,
    Ranked,
    Standing,
    behind_heads,
    by_rank,
    copied_by_rank,
    entering,
    stand,
)
from carrylens.arithmetic.battery.swapping import Swapped, pooled
from carrylens.arithmetic.battery.turning import Turn, Turns, turned_pairs
from carrylens.arithmetic.battery.weighing import overall, surely_most, surely_seldom, weigh
from carrylens.arithmetic.questions import Operation, joined
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import swap
from carrylens.interventions.sites import Residual

__all__ = ["CARD", "OTHER", "SAME", "Ranked", "choose_layer", "judge_selection", "needed_rank", "run", "turn_choice"]

CARD = Card(
    name="selection",
    title="How a sum or a difference is chosen",
    question="Does the selector's state choose among sum, positive and negative difference at every digit, and is the "
    "choice more than one direction of that state?",
    method=(
        "Level of a turn: the first entry of a layer at which the whole state where the digit is predicted, taken from "
        "the same operands with the other operator or from the same question read with the other sign, turns half the "
        "digits of some questions.",
        "State: the same on other questions; for the sign also its place, from a question of other operands. Null: a "
        "source of the same branch, with the same column and digit, other digits elsewhere.",
        "Rank: at that level, go to the source's state within the best subspace of rank r, by the best share, both "
        "found on other questions; sources of the same operands, and of others; ceiling: the whole state; null: random "
        "subspaces.",
        "Beside the paper alone: behind the last heads, where the digit is chosen already.",
    ),
    refuted_if="some digit surely does not follow the selector's state, or the null moves it as often; or one "
    "direction surely turns most digits, and more than random ones do.",
    paper="state patch .96 (54 pairs, digit 2); rank-1 steering turns none",
    where="Section on mixed models and polysemantic reuse",
)
_ENOUGH = 0.5  # the share of digits that must follow the whole state for its rank to be asked
SIGN_PLACE = "the sign's place"


@dataclass(frozen=True)
class Turned:
    """What one turn did: its level, and for each digit what the whole state did there, and in the sign's place.

    `copied` has the same behind the last heads, for the operator; `found` is whether half the fitting digits followed.
    """

    turn: Turn
    layer: int
    found: bool
    states: Mapping[int, Swapped]
    sign_place: Mapping[int, Swapped]
    copied: Mapping[int, Rate]
    ranked: tuple[Ranked, ...]
    copied_ranks: tuple[Ranked, ...]


@dataclass(frozen=True)
class SelectionMeasurements:
    """What every turn did; `able` is whether the model answers at least half of the questions."""

    turned: tuple[Turned, ...]
    able: bool


def measure(context: ExperimentContext) -> SelectionMeasurements:
    """Every turn, at every digit and rank, of a model that adds and subtracts in several layers."""
    subject = context.subject
    turns = list(Turn) if subject.operation is Operation.MIX and subject.last_layer else []
    pairs = {turn: _pairs(context, turn) for turn in turns}
    asked = [test.base for tests in pairs.values() for _, test in tests]
    able = bool(asked) and float(subject.right(joined(asked)).mean()) >= _ENOUGH
    some: list[Turned] = []
    for at, (turn, both) in enumerate(pairs.items()):
        context.watch(CARD.title, at, len(pairs))
        if both:
            some.append(turn_choice(context, turn, both, with_ranks=able))
    return SelectionMeasurements(tuple(some), able)


def summarise(context: ExperimentContext, measured: SelectionMeasurements) -> Outcome:
    """Whether the state chooses at every digit, and whether one direction of it does."""
    subject, some = context.subject, measured.turned
    states = [fact for each in some for fact in _state_facts(context, each)]
    ranked = [one for each in some for one in each.ranked]
    verdicts = _judge_apart(states, ranked) if measured.able else (Verdict.UNTESTED, Verdict.UNTESTED)
    return Outcome(
        card=CARD,
        settings=context.settings.plain(),
        verdict=overall(verdicts),
        says=_says(subject, some, verdicts),
        facts=(*states, *(fact for each in some for fact in _other_facts(context, each))),
        figure=_figure(ranked) if ranked else None,
        headers=("turn", "what", "followed", "null", "ceiling"),
        rows=tuple(row for each in some for row in _table(subject, each)),
        beside_paper=_beside(some) if measured.able else (),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def judge_selection(states: Sequence[Verdict], ranked: Sequence[Ranked]) -> Verdict:
    """The state chooses at every digit, and no single direction does."""
    parts = []
    for each in (one for one in ranked if one.rank == 1):
        if _suffices(each):
            parts.append(Verdict.REFUTED)
        else:
            parts.append(Verdict.SUPPORTED if surely_seldom(each.followed.effect) else Verdict.INCONCLUSIVE)
    return overall([*states, *(parts or [Verdict.INCONCLUSIVE])])


def _judge_apart(states: Sequence[Fact], ranked: Sequence[Ranked]) -> tuple[Verdict, Verdict]:
    # The operator's turns, and the sign's; corrected together for being many.
    weighed = list(zip(weigh(states), (Turn(str(fact.about["turn"])) for fact in states), strict=True))

    def judged(*, operator: bool) -> Verdict:
        mine = [verdict for verdict, turn in weighed if turn.of_operator is operator]
        return judge_selection(mine, [one for one in ranked if one.turn.of_operator is operator])

    return judged(operator=True), judged(operator=False)


def needed_rank(ranked: Sequence[Ranked], turn: Turn, source: str) -> int | None:
    """The least rank that surely turns most digits, and more than random subspaces do."""
    mine = [each for each in ranked if (each.turn, each.source) == (turn, source) and _suffices(each)]
    return min((each.rank for each in mine), default=None)


def _suffices(each: Ranked) -> bool:
    return is_enough(each.followed.effect, each.followed.null)


def is_enough(followed: Rate, random: Rate) -> bool:
    """Whether a subspace surely turns most digits, and more than random ones do."""
    return surely_most(followed) and Fact("", {}, followed, random).p <= THRESHOLDS.level


def _pairs(context: ExperimentContext, turn: Turn) -> list[tuple[Turns, Turns]]:
    # For every digit the turns to fit on, and those to score on.
    subject, settings = context.subject, context.settings
    found = []
    for digit in range(subject.digits):
        draw = partial(turned_pairs, turn, subject.digits, digit)
        fit = draw(settings.n_train // 4, settings.seed_of(CARD.name, turn, digit, "fit"))
        test = draw(settings.n_pairs, settings.seed_of(CARD.name, turn, digit, "test"))
        if len(fit) and len(test):
            found.append((fit, test))
    return found


def turn_choice(
    context: ExperimentContext, turn: Turn, pairs: Sequence[tuple[Turns, Turns]], *, with_ranks: bool
) -> Turned:
    """What one turn does, at the level that the fitting questions choose."""
    subject, settings = context.subject, context.settings
    layer, followed = choose_layer(subject, [fit for fit, _ in pairs])
    found = followed.value >= _ENOUGH
    fits, tests = ([stand(subject, side, entering(layer)) for side in sides] for sides in zip(*pairs, strict=True))
    seed = settings.seed_of(CARD.name, turn, "random")
    ranked = (
        [one for source in (SAME, OTHER) for one in by_rank(fits, tests, source, seed)] if with_ranks and found else []
    )
    copies: list[Ranked] = []
    copied: dict[int, Rate] = {}
    if turn.of_operator:
        last = behind_heads(subject.last_layer)
        fitted, tested = ([stand(subject, side, last) for side in sides] for sides in zip(*pairs, strict=True))
        copied = {at.turns.digit: _rate(at.followed(SAME)) for at in tested}
        copies = list(copied_by_rank(fitted, tested, seed)) if with_ranks else []
    return Turned(
        turn=turn,
        layer=layer,
        found=found,
        states={at.turns.digit: _swapped(at) for at in tests},
        sign_place={} if turn.of_operator else {test.digit: _swap_sign(subject, test) for _, test in pairs},
        copied=copied,
        ranked=tuple(ranked),
        copied_ranks=tuple(copies),
    )


def choose_layer(subject: Subject, fits: Sequence[Turns]) -> tuple[int, Rate]:
    """The first layer at whose entry half the digits follow the whole state, else the best; and how many follow."""
    found = []
    for layer in range(1, subject.last_layer + 1):
        found.append(_sum(_rate(stand(subject, fit, entering(layer)).followed(SAME)) for fit in fits))
        if found[-1].value >= _ENOUGH:
            return layer, found[-1]
    best = max(range(len(found)), key=lambda at: found[at].value)
    return best + 1, found[best]


def _swapped(at: Standing) -> Swapped:
    moved = at.rest.tokens(at.states[NULL]) != at.rest.tokens(at.states[BASE])
    return Swapped(_rate(at.followed(SAME)), _rate(moved))


def _swap_sign(subject: Subject, turns: Turns) -> Swapped:
    place, token = subject.position(f"A{subject.digits + 1}"), subject.token(turns.digit)
    edit = swap([Residual(place, 0), *subject.nodes_at(place)])
    followed = subject.engine.run([edit], turns.base, turns.other).tokens[0, :, token] == turns.after
    return Swapped(_rate(followed), _rate(subject.engine.run([edit], turns.base, turns.null).changed[0, :, token]))


def _stream(subject: Subject, layer: int) -> str:
    return "stream into the last layer" if layer == subject.last_layer else f"stream into layer {layer}"


def _state_facts(context: ExperimentContext, each: Turned) -> Iterator[Fact]:
    # Those the verdict rests on: the operator's state, and the sign's place.
    settings = context.settings
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    site = _stream(context.subject, each.layer) if each.turn.of_operator else SIGN_PLACE
    for digit, swapped in (each.states if each.turn.of_operator else each.sign_place).items():
        yield swapped.fact(CARD.name, {"turn": each.turn.value, "digit": digit, "site": site}, stimuli)


def _other_facts(context: ExperimentContext, each: Turned) -> Iterator[Fact]:
    settings = context.settings
    turn, stimuli = {"turn": each.turn.value}, {"n_train": settings.n_train // 4, "seed": settings.seed}
    level = {"level": _stream(context.subject, each.layer)}
    if not each.turn.of_operator:
        for digit, swapped in each.states.items():
            yield swapped.fact(CARD.name, {**turn, "digit": digit, "whole state": True, **level}, stimuli)
    for one in each.ranked:
        about = {**turn, "rank": one.rank, "source": one.source, "null": "random subspaces", **level}
        about["ceiling"] = f"{one.ceiling.hits} of {one.ceiling.n}"
        yield one.followed.fact(CARD.name, about, stimuli)
    for one in each.copied_ranks:
        about = {**turn, "copied rank": one.rank, "level": "behind the last heads, as the paper has it"}
        yield one.followed.fact(CARD.name, about, stimuli)


def _says(subject: Subject, some: Sequence[Turned], verdicts: Sequence[Verdict]) -> str:
    if subject.operation is not Operation.MIX:
        return "Only a model that adds and subtracts has something to choose."
    if not some:
        return "A model of one layer chooses and answers at once: there is no state to swap before that."
    if set(verdicts) == {Verdict.UNTESTED}:
        return "The model answers fewer than half of the questions, so there is no choice to be turned."
    parts = []
    for name, mine, verdict in (("operator", True, verdicts[0]), ("sign", False, verdicts[1])):
        turns = [each for each in some if each.turn.of_operator is mine]
        state = pooled([one for each in turns for one in each.states.values()])
        text = f"{name} {verdict.value}: digits follow the whole state in {state.effect.value:.2f}"
        text += f", null {state.null.value:.2f}"
        if not mine:
            whole = pooled([one for each in turns for one in each.sign_place.values()])
            text += f", and the sign's place in {whole.effect.value:.2f}, null {whole.null.value:.2f}"
        parts.append(text + "".join(f"; {_rank_text(subject, each)}" for each in turns))
    text = ". ".join(f"{part[0].upper()}{part[1:]}" for part in parts)
    return f"{text}."


def _rank_text(subject: Subject, each: Turned) -> str:
    where = f"{each.turn.value}, {_stream(subject, each.layer)}"
    if not each.found:
        return f"{where}: fewer than half follow the whole state, so no rank is asked for"
    parts = []
    for source in (SAME, OTHER):
        mine = {one.rank: one for one in each.ranked if one.source == source}
        rank = needed_rank(each.ranked, each.turn, source)
        one = mine[rank or max(mine)]
        share = f"{one.followed.effect.value / max(one.ceiling.value, 1e-9):.2f} of the ceiling"
        told = f"rank {rank} suffices ({share})" if rank else f"none up to {max(mine)} suffices (that: {share})"
        parts.append(f"{told} with {source}")
    return f"{where}: {', '.join(parts)}"


def _table(subject: Subject, each: Turned) -> Iterator[tuple[str, ...]]:
    turn, where = each.turn.value, _stream(subject, each.layer)
    for digit, swapped in each.states.items():
        yield (turn, f"A{digit}, {where}, whole", _share(swapped.effect), _share(swapped.null), "-")
        if digit in each.sign_place:
            there = each.sign_place[digit]
            yield (turn, f"A{digit}, {SIGN_PLACE}", _share(there.effect), _share(there.null), "-")
        if digit in each.copied:
            yield (turn, f"A{digit}, behind the last heads (a copy)", _share(each.copied[digit]), "-", "-")
    for some, what in ((each.ranked, where), (each.copied_ranks, "behind the last heads (a copy)")):
        for one in some:
            shown = (one.followed.effect, one.followed.null, one.ceiling)
            yield (turn, f"rank {one.rank}, {one.source}, {what}", *map(_share, shown))


def _beside(some: Sequence[Turned]) -> tuple[BesidePaper, ...]:
    rows = []
    for each in (one for one in some if one.turn is Turn.TO_ADD):
        if 2 in each.copied:
            what, copied = "state patch, digit 2, difference to sum", each.copied[2]
            ours = f"{copied} behind the last heads, where it is a copy; {each.states[2].effect} where it is chosen"
            rows.append(BesidePaper(what, ".96", ours, copied.interval[0] <= 0.96 <= copied.interval[1]))
        for one in (one for one in each.copied_ranks if one.rank == 1):
            effect, null = one.followed.effect, one.followed.null
            agrees = Fact("", {}, effect, null).p > THRESHOLDS.level  # none, or no more than a random direction turns
            what, ours = "rank-1 steering, difference to sum", f"{effect}, a random direction {null.value:.3f}"
            rows.append(BesidePaper(what, "0", f"{ours}, behind the last heads", agrees))
    return tuple(rows)


def _figure(ranked: Sequence[Ranked]) -> Figure:
    ranks = sorted({one.rank for one in ranked})
    series: list[Series] = []

    def add(label: str, kind: Kind, source: str, side: str, *, operator: bool) -> None:
        mine = [one for one in ranked if one.turn.of_operator is operator and one.source == source]
        groups = [[one for one in mine if one.rank == rank] for rank in ranks]
        rates = [_sum(one.ceiling if side == "ceiling" else getattr(one.followed, side) for one in g) for g in groups]
        there = [at for at, rate in enumerate(rates) if rate.n]
        if there:
            series.append(Series.of_rates(label, kind, there, [rates[at] for at in there]))

    for name, mine in (("operator", True), ("sign", False)):
        for source in (SAME, OTHER):
            add(f"{name}, source of {source}", Kind.EFFECT, source, "effect", operator=mine)
        add(f"{name}, whole state (ceiling)", Kind.RIVAL, SAME, "ceiling", operator=mine)
        add(f"{name}, random, {SAME}", Kind.NULL, SAME, "null", operator=mine)
    return Figure("rank of the subspace", "share of digits turned", tuple(series), tuple(map(str, ranks)))


def _sum(rates: Iterable[Rate]) -> Rate:
    return sum(rates, Rate(0, 0))


def _share(rate: Rate) -> str:
    return f"{rate.hits}/{rate.n}"


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
