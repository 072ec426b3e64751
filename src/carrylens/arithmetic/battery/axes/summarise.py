"""What `axes` says: whether both borrows share an axis that the carry does not.

Takes  the angles at every digit.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from carrylens.arithmetic.battery.axes.angles import Angle
from carrylens.arithmetic.battery.axes.card import CARD
from carrylens.arithmetic.battery.axes.measure import BOTH_BORROWS, AxisMeasurements
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact

PAIRS_OF, ALONG_AXIS_OF = "pairs of", "along the axis of"
"""Keys of facts: the branch of the pairs, and that of the axis."""
_PAPER_DIGITS = 6
_PAPER = {"positive-negative": {2: 0.898, 3: 0.828}, "add-positive": {2: 0.207}, "add-negative": {2: 0.226}}


@dataclass(frozen=True)
class AxesTold:
    """What the sentence about `axes` is made of."""

    subject: Subject
    found: Sequence[Angle]
    together: Sequence[Angle]
    layers: Mapping[Branch, int]


def summarise(context: ExperimentContext, measured: AxisMeasurements) -> Summary:
    """Whether both borrows share an axis that the carry does not."""
    subject, settings = context.subject, context.settings
    found, together = measured.found, measured.together
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=judge_angles(found),
        says="",
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
    return Summary(outcome, AxesTold(subject, found, together, measured.layers))


def judge_angles(found: Sequence[Angle]) -> Verdict:
    """One axis for the borrows and another for the carry, at every digit."""
    verdicts = []
    for digit in dict.fromkeys(angle.digit for angle in found):
        mine = {angle.name: angle.cos for angle in found if angle.digit == digit}
        chance = next(angle.chance for angle in found if angle.digit == digit and angle.name == BOTH_BORROWS)
        shared, others = mine[BOTH_BORROWS], [mine["add-positive"], mine["add-negative"]]
        if shared.high < 0.5 or any(other.low > 0.5 for other in others):
            verdicts.append(Verdict.REFUTED)
        elif shared.low > max(0.5, shared.null_high, chance) and all(other.high < shared.low for other in others):
            verdicts.append(Verdict.SUPPORTED)
        else:
            verdicts.append(Verdict.INCONCLUSIVE)
    return overall(verdicts)


def _facts(angle: Angle, settings: BatterySettings) -> list[Fact]:
    facts = []
    for (one, other), (effect, null) in zip((angle.branches, angle.branches[::-1]), angle.along, strict=True):
        about = {
            "digit": angle.digit,
            PAIRS_OF: one.value,
            ALONG_AXIS_OF: other.value,
            "null": "the same carry",
        }
        facts.append(Fact(f"battery {CARD.name}", about, effect, null, {"seed": settings.seed}))
    return facts


def cosine_row(branches: str, digit: int) -> str:
    """What is set beside the paper about two branches at one digit."""
    return f"|cos| {branches}, digit {digit}, each alone"


def _beside(found: Sequence[Angle]) -> list[BesidePaper]:
    # The paper's figures are "nuisance-controlled": beside them stand those whose other borrow is held still.
    rows = []
    for angle in found:
        paper = _PAPER[angle.name].get(angle.digit)
        if paper is not None:
            ours = f"{angle.cos.value:.3f} [{angle.cos.low:.3f}, {angle.cos.high:.3f}]"
            agrees = angle.cos.low - 0.05 <= paper <= angle.cos.high + 0.05
            what = cosine_row(angle.name, angle.digit)
            rows.append(BesidePaper(what, f"{paper} (mix d6)", ours, agrees))
    return rows


def _figure(found: Sequence[Angle], together: Sequence[Angle]) -> Figure:
    series = []
    named = [(name, SeriesKind.EFFECT, [angle for angle in found if angle.name == name]) for name in _PAPER]
    for name, kind, mine in (*named, (f"{BOTH_BORROWS}, turned together", SeriesKind.RIVAL, list(together))):
        x, y = tuple(float(angle.digit) for angle in mine), tuple(angle.cos.value for angle in mine)
        low, high = tuple(angle.cos.low for angle in mine), tuple(angle.cos.high for angle in mine)
        series.append(Series(name, kind, x, y, low, high))
    mine = [angle for angle in found if angle.name == BOTH_BORROWS]
    x, null = tuple(float(angle.digit) for angle in mine), tuple(angle.cos.null for angle in mine)
    low, high = tuple(angle.cos.null_low for angle in mine), tuple(angle.cos.null_high for angle in mine)
    series.append(Series("null: same carry", SeriesKind.NULL, x, null, low, high))
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
