"""Selection: how does a mixed model choose among a sum and two differences, and how many dimensions does that take?

Takes  a subject.
Gives  for every turn the level at which the choice stands where a digit is predicted; for every digit how often it
       follows an interchange of the state there; for every rank how often it follows within a subspace of that rank.
Never  asks for the rank where a digit is chosen already, nor picks a level, a subspace or a share on the questions it
       is scored on.

1. A turn gives a base its other branch: the same operands with the other operator, or the same question read with the
   other sign. The stream where the digit is predicted is interchanged whole at the entry of every layer but the first,
   all places before it staying the base's. The turn's level is the first at which half the digits of some questions
   follow; later the stream may hold a digit that is chosen already. If there is none, the best stands for it.
2. State, on other questions: how often a digit follows there. Sign also: its place takes another question's values.
   Null: a source of the base's branch with the same column and the same digit, other digits elsewhere.
3. Rank, at the same level: the state goes a share of the way to the source's within a subspace of rank r, found by
   descent on some questions from the first principal directions of the differences; so is the share. Sources have the
   same operands, or others: these can bring nothing but the choice. On other questions, beside random subspaces (null)
   and beside the whole state (ceiling). Ranks 1, 2, 4, 8, 16 are tried until .95 of the ceiling is reached.
   Where fewer than half the digits follow the whole state, no rank is asked for.
4. Behind the last heads, where the paper looks and the digit is chosen already: the same interchange, and the first
   principal directions, for the operator alone. No verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates
from carrylens.arithmetic.battery.selection.branch_pairs import BranchPairs, Turn, draw_branch_pairs
from carrylens.arithmetic.battery.selection.card import CARD
from carrylens.arithmetic.battery.selection.rest_of_model import behind_heads, entering
from carrylens.arithmetic.battery.selection.subspaces import (
    BASE,
    NULL,
    OTHER,
    SAME,
    PairStates,
    RankedSubspace,
    by_rank,
    copied_by_rank,
    read_pair_states,
)
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange
from carrylens.interventions.sites import Residual
from carrylens.tasks.batches import joined

_ENOUGH = 0.5  # the share of digits that must follow the whole state for its rank to be asked


@dataclass(frozen=True)
class BranchSelection:
    """What one turn did: its level, and for each digit what the whole state did there, and in the sign's place.

    `copied` has the same behind the last heads, for the operator; `found` is whether half the fitting digits followed.
    """

    turn: Turn
    layer: int
    found: bool
    states: Mapping[int, ColumnRates]
    sign_place: Mapping[int, ColumnRates]
    copied: Mapping[int, Rate]
    ranked: tuple[RankedSubspace, ...]
    copied_ranks: tuple[RankedSubspace, ...]


@dataclass(frozen=True)
class SelectionMeasurements:
    """What every turn did; `able` is whether the model answers at least half of the questions."""

    turned: tuple[BranchSelection, ...]
    able: bool


def measure(context: ExperimentContext) -> SelectionMeasurements:
    """Every turn, at every digit and rank, of a model that adds and subtracts in several layers."""
    subject = context.subject
    turns = list(Turn) if subject.operation is Operation.MIX and subject.last_layer else []
    pairs = {turn: _pairs(context, turn) for turn in turns}
    asked = [test.base for tests in pairs.values() for _, test in tests]
    able = bool(asked) and float(subject.right(joined(asked)).mean()) >= _ENOUGH
    some: list[BranchSelection] = []
    for at, (turn, both) in enumerate(pairs.items()):
        context.watch(CARD.title, at, len(pairs))
        if both:
            some.append(turn_choice(context, turn, both, with_ranks=able))
    return SelectionMeasurements(tuple(some), able)


def _pairs(context: ExperimentContext, turn: Turn) -> list[tuple[BranchPairs, BranchPairs]]:
    # For every digit the turns to fit on, and those to score on.
    subject, settings = context.subject, context.settings
    found = []
    for digit in range(subject.digits):
        draw = partial(draw_branch_pairs, turn, subject.digits, digit)
        fit = draw(settings.n_train // 4, settings.seed_of(CARD.name, turn, digit, "fit"))
        test = draw(settings.n_pairs, settings.seed_of(CARD.name, turn, digit, "test"))
        if len(fit) and len(test):
            found.append((fit, test))
    return found


def turn_choice(
    context: ExperimentContext, turn: Turn, pairs: Sequence[tuple[BranchPairs, BranchPairs]], *, with_ranks: bool
) -> BranchSelection:
    """What one turn does, at the level that the fitting questions choose."""
    subject, settings = context.subject, context.settings
    layer, followed = choose_layer(subject, [fit for fit, _ in pairs])
    found = followed.value >= _ENOUGH
    fits, tests = (
        [read_pair_states(subject, side, entering(layer)) for side in sides] for sides in zip(*pairs, strict=True)
    )
    seed = settings.seed_of(CARD.name, turn, "random")
    ranked = (
        [one for source in (SAME, OTHER) for one in by_rank(fits, tests, source, seed)] if with_ranks and found else []
    )
    copies: list[RankedSubspace] = []
    copied: dict[int, Rate] = {}
    if turn.of_operator:
        last = behind_heads(subject.last_layer)
        fitted, tested = (
            [read_pair_states(subject, side, last) for side in sides] for sides in zip(*pairs, strict=True)
        )
        copied = {at.turns.digit: hit_rate(at.followed(SAME)) for at in tested}
        copies = list(copied_by_rank(fitted, tested, seed)) if with_ranks else []
    return BranchSelection(
        turn=turn,
        layer=layer,
        found=found,
        states={at.turns.digit: _whole_state(at) for at in tests},
        sign_place={} if turn.of_operator else {test.digit: _interchange_sign(subject, test) for _, test in pairs},
        copied=copied,
        ranked=tuple(ranked),
        copied_ranks=tuple(copies),
    )


def choose_layer(subject: Subject, fits: Sequence[BranchPairs]) -> tuple[int, Rate]:
    """The first layer at whose entry half the digits follow the whole state, else the best; and how many follow."""
    found = []
    for layer in range(1, subject.last_layer + 1):
        found.append(
            sum_rates(hit_rate(read_pair_states(subject, fit, entering(layer)).followed(SAME)) for fit in fits)
        )
        if found[-1].value >= _ENOUGH:
            return layer, found[-1]
    best = max(range(len(found)), key=lambda at: found[at].value)
    return best + 1, found[best]


def _whole_state(at: PairStates) -> ColumnRates:
    moved = at.rest.tokens(at.states[NULL]) != at.rest.tokens(at.states[BASE])
    return ColumnRates(hit_rate(at.followed(SAME)), hit_rate(moved))


def _interchange_sign(subject: Subject, turns: BranchPairs) -> ColumnRates:
    place, token = subject.position(f"A{subject.digits + 1}"), subject.token(turns.digit)
    edit = interchange([Residual(place, 0), *subject.nodes_at(place)])
    followed = subject.engine.run([edit], turns.base, turns.other).tokens[0, :, token] == turns.after
    return ColumnRates(
        hit_rate(followed), hit_rate(subject.engine.run([edit], turns.base, turns.null).changed[0, :, token])
    )


def sum_rates(rates: Iterable[Rate]) -> Rate:
    """Several rates as one."""
    return sum(rates, Rate(0, 0))
