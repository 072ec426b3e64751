"""What `lenses` says: a verdict for each of the three readouts, and the worst of them.

Takes  what the unembedding, the features and the sign's logits show.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.residual_states import levels_of
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.outcome import BesidePaper, Estimate, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.readouts.card import CARD
from carrylens.arithmetic.battery.readouts.feature_units import UnitComparison, judge_units
from carrylens.arithmetic.battery.readouts.measure import ReadoutMeasurements
from carrylens.arithmetic.battery.readouts.sign_guess import SignGuess, judge_guesses
from carrylens.arithmetic.battery.readouts.token_readings import TokenReading, judge_readings
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.subject import Subject
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

LENS, NOWHERE = "logit lens", "nowhere"


@dataclass(frozen=True)
class ReadoutsTold:
    """What the sentence about `lenses` is made of; nothing where the model answers too few questions."""

    readings: Sequence[TokenReading] = ()
    units: UnitComparison | None = None
    guesses: Sequence[SignGuess] = ()
    verdicts: Sequence[Verdict] = ()


def summarise(context: ExperimentContext, measured: ReadoutMeasurements | None) -> Summary:
    """A verdict for each of the three readouts, and the worst of them."""
    settings = context.settings
    if measured is None:
        return Summary(Outcome(CARD, settings.plain(), Verdict.UNTESTED, says=""), ReadoutsTold())
    readings, units, guesses = measured.readings, measured.units, measured.guesses
    verdicts = [judge_readings(readings), judge_units(units.values), judge_guesses(guesses)]
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([each for each in verdicts if each is not Verdict.UNTESTED]),
        says="",
        facts=tuple(_facts(readings, guesses, settings)),
        estimates=units.all,
        figure=_figure(context.subject, readings),
        headers=("what", "where", "measured", "null", "beside"),
        rows=(*map(_reading_row, readings), *map(_unit_row, units.all), *map(_guess_row, guesses)),
        beside_paper=_beside(guesses),
    )
    return Summary(outcome, ReadoutsTold(readings, units, guesses, verdicts))


def _facts(readings: Sequence[TokenReading], guesses: Sequence[SignGuess], settings: BatterySettings) -> list[Fact]:
    # Those of each token's own place first, at which it is predicted.
    stimuli = {"seed": settings.seed}
    own = [fact for each in readings for fact in _place_facts(each, len(each.places) - 1, stimuli)]
    before = [
        fact for each in readings for at in range(len(each.places) - 1) for fact in _place_facts(each, at, stimuli)
    ]
    guessed = []
    for guess in guesses:
        about = {"sign guessed at": guess.place, "null": "untrained twins", "best": guess.best.value}
        about["twins as good"] = f"{guess.as_good.hits} of {guess.as_good.n}"
        guessed.append(Fact(f"battery {CARD.name}", about, guess.lens, guess.twins, stimuli))
    return [*own, *guessed, *before]


def _place_facts(each: TokenReading, at: int, stimuli: Mapping[str, object]) -> list[Fact]:
    about = {"token": each.token, "place": each.places[at], "null": "other questions' answers", "guess": each.guess}
    return [
        Fact(f"battery {CARD.name}", {**about, "level": level}, rate, null, stimuli)
        for level, (rate, null) in enumerate(zip(each.rates[at], each.nulls[at], strict=True))
    ]


def _beside(guesses: Sequence[SignGuess]) -> tuple[BesidePaper, ...]:
    if not guesses:
        return ()
    one = guesses[0]
    ours = f"{one.lens}, twins {one.twins.value:.3f}, best possible {one.best.value:.3f}"
    return (BesidePaper("sign guessed from the first digit", "used as a heuristic", ours, one.better),)


def _figure(subject: Subject, readings: Sequence[TokenReading]) -> Figure:
    levels = levels_of(subject.last_layer + 1)
    names, x = tuple(f"L{n // 2} {'MLP' if n % 2 else 'heads'}" for n in range(len(levels))), range(len(levels))
    sign = [each for each in readings if each.token == subject.place(subject.position("=") + 1)]
    digits = [each for each in readings if each not in sign]
    middle = -(-len(digits) // 2)
    groups = [("sign", sign), *((_span(some), some) for some in (digits[:middle], digits[middle:]))]
    series = [
        Series.of_rates(label, SeriesKind.EFFECT, x, [sum((each.own[at] for each in some), Rate(0, 0)) for at in x])
        for label, some in groups
        if some
    ]
    nulls = [sum((each.null[at] for each in digits), Rate(0, 0)) for at in x]
    series.append(Series.of_rates("digits, other questions' answers", SeriesKind.NULL, x, nulls))
    return Figure("level of the token's own place", "share read rightly", tuple(series), names)


def _span(some: Sequence[TokenReading]) -> str:
    return f"digits {some[0].token} to {some[-1].token}" if some else ""


def _reading_row(each: TokenReading) -> tuple[str, ...]:
    where = ", ".join(each.onset) if each.onset else NOWHERE
    return (
        f"{each.token}, {LENS}",
        where,
        f"{each.own[-1].value:.2f}",
        f"{each.null[-1].value:.2f}",
        f"guessing {each.guess:.2f}",
    )


def _unit_row(each: Estimate) -> tuple[str, ...]:
    shown = (
        f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]",
        f"{each.null:.2f} [{each.null_low:.2f}, {each.null_high:.2f}]",
    )
    what, _, beside = each.name.partition(", ")
    return (f"autoencoder: {what}", beside, *shown, "-")


def _guess_row(each: SignGuess) -> tuple[str, ...]:
    return (
        "sign guessed",
        each.place,
        f"{each.lens.value:.3f}",
        f"{each.twins.value:.3f}",
        f"best {each.best.value:.3f}",
    )
