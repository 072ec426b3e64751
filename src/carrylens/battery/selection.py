"""Selection: how does a mixed model choose among a sum and two differences, and how many dimensions does that take?

Takes  a subject.
Gives  for every turn and digit how often the digit follows a swap of the selector's state; for every turn and rank how
       often it follows when the combiner's input goes to a source's within a subspace of that rank.
Never  takes a swap right before the last MLP for evidence: it copies a digit that is already chosen.

1. Operator: the same operands with the other operator; the stream that enters the last layer where the digit is
   predicted is swapped, while the last layer's heads still read the base everywhere else. Sign: the whole place of the
   sign is swapped; the causal model says what the digits become.
2. Null: a source of the base's branch with the same column and the same digit, other digits elsewhere.
3. Behind the last heads the state goes a share of the way to the source's within a subspace of rank r. A source of the
   same operands brings its digit along, one of other operands nothing but the choice. For the former the subspace is
   that of the first principal directions of the differences; for the latter it is found by descent from there.
4. Subspace and share are chosen on some questions and scored on others, beside random subspaces of the same rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Operation
from carrylens.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.battery.states import levels_of, read_states
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.subspaces import best_subspace, combined
from carrylens.battery.swapping import Swapped
from carrylens.battery.turning import Turn, Turns, turned_pairs
from carrylens.battery.weighing import overall, surely_most, surely_seldom, weigh
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.hypothesis.verdicts import Verdict
from carrylens.interventions.edits import Edit, swap
from carrylens.interventions.sites import Residual

CARD = Card(
    name="selection",
    title="How a sum or a difference is chosen",
    question="Does the selector's state choose among sum, positive and negative difference at every digit, and is the "
    "choice more than one direction of the combiner's input?",
    method=(
        "Operator: swap the stream that enters the last layer with that of the same operands and the other operator.",
        "Sign: swap the sign's place; the digits must become those of the causal model with the other sign.",
        "Null: a source of the same branch, with the same column and digit, other digits elsewhere.",
        "Rank: go to the source's state behind the last heads within the best subspace of rank r, by the best share; "
        "both chosen on other questions; sources of the same operands, and of others; beside random subspaces.",
    ),
    refuted_if="some digit surely does not follow the selector's state, or the null moves it as often; or one "
    "direction surely turns most digits.",
    paper="state patch .96 (54 pairs, digit 2); rank-1 steering turns none",
    where="Section on mixed models and polysemantic reuse",
)
SHARES = (0.5, 1.0, 1.5, 2.0, 3.0)
"""How far towards the source's state: beyond 1 is past it."""
_HIGHEST = 32  # ranks below it are searched by descent; it found no more in higher ones
SAME, OTHER = "same operands", "other operands"

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """How often a digit followed within a subspace of one rank; `null` is that of random ones."""

    turn: Turn
    source: str
    rank: int
    followed: Swapped


@dataclass(frozen=True)
class _Cell:
    """What the selector's state did to one digit; `copied` is the same behind the last heads, `right` the answers."""

    turn: Turn
    digit: int
    swapped: Swapped
    copied: Rate
    right: Rate


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    ranked: list[Ranked] = []
    wanted = [(t, k) for t in Turn for k in range(subject.digits)] if subject.operation is Operation.MIX else []
    draw = partial(turned_pairs, digits=subject.digits)
    tests = [draw(t, digit=k, n=settings.n_pairs, seed=settings.seed_of(CARD.name, t, k, "test")) for t, k in wanted]
    tests = [test for test in tests if len(test)]
    cells = [_patch(subject, test) for test in tests]
    able = sum((cell.right for cell in cells), Rate(0, 0)).value >= 0.5
    for at, test in enumerate(tests if able else ()):
        watch(CARD.title, at, len(tests))
        seed = settings.seed_of(CARD.name, test.turn, test.digit, "fit")
        fit = draw(test.turn, digit=test.digit, n=settings.n_train // 4, seed=seed)
        ranked += _by_rank(subject, fit, test, settings)
    facts = [_state_fact(cell, settings) for cell in cells]
    pooled = _pooled(ranked)
    verdict = judge_selection(weigh(facts), pooled) if able else Verdict.UNTESTED
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=verdict,
        says=_says(subject, cells, pooled, able=able),
        facts=(*facts, *(_rank_fact(each, settings) for each in pooled)),
        figure=_figure(pooled) if pooled else None,
        headers=("turn", "what", "followed", "null"),
        rows=tuple(_table(cells, pooled)),
        beside_paper=_beside(cells, pooled) if able else (),
    )


def judge_selection(states: Sequence[Verdict], ranked: Sequence[Ranked]) -> Verdict:
    """The state chooses at every digit, and no single direction does."""
    single = [each.followed for each in ranked if each.rank == 1]
    parts = []
    for each in single:
        better = Fact("", {}, each.effect, each.null).p <= THRESHOLDS.level
        if surely_most(each.effect) and better:
            parts.append(Verdict.REFUTED)
        else:
            parts.append(Verdict.SUPPORTED if surely_seldom(each.effect) else Verdict.INCONCLUSIVE)
    return overall([*states, *parts])


def needed_rank(ranked: Sequence[Ranked], turn: Turn, source: str) -> int | None:
    """The least rank that surely turns most digits, and more than random subspaces do."""
    for each in sorted(ranked, key=lambda one: one.rank):
        better = Fact("", {}, each.followed.effect, each.followed.null).p <= THRESHOLDS.level
        if (each.turn, each.source) == (turn, source) and surely_most(each.followed.effect) and better:
            return each.rank
    return None


def selector_edits(subject: Subject, turn: Turn, digit: int) -> list[Edit]:
    """The swap of the selector's state; for the operator also that of all the combiner reads, which is a copy."""
    place, last = subject.predicting(digit), subject.last_layer
    if not turn.of_operator:
        at = subject.position(f"A{subject.digits + 1}")
        return [swap([Residual(at, 0), *subject.nodes_at(at)])]
    heads = [node for node in subject.nodes_at(place) if node.layer == last and not node.is_mlp]
    return [swap([Residual(place, last)]), swap([Residual(place, last), *heads])]


def _patch(subject: Subject, turns: Turns) -> _Cell:
    edits, token = selector_edits(subject, turns.turn, turns.digit), subject.token(turns.digit)
    source = turns.same if turns.turn.of_operator else turns.other
    effect = subject.engine.run(edits, turns.base, source)
    null = subject.engine.run(edits[:1], turns.base, turns.null).changed[0, :, token]
    followed = effect.tokens[:, :, token] == turns.after
    right = (effect.clean_tokens == effect.right).all(-1)
    copied = _rate(followed[1]) if turns.turn.of_operator else Rate(0, 0)
    return _Cell(turns.turn, turns.digit, Swapped(_rate(followed[0]), _rate(null)), copied, _rate(right))


def _by_rank(subject: Subject, fit: Turns, test: Turns, settings: Settings) -> Iterator[Ranked]:
    fitted, tested = (_states(subject, turns) for turns in (fit, test))
    directions = np.linalg.svd(fitted["same"] - fitted["base"], full_matrices=False)[2]
    seed = settings.seed_of(CARD.name, fit.turn, fit.digit, "random")
    random = np.random.default_rng(seed)
    spread = fitted["base"] - fitted["base"].mean(0)
    mixes = [_orthonormal(random.standard_normal((len(directions), len(spread))) @ spread) for _ in range(4)]
    for name, key in ((SAME, "same"), (OTHER, "other")) if fit.turn.of_operator else ((OTHER, "other"),):
        moves = [(each["base"], each[key] - each["base"]) for each in (fitted, tested)]
        for rank in _ranks(len(directions) if name == SAME else min(len(directions), _HIGHEST)):
            best = directions[:rank]
            if name == OTHER:
                best = best_subspace(subject, best, fitted["base"], fitted["other"], fit.after, seed)
            ours = _scored(subject, [best], moves, (fit.after, test.after))
            null = _scored(subject, [mix[:rank] for mix in mixes], moves, (fit.after, test.after))
            yield Ranked(fit.turn, name, rank, Swapped(ours, null))


def _ranks(most: int) -> list[int]:
    return [2**power for power in range(7) if 2**power < most]


def _scored(
    subject: Subject,
    bases: Sequence[Matrix],
    moves: Sequence[tuple[Matrix, Matrix]],
    wanted: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Rate:
    # The share that is best on the fitting questions, scored on the others; each base has its part of the questions.
    total = Rate(0, 0)
    for at, basis in enumerate(bases):
        hits = _hits(subject, basis, moves[0], SHARES, wanted[0]).sum(1)
        rows = np.arange(len(wanted[1])) % len(bases) == at
        there = (moves[1][0][rows], moves[1][1][rows])
        if rows.any():
            total += _rate(_hits(subject, basis, there, [SHARES[int(np.argmax(hits))]], wanted[1][rows])[0])
    return total


def _hits(
    subject: Subject,
    basis: Matrix,
    moves: tuple[Matrix, Matrix],
    shares: Sequence[float],
    wanted: NDArray[np.int64],
) -> NDArray[np.bool_]:
    # Which digits become what is wanted, for each share of the way: [share, question].
    base, way = moves[0], (moves[1] @ basis.T) @ basis
    moved = np.concatenate([base + share * way for share in shares])
    return np.asarray(combined(subject, moved).reshape(len(shares), -1) == wanted)


def _states(subject: Subject, turns: Turns) -> dict[str, Matrix]:
    level, place = levels_of(subject.last_layer + 1)[-2], subject.predicting(turns.digit)
    return {
        name: read_states(subject.model, getattr(turns, name), [place], [level])[:, 0, 0]
        for name in ("base", "same", "other")
    }


def _orthonormal(rows: Matrix) -> Matrix:
    return np.asarray(np.linalg.qr(rows.T)[0].T)


def _pooled(ranked: Sequence[Ranked]) -> list[Ranked]:
    groups: dict[tuple[Turn, str, int], list[Swapped]] = {}
    for each in ranked:
        groups.setdefault((each.turn, each.source, each.rank), []).append(each.followed)
    return [
        Ranked(*key, Swapped(_sum(one.effect for one in some), _sum(one.null for one in some)))
        for key, some in groups.items()
    ]


def _state_fact(cell: _Cell, settings: Settings) -> Fact:
    site = "stream into the last layer" if cell.turn.of_operator else "the sign's place"
    about = {"turn": cell.turn.value, "digit": cell.digit, "site": site}
    return cell.swapped.fact(CARD.name, about, {"n": settings.n_pairs, "seed": settings.seed})


def _rank_fact(each: Ranked, settings: Settings) -> Fact:
    about = {"turn": each.turn.value, "rank": each.rank, "source": each.source, "null": "random subspaces"}
    return each.followed.fact(CARD.name, about, {"n_train": settings.n_train // 4, "seed": settings.seed})


def _says(subject: Subject, cells: Sequence[_Cell], pooled: Sequence[Ranked], *, able: bool) -> str:
    if subject.operation is not Operation.MIX:
        return "Only a model that adds and subtracts has something to choose."
    if not able:
        return "The model answers fewer than half of the questions, so there is no choice to be turned."
    parts = []
    for name, mine in (("operator", True), ("sign", False)):
        some = [cell.swapped for cell in cells if cell.turn.of_operator is mine]
        effect, null = _sum(each.effect for each in some), _sum(each.null for each in some)
        parts.append(f"digits follow the {name}'s state in {effect.value:.2f}, null {null.value:.2f}")
    for source in (SAME, OTHER):
        most = max((each.rank for each in pooled if each.source == source), default=0)
        ranks = [
            f"{turn.value} {needed_rank(pooled, turn, source) or f'none up to {most}'}"
            for turn in Turn
            if any((each.turn, each.source) == (turn, source) for each in pooled)
        ]
        single = _sum(each.followed.effect for each in pooled if (each.rank, each.source) == (1, source))
        parts.append(
            f"with sources of {source} one direction turns {single.value:.2f}; directions needed: {', '.join(ranks)}"
        )
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _table(cells: Sequence[_Cell], pooled: Sequence[Ranked]) -> Iterator[tuple[str, ...]]:
    for cell in cells:
        shown = (_share(cell.swapped.effect), _share(cell.swapped.null))
        yield (cell.turn.value, f"A{cell.digit}, selector's state", *shown)
        if cell.copied.n:
            yield (cell.turn.value, f"A{cell.digit}, behind the last heads (a copy)", _share(cell.copied), "-")
    for each in pooled:
        shown = (_share(each.followed.effect), _share(each.followed.null))
        yield (each.turn.value, f"rank {each.rank}, {each.source}", *shown)


def _beside(cells: Sequence[_Cell], pooled: Sequence[Ranked]) -> tuple[BesidePaper, ...]:
    to_add = [cell for cell in cells if cell.turn is Turn.TO_ADD and cell.digit == 2]
    rows = []
    for cell in to_add:
        what, copied = "state patch, digit 2, difference to sum", cell.copied
        ours = f"{copied} behind the last heads, where it is a copy; {cell.swapped.effect} before the last layer"
        rows.append(BesidePaper(what, ".96", ours, copied.interval[0] <= 0.96 <= copied.interval[1]))
    for each in pooled:
        if (each.turn, each.rank, each.source) == (Turn.TO_ADD, 1, SAME):
            effect, null = each.followed.effect, each.followed.null
            agrees = Fact("", {}, effect, null).p > THRESHOLDS.level  # none, or no more than a random direction turns
            what, ours = "rank-1 steering, difference to sum", f"{effect}, a random direction {null.value:.3f}"
            rows.append(BesidePaper(what, "0", ours, agrees))
    return tuple(rows)


def _figure(pooled: Sequence[Ranked]) -> Figure:
    ranks = sorted({each.rank for each in pooled})
    series: list[Series] = []

    def add(label: str, kind: Kind, turns: Sequence[Turn], source: str) -> None:
        name = "null" if kind is Kind.NULL else "effect"
        mine = [each for each in pooled if each.turn in turns and each.source == source]
        rates = [_sum(getattr(each.followed, name) for each in mine if each.rank == rank) for rank in ranks]
        there = [at for at, rate in enumerate(rates) if rate.n]
        series.append(Series.of_rates(label, kind, there, [rates[at] for at in there]))

    operator, sign = ([turn for turn in Turn if turn.of_operator is mine] for mine in (True, False))
    add("operator, source of other operands", Kind.EFFECT, operator, OTHER)
    add("sign, source of other operands", Kind.EFFECT, sign, OTHER)
    add("operator, same operands: copies too", Kind.RIVAL, operator, SAME)
    add("operator, random, other operands", Kind.NULL, operator, OTHER)
    add("operator, random, same operands", Kind.NULL, operator, SAME)
    return Figure("rank of the subspace", "share of digits turned", tuple(series), tuple(map(str, ranks)))


def _sum(rates: Iterable[Rate]) -> Rate:
    return sum(rates, Rate(0, 0))


def _share(rate: Rate) -> str:
    return f"{rate.hits}/{rate.n}"


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
