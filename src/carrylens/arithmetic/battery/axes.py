"""Axes: do carries and borrows come to the combiner along one direction, or along several?

Takes  a subject that adds and subtracts.
Gives  for every digit the angles between the addition's carry, the positive borrow and the negative borrow: of their
       mean directions, with intervals and a null, and between the subspaces they span.
Never  calls an axis shared because two borrows always turn together.

1. Pairs in which the deciding column is turned, at every depth; the token of the place that predicts the digit stays.
   There, behind the heads of the layer that combines (found for each branch on other pairs, `combining.py`), the
   source's stream less the base's is what the carry alone changes; all are made to go from 0 to 1.
2. Where D<D' becomes D>D', the borrow of D-D' goes and that of D'-D comes, so a model that holds both apart looks as if
   they shared an axis. So pairs are pure: what the other two branches would carry into the digit stays as it is.
3. The axis of a branch is the mean of those differences; |cos| between two has a bootstrap interval over pairs.
4. Null: the mean difference to sources of the same carry, in units of the effect's length: where such a source changes
   nothing there is no direction to compare, and it must not be made one by giving it length. Chance: the |cos| with
   differences of unrelated questions of one carry, below which 95% of them lie. Ceiling: two halves of one branch.
5. Principal angles between the subspaces of the three largest directions of each branch: the cosines of all of them,
   with bootstrap intervals. Null: those with the three largest directions of unrelated differences.
6. Facts: in how many pairs of one branch the difference lies along the other branch's axis, beyond chance. Null:
   sources of the same carry; a difference shorter than the mean effect is taken to be as long as that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.columns import Branch, deciding_pairs, own_carry, pure_pairs
from carrylens.arithmetic.battery.combining import combiner_layer, combiner_layers
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.states import levels_of, read_states
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.swapping import answered
from carrylens.arithmetic.battery.weighing import overall
from carrylens.arithmetic.questions import Operation, joined
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

CARD = Card(
    name="axes",
    title="Angles between carry and borrow axes",
    question="Do both borrows come to the combiner along one shared direction, and the addition's carry along another?",
    method=(
        "Pairs in which nothing differs at the digit's place but the carry; the streams' difference before the MLP "
        "that combines the branch, which is found on other pairs, is its axis.",
        "Pure pairs: what the other two branches would carry into the digit, which else turns too, stays as it is.",
        "|cos| between the mean differences of two branches, with a bootstrap interval.",
        "Null: the mean difference to sources of the same carry, in units of the effect's length.",
        "Chance: differences of unrelated questions of the same carry. Ceiling: two halves of one branch.",
        "Cosines of all principal angles between the spans of the three largest directions; null: of unrelated "
        "differences.",
        "Pairs of one branch whose difference lies along the other's axis, beyond chance; null: the same carry.",
    ),
    refuted_if="at some digit the borrows' |cos| is surely below one half, or the addition's with one surely above it.",
    paper="|cos| positive-negative .898 (digit 2), .828 (digit 3); add-positive .207, add-negative .226",
    where="Section on mixed models",
)
_BOOTSTRAPS = 400
_RANK = 3
_SPANS = 40
_PAPER_DIGITS = 6
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
    """|cos| of two branches' axes at one digit, its null, the ceiling, and the cosines of all principal angles.

    `chance` is what 95% of unrelated differences stay below. `along` has for each branch how many of its pairs differ
    along the other's axis, beyond chance, and how many sources of the same carry do.
    """

    digit: int
    branches: tuple[Branch, Branch]
    cos: Estimate
    ceiling: float
    principal: tuple[Estimate, ...]
    chance: float
    along: tuple[tuple[Rate, Rate], tuple[Rate, Rate]]

    @property
    def name(self) -> str:
        """Which branches."""
        return f"{self.branches[0].value}-{self.branches[1].value}"


@dataclass(frozen=True)
class AxisMeasurements:
    """The angles at every digit, each borrow turned alone and both turned together; the combiners' layers."""

    found: tuple[Angle, ...]
    together: tuple[Angle, ...]
    layers: Mapping[Branch, int]


def measure(context: ExperimentContext) -> AxisMeasurements:
    """The angles at every digit of which enough pairs are answered on every branch."""
    subject, settings = context.subject, context.settings
    found: list[Angle] = []
    together: list[Angle] = []
    digits = range(1, subject.digits) if subject.operation is Operation.MIX else ()
    for at, digit in enumerate(digits):
        context.watch(CARD.title, at, len(digits))
        pure = {branch: _differences(context, branch, digit, pure=True) for branch in Branch}
        both = {branch: _differences(context, branch, digit, pure=False) for branch in Branch}
        if min(len(each.effect) for each in (*pure.values(), *both.values())) >= THRESHOLDS.least_searched:
            found += angles(digit, pure, settings)
            together += [angle for angle in angles(digit, both, settings) if angle.name == SHARED]
    return AxisMeasurements(tuple(found), tuple(together), combiner_layers(context) if found else {})


def summarise(context: ExperimentContext, measured: AxisMeasurements) -> Outcome:
    """Whether both borrows share an axis that the carry does not."""
    subject, settings = context.subject, context.settings
    found, together = measured.found, measured.together
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=judge_angles(found),
        says=_says(subject, found, together, measured.layers),
        facts=tuple(fact for angle in found for fact in _facts(angle, settings)),
        estimates=(
            *(angle.cos for angle in found),
            *(replace(angle.cos, name=f"turned-together {angle.cos.name}") for angle in together),
            *(each for angle in found for each in angle.principal),
        ),
        figure=_figure(found, together) if found else None,
        headers=("digit", "branches", "|cos|", "null", "ceiling", "cosines of principal angles", "chance"),
        rows=(
            *map(_row, found),
            *((each[0], f"{each[1]}, turned together", *each[2:]) for each in map(_row, together)),
        ),
        beside_paper=tuple(_beside(found)) if subject.digits == _PAPER_DIGITS else (),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def angles(digit: int, turned: Mapping[Branch, Turned], settings: Settings) -> list[Angle]:
    """The angles between every two branches."""
    spans = {branch: _Spans.of(each, settings.seed_of(CARD.name, branch, digit)) for branch, each in turned.items()}
    found = []
    for one, other in combinations(Branch, 2):
        name, both = f"{one.value}-{other.value} at A{digit}", (turned[one], turned[other])
        chance = max(_chance(*both), _chance(*both[::-1]))
        found.append(
            Angle(
                digit,
                (one, other),
                _cosine(f"|cos| {name}", *both, settings),
                float(np.sqrt(_halves(both[0].effect) * _halves(both[1].effect))),
                _principal(name, spans[one], spans[other], min(len(each.effect) for each in both)),
                chance,
                (_along(*both, chance), _along(*both[::-1], chance)),
            )
        )
    return found


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


def _differences(context: ExperimentContext, branch: Branch, digit: int, *, pure: bool) -> Turned:
    subject, settings = context.subject, context.settings
    place, level = subject.predicting(digit), levels_of(combiner_layer(context, branch) + 1)[-2]
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


def _along(one: Turned, other: Turned, chance: float) -> tuple[Rate, Rate]:
    # Step 6: pairs of `one` along the axis of `other`, and its sources of the same carry.
    axis, least = other.effect.mean(0)[None], float(np.linalg.norm(one.effect, axis=1).mean())

    def beyond(rows: Differences) -> Rate:
        lengths = np.maximum(np.linalg.norm(rows, axis=1), least)
        cosines = np.abs(rows @ axis[0]) / np.maximum(np.linalg.norm(axis) * lengths, 1e-12)
        return Rate(int((cosines > chance).sum()), len(rows))

    return beyond(one.effect), beyond(one.null)


@dataclass(frozen=True, eq=False)
class _Spans:
    """The largest directions of a branch's differences, and of unrelated ones: of all rows, and of resampled ones."""

    effect: Differences
    unrelated: Differences
    effects: list[Differences]
    unrelateds: list[Differences]

    @classmethod
    def of(cls, turned: Turned, seed: int) -> _Spans:
        random = np.random.default_rng(seed)

        def again(rows: Differences) -> list[Differences]:
            return [_span(rows[random.integers(0, len(rows), len(rows))]) for _ in range(_SPANS)]

        own, other = turned.effect, turned.unrelated
        return cls(_span(own), _span(other), again(own), again(other))


def _span(rows: Differences) -> Differences:
    # Directions along which nothing but rounding differs are left out.
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(directions[:_RANK][sizes[:_RANK] > 1e-3 * sizes[0]])


def _principal(name: str, one: _Spans, other: _Spans, n: int) -> tuple[Estimate, ...]:
    # The cosines of all principal angles, largest first; where a resampled span has fewer directions, 0.
    values = _cosines(one.effect, other.effect)
    found = np.array([_cosines(*pair) for pair in zip(one.effects, other.effects, strict=True)])
    nulls = [
        *(_cosines(*pair) for pair in zip(one.effects, other.unrelateds, strict=True)),
        *(_cosines(*pair) for pair in zip(one.unrelateds, other.effects, strict=True)),
    ]
    low, high = np.quantile(found, (0.025, 0.975), axis=0)
    null_low, null, null_high = np.quantile(np.array(nulls), (0.025, 0.5, 0.975), axis=0)
    return tuple(
        Estimate(
            f"cosine of principal angle {at + 1} of {_RANK}, {name}",
            *(float(values[at]), float(min(values[at], low[at])), float(max(values[at], high[at]))),
            *(float(null[at]), float(null_low[at]), float(null_high[at])),
            n,
        )
        for at in range(min(len(one.effect), len(other.effect)))
    )


def _cosines(one: Differences, other: Differences) -> NDArray[np.float64]:
    found = np.zeros(_RANK)
    values = np.linalg.svd(one @ other.T, compute_uv=False)
    found[: len(values)] = np.minimum(values, 1.0)
    return found


def _facts(angle: Angle, settings: Settings) -> list[Fact]:
    facts = []
    for (one, other), (effect, null) in zip((angle.branches, angle.branches[::-1]), angle.along, strict=True):
        about = {
            "digit": angle.digit,
            "pairs of": one.value,
            "along the axis of": other.value,
            "null": "the same carry",
        }
        facts.append(Fact(f"battery {CARD.name}", about, effect, null, {"seed": settings.seed}))
    return facts


def _says(subject: Subject, found: Sequence[Angle], together: Sequence[Angle], layers: Mapping[Branch, int]) -> str:
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
    spans = [each for angle in found if angle.name == SHARED for each in angle.principal]
    ranks = dict.fromkeys(each.name.partition(",")[0] for each in spans)
    means = [np.mean([each.value for each in spans if each.name.startswith(rank)]) for rank in ranks]
    nulls = [np.mean([each.null for each in spans if each.name.startswith(rank)]) for rank in ranks]
    shown, beside = (", ".join(f"{mean:.2f}" for mean in some) for some in (means, nulls))
    apart = ", ".join(f"{branch.value} {layer}" for branch, layer in layers.items())
    where = f" before combiners of different layers ({apart})," if len(set(layers.values())) > 1 else ""
    return (
        "The paper says that both borrows share one direction and the addition's carry has another. |cos| by digit,"
        f"{where} each borrow turned alone: {'; '.join(parts)}; sources of the same carry up to {null:.2f}, chance "
        f"{chance:.2f}. Turned together, as one column always turns them, the borrows look like {min(both):.2f} to "
        f"{max(both):.2f}. Principal angles between their subspaces have mean cosines {shown} (those with unrelated "
        f"differences: {beside})."
    )


def _beside(found: Sequence[Angle]) -> list[BesidePaper]:
    # The paper's figures are "nuisance-controlled": beside them stand those whose other borrow is held still.
    rows = []
    for angle in found:
        paper = _PAPER[angle.name].get(angle.digit)
        if paper is not None:
            ours = f"{angle.cos.value:.3f} [{angle.cos.low:.3f}, {angle.cos.high:.3f}]"
            agrees = angle.cos.low - 0.05 <= paper <= angle.cos.high + 0.05
            what = f"|cos| {angle.name}, digit {angle.digit}, each alone"
            rows.append(BesidePaper(what, f"{paper} (mix d6)", ours, agrees))
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
        ", ".join(f"{each.value:.2f}" for each in angle.principal),
        f"{angle.chance:.2f}",
    )
