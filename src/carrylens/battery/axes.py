"""Axes: do carries and borrows come to the combiner along one direction, or along several?

Takes  a subject that adds and subtracts.
Gives  for every digit the angles between the addition's carry, the positive borrow and the negative borrow: of their
       mean directions, with intervals and a null, and between the subspaces they span.
Never  calls an axis shared because two borrows always turn together.

1. Pairs in which the deciding column is turned, at every depth. At the place that predicts the digit, behind the last
   layer's heads, the source's stream less the base's is what the carry alone changes; all are made to go from 0 to 1.
2. Where D<D' becomes D>D', the borrow of D-D' goes and that of D'-D comes, so a model that holds both apart looks as if
   they shared an axis. So pairs are pure: what the other two branches would carry into the digit stays as it is.
3. The axis of a branch is the mean of those differences; |cos| between two has a bootstrap interval over pairs.
4. Null: the mean difference to sources of the same carry, in units of the effect's length: where such a source changes
   nothing there is no direction to compare, and it must not be made one by giving it length. Chance: the |cos| with
   differences of unrelated questions of one carry, below which 95% of them lie. Ceiling: two halves of one branch.
5. Principal angles between the subspaces of the three largest directions of each branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Operation
from carrylens.battery.columns import Branch, deciding_pairs, own_carry, pure_pairs
from carrylens.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.battery.states import levels_of, read_states
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.swapping import answered, joined
from carrylens.battery.weighing import overall
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.hypothesis.verdicts import Verdict

CARD = Card(
    name="axes",
    title="Angles between carry and borrow axes",
    question="Do both borrows come to the combiner along one shared direction, and the addition's carry along another?",
    method=(
        "Pairs in which nothing differs at the digit's place but the carry; the streams' difference is its axis.",
        "Pure pairs: what the other two branches would carry into the digit, which else turns too, stays as it is.",
        "|cos| between the mean differences of two branches, with a bootstrap interval.",
        "Null: the mean difference to sources of the same carry, in units of the effect's length.",
        "Chance: differences of unrelated questions of the same carry. Ceiling: two halves of one branch.",
        "Principal angles between the spans of the three largest directions.",
    ),
    refuted_if="at some digit the borrows' |cos| is surely below one half, or the addition's with one surely above it.",
    paper="|cos| positive-negative .898 (digit 2), .828 (digit 3); add-positive .207, add-negative .226",
    where="Section on mixed models",
)
_BOOTSTRAPS = 400
_RANK = 3
_PAPER = {"positive-negative": {2: 0.898, 3: 0.828}, "add-positive": {2: 0.207}, "add-negative": {2: 0.226}}

SHARED = "positive-negative"

Differences = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Turned:
    """What turning the carry changes in each pair, and what a source of the same carry does: axes pair, d_model.

    `unrelated` are differences of questions that have nothing in common but their carry.
    """

    effect: Differences
    null: Differences
    unrelated: Differences


@dataclass(frozen=True)
class Angle:
    """|cos| of two branches' axes at one digit, its null, the ceiling, and that of the nearest principal directions.

    `chance` is what 95% of unrelated differences stay below.
    """

    digit: int
    branches: tuple[Branch, Branch]
    cos: Estimate
    ceiling: float
    nearest: float
    chance: float

    @property
    def name(self) -> str:
        """Which branches."""
        return f"{self.branches[0].value}-{self.branches[1].value}"


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    found: list[Angle] = []
    together: list[Angle] = []
    digits = range(1, subject.digits) if subject.operation is Operation.MIX else ()
    for at, digit in enumerate(digits):
        watch(CARD.title, at, len(digits))
        pure = {branch: _differences(subject, branch, digit, settings, pure=True) for branch in Branch}
        both = {branch: _differences(subject, branch, digit, settings, pure=False) for branch in Branch}
        if min(len(each.effect) for each in (*pure.values(), *both.values())) >= THRESHOLDS.least_searched:
            found += angles(digit, pure, settings)
            together += [angle for angle in angles(digit, both, settings) if angle.name == SHARED]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=judge_angles(found),
        says=_says(subject, found, together),
        estimates=tuple(angle.cos for angle in found),
        figure=_figure(found, together) if found else None,
        headers=("digit", "branches", "|cos|", "null", "ceiling", "nearest principal directions", "chance"),
        rows=(
            *map(_row, found),
            *((each[0], f"{each[1]}, turned together", *each[2:]) for each in map(_row, together)),
        ),
        beside_paper=(*_beside(together, ", turned together"), *_beside(found, ", each alone")),
    )


def angles(digit: int, turned: Mapping[Branch, Turned], settings: Settings) -> list[Angle]:
    """The angles between every two branches."""
    return [
        Angle(
            digit,
            (one, other),
            _cosine(f"|cos| {one.value}-{other.value} at A{digit}", turned[one], turned[other], settings),
            float(np.sqrt(_halves(turned[one].effect) * _halves(turned[other].effect))),
            float(np.linalg.svd(_span(turned[one].effect) @ _span(turned[other].effect).T, compute_uv=False)[0]),
            max(_chance(turned[one], turned[other]), _chance(turned[other], turned[one])),
        )
        for one, other in combinations(Branch, 2)
    ]


def judge_angles(found: Sequence[Angle]) -> Verdict:
    """One axis for the borrows and another for the carry, at every digit."""
    verdicts = []
    for digit in dict.fromkeys(angle.digit for angle in found):
        mine = {angle.name: angle.cos for angle in found if angle.digit == digit}
        chance = next(angle.chance for angle in found if angle.digit == digit and angle.name == SHARED)
        shared, others = mine[SHARED], [mine["add-positive"], mine["add-negative"]]
        if shared.high < 0.5 or any(other.low > 0.5 for other in others):
            verdicts.append(Verdict.REFUTED)
        elif shared.low > max(0.5, shared.null_high, chance) and all(other.high < shared.low for other in others):
            verdicts.append(Verdict.SUPPORTED)
        else:
            verdicts.append(Verdict.INCONCLUSIVE)
    return overall(verdicts)


def _differences(subject: Subject, branch: Branch, digit: int, settings: Settings, *, pure: bool) -> Turned:
    place, level = subject.predicting(digit), levels_of(subject.last_layer + 1)[-2]
    draw = pure_pairs if pure else deciding_pairs
    effect, null, unrelated = [], [], []
    random = np.random.default_rng(settings.seed_of(CARD.name, branch, digit, "unrelated"))
    for depth in range(digit):
        seed = settings.seed_of(CARD.name, branch, digit, depth, pure)
        drawn = draw(branch, subject.digits, digit, depth, -(-2 * settings.n_pairs // digit), seed)
        pairs = answered(subject, drawn)
        if len(pairs):
            asked = joined([pairs.base, pairs.source, pairs.null])
            base, source, same = np.split(read_states(subject.model, asked, [place], [level])[:, 0, 0], 3)
            ways = np.where(own_carry(pairs, pairs.source) == 1, 1.0, -1.0)[:, None]
            effect.append((source - base) * ways)
            null.append((same - base) * ways)
            unrelated += [
                some[random.permutation(len(some))] - some for some in (base[ways[:, 0] == w] for w in (1, -1))
            ]
    nothing = np.zeros((0, subject.model.config.d_model))
    return Turned(*(np.concatenate([nothing, *rows]) for rows in (effect, null, unrelated)))


def _cosine(name: str, one: Turned, other: Turned, settings: Settings) -> Estimate:
    random = np.random.default_rng(settings.seed_of(CARD.name, name))

    def resampled(rows: Differences) -> Differences:
        picks = random.integers(0, len(rows), (_BOOTSTRAPS, len(rows)))
        return np.stack([rows[pick].mean(0) for pick in picks])

    value = float(_abs_cos(one.effect.mean(0)[None], other.effect.mean(0)[None])[0])
    low, high = np.quantile(_abs_cos(resampled(one.effect), resampled(other.effect)), (0.025, 0.975))
    length = float(np.linalg.norm(other.effect.mean(0)))
    null = _abs_cos(resampled(one.effect), resampled(other.null), length)
    null_low, middle, null_high = (float(each) for each in np.quantile(null, (0.025, 0.5, 0.975)))
    n = min(len(one.effect), len(other.effect))
    return Estimate(name, value, min(value, float(low)), max(value, float(high)), middle, null_low, null_high, n)


def _abs_cos(one: Differences, other: Differences, length: float | None = None) -> NDArray[np.float64]:
    # With a length, that is taken for the other's own.
    own = np.linalg.norm(other, axis=1) if length is None else length
    sizes = np.linalg.norm(one, axis=1) * own
    return np.asarray(np.abs((one * other).sum(1)) / np.maximum(sizes, 1e-12))


def _chance(one: Turned, other: Turned) -> float:
    return float(np.quantile(_abs_cos(one.effect.mean(0)[None], other.unrelated), 0.95))


def _halves(rows: Differences) -> float:
    return float(_abs_cos(rows[::2].mean(0)[None], rows[1::2].mean(0)[None])[0])


def _span(rows: Differences) -> Differences:
    return np.asarray(np.linalg.svd(rows, full_matrices=False)[2][:_RANK])


def _says(subject: Subject, found: Sequence[Angle], together: Sequence[Angle]) -> str:
    if subject.operation is not Operation.MIX:
        return "Only a model that adds and subtracts has several axes to compare."
    if not found:
        return "The model answers too few of the questions for an axis to be seen."
    parts = []
    for name in dict.fromkeys(angle.name for angle in found):
        values = [angle.cos.value for angle in found if angle.name == name]
        parts.append(f"{name} {min(values):.2f} to {max(values):.2f}")
    null, chance = max(angle.cos.null_high for angle in found), max(angle.chance for angle in found)
    both = [angle.cos.value for angle in together]
    return (
        f"|cos| by digit, each borrow turned alone: {'; '.join(parts)}; null up to {null:.2f}, chance "
        f"{chance:.2f}. Turned together, as one "
        f"column always turns them, the borrows look like {min(both):.2f} to {max(both):.2f}."
    )


def _beside(found: Sequence[Angle], how: str) -> list[BesidePaper]:
    rows = []
    for angle in found:
        paper = _PAPER[angle.name].get(angle.digit)
        if paper is not None:
            ours = f"{angle.cos.value:.3f} [{angle.cos.low:.3f}, {angle.cos.high:.3f}]"
            agrees = angle.cos.low - 0.05 <= paper <= angle.cos.high + 0.05
            rows.append(BesidePaper(f"|cos| {angle.name}, digit {angle.digit}{how}", f"{paper} (mix d6)", ours, agrees))
    return rows


def _figure(found: Sequence[Angle], together: Sequence[Angle]) -> Figure:
    series = []
    named = [(name, Kind.EFFECT, [angle for angle in found if angle.name == name]) for name in _PAPER]
    for name, kind, mine in (*named, (f"{SHARED}, turned together", Kind.RIVAL, list(together))):
        x, y = tuple(float(angle.digit) for angle in mine), tuple(angle.cos.value for angle in mine)
        low, high = tuple(angle.cos.low for angle in mine), tuple(angle.cos.high for angle in mine)
        series.append(Series(name, kind, x, y, low, high))
    mine = [angle for angle in found if angle.name == SHARED]
    x, null = tuple(float(angle.digit) for angle in mine), tuple(angle.cos.null for angle in mine)
    low, high = tuple(angle.cos.null_low for angle in mine), tuple(angle.cos.null_high for angle in mine)
    series.append(Series("null: same carry", Kind.NULL, x, null, low, high))
    return Figure("digit of the answer", "|cos| between axes", tuple(series))


def _row(angle: Angle) -> tuple[str, ...]:
    cos = angle.cos
    shown = (
        f"{cos.value:.2f} [{cos.low:.2f}, {cos.high:.2f}]",
        f"{cos.null:.2f} [{cos.null_low:.2f}, {cos.null_high:.2f}]",
    )
    return (
        f"A{angle.digit}",
        angle.name,
        *shown,
        f"{angle.ceiling:.2f}",
        f"{angle.nearest:.2f}",
        f"{angle.chance:.2f}",
    )
