"""Lenses: what other ways of looking show of the same model.

Takes  a subject.
Gives  when each token of the answer can be read by the unembedding itself; whether a sparse autoencoder's features tell
       sub-task values better than neurons do; what is guessed about the sign before the second operand is there.
Never  scores on the questions that a threshold, a unit or an autoencoder was chosen on.

1. Logit lens: the last norm and the unembedding read the stream at every place from D'0 on, behind every half layer.
   Null: the same readings held against other questions' answers. Rate of guessing: the commonest token.
   A token is read where it is surely right in most questions, and more often than by guessing and than the null.
2. Autoencoder: on MLP outputs of a middle column, with as many features as neurons, at every weight of a fixed ladder
   of sparsity and with several seeds each (`units.py`). Do its best features tell sub-task values better than the best
   neurons, and than random directions, at every weight and whatever the seed?
3. Sign: at every place of the first operand, before the last layer, the logit of - less that of +, at the level and
   with the cut that are best on some questions. Beside it the best guess from the first digit, and untrained twins.
4. Each of the three has a verdict. That of the whole is the worst of them, and the sentence says on which it rests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.columns import Branch, branches_of
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.first_guess import Guess, judge_guesses, sign_guesses
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.states import lens_logits, level_name, levels_of, read_states
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.units import Units, compare_units, judge_units
from carrylens.arithmetic.battery.weighing import overall
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.questions import Questions, joined
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.interchange import answer_tokens
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

__all__ = ["CARD", "Reading", "judge_readings", "judge_units", "run"]

Grid = tuple[tuple[Rate, ...], ...]
"""Axes place and level."""
_PARTS = ("logit lens", "autoencoder", "sign")

CARD = Card(
    name="lenses",
    title="Other lenses: unembedding, autoencoder, first guess",
    question="Is each token of the answer readable by the unembedding only in the last layer of its own place; do the "
    "features of a sparse autoencoder tell sub-task values better than neurons; is the sign guessed from the first "
    "digit?",
    method=(
        "Logit lens at every place from D'0 and every half layer; null: other questions' answers.",
        "Autoencoders with as many features as neurons on MLP outputs, at each weight of a fixed ladder of sparsity, "
        "with several seeds; best unit for each value, scored on others; intervals reach over all seeds; how much "
        "of the outputs they rebuild, and with how many features at once.",
        "The sign's logits at the places of the first operand; beside the best guess and untrained twins.",
        "The three have verdicts of their own; that of the whole is the worst of them.",
    ),
    refuted_if="some token is surely readable, beyond guessing, in an earlier layer or at an earlier place; or "
    "at some sparsity features tell values surely no better than neurons or random directions; or the sign is not "
    "guessed.",
    paper="the algorithm relies on calculations at P0: a first digit 8 or 9 makes + likelier",
    where="Appendix on mixed models; no figure",
)


@dataclass(frozen=True)
class Reading:
    """Where one token of the answer is first surely read in most questions, and how often it is at every place.

    `places` go from D'0 to the token's own, at which it is predicted.
    """

    token: str
    places: tuple[str, ...]
    rates: Grid
    nulls: Grid
    guess: float
    onset: tuple[str, str] | None
    early: bool

    @property
    def own(self) -> tuple[Rate, ...]:
        """How often it is read at its own place."""
        return self.rates[-1]

    @property
    def null(self) -> tuple[Rate, ...]:
        """The null there."""
        return self.nulls[-1]


@dataclass(frozen=True)
class ReadoutMeasurements:
    """What the unembedding reads of each token, what units tell, what is guessed about the sign."""

    readings: tuple[Reading, ...]
    units: Units
    guesses: tuple[Guess, ...]


def measure(context: ExperimentContext) -> ReadoutMeasurements | None:
    """All three readouts; None for a model that answers fewer than half of the questions."""
    settings = context.settings
    asked = joined(list(_asked(context, "lens", settings.n_questions).values()))
    if context.subject.right(asked).mean() < 0.5:
        return None
    context.watch(CARD.title, 0, 3)
    readings = read_tokens(context, asked)
    context.watch(CARD.title, 1, 3)
    fit, test = (_asked(context, word, settings.n_train) for word in ("fit", "test"))
    units = compare_units(context, fit, test)
    context.watch(CARD.title, 2, 3)
    return ReadoutMeasurements(tuple(readings), units, tuple(sign_guesses(context)))


def summarise(context: ExperimentContext, measured: ReadoutMeasurements | None) -> Outcome:
    """A verdict for each of the three readouts, and the worst of them."""
    settings = context.settings
    if measured is None:
        says = "The model answers fewer than half of the questions, so there is nothing to be read."
        return Outcome(CARD, settings.plain(), Verdict.UNTESTED, says)
    readings, units, guesses = measured.readings, measured.units, measured.guesses
    verdicts = [judge_readings(readings), judge_units(units.values), judge_guesses(guesses)]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([each for each in verdicts if each is not Verdict.UNTESTED]),
        says=_says(readings, units, guesses, verdicts),
        facts=tuple(_facts(readings, guesses, settings)),
        estimates=units.all,
        figure=_figure(context.subject, readings),
        headers=("what", "where", "measured", "null", "beside"),
        rows=(*map(_reading_row, readings), *map(_unit_row, units.all), *map(_guess_row, guesses)),
        beside_paper=_beside(guesses),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def judge_readings(readings: Sequence[Reading]) -> Verdict:
    """Every token is read in the last layer of its own place, and in most questions nowhere before."""
    parts = [Verdict.REFUTED if each.early else Verdict.SUPPORTED for each in readings if each.onset]
    return overall([*parts, *(Verdict.INCONCLUSIVE for each in readings if not each.onset)])


def _asked(context: ExperimentContext, split: str, n: int) -> dict[Branch, Questions]:
    subject = context.subject
    found = {}
    for branch in branches_of(subject.operation):
        seed = context.settings.seed_of(CARD.name, branch.value, split)
        drawn = Stream(StreamKind.NATURAL, branch.operation, subject.digits, seed).take(0, 4 * n)
        fits = is_negative(drawn) == (branch is Branch.NEGATIVE)
        found[branch] = drawn[np.flatnonzero(fits)[:n]]
    return found


def read_tokens(context: ExperimentContext, questions: Questions) -> list[Reading]:
    """What the unembedding reads of each token that is not always the same, from D'0 to the token's own place."""
    subject, settings = context.subject, context.settings
    levels = levels_of(subject.last_layer + 1)
    places = tuple(range(subject.position("D'0"), subject.predicting(0) + 1))
    read = lens_logits(subject.model, read_states(subject.model, questions, places, levels)).argmax(-1)
    truth = answer_tokens(questions).astype(np.int64)
    mixed = np.random.default_rng(settings.seed_of(CARD.name, "mixed")).permutation(len(questions))
    found = []
    for token in range(truth.shape[1]):
        commonest = float(np.bincount(truth[:, token]).max() / len(truth))
        if commonest == 1:  # the sign of a sum: what never differs cannot be missed
            continue
        own = subject.position("=") + token - places[0]
        hits, null = (read[:, : own + 1] == each[:, None, None] for each in (truth[:, token], truth[mixed, token]))
        rates, nulls = (
            tuple(tuple(_rate(cell.T[at]) for at in range(len(levels))) for cell in h.swapaxes(0, 1))
            for h in (hits, null)
        )
        onset = _onset(rates, nulls, commonest)
        where = None if onset is None else (subject.place(places[onset[0]]), level_name(levels[onset[1]]))
        early = onset is not None and (onset[0] < own or onset[1] < len(levels) - 2)
        name = subject.place(subject.position("=") + 1 + token)
        passed = tuple(subject.place(place) for place in places[: own + 1])
        found.append(Reading(name, passed, rates, nulls, commonest, where, early))
    return found


def _onset(rates: Grid, nulls: Grid, guess: float) -> tuple[int, int] | None:
    cells = sum(map(len, rates))
    for place, row in enumerate(rates):
        for level, rate in enumerate(row):
            apart = Fact("", {}, rate, nulls[place][level]).p * cells <= THRESHOLDS.level
            if rate.interval[0] > max(guess, THRESHOLDS.least_hit) and apart:
                return place, level
    return None


def _facts(readings: Sequence[Reading], guesses: Sequence[Guess], settings: Settings) -> list[Fact]:
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


def _place_facts(each: Reading, at: int, stimuli: Mapping[str, object]) -> list[Fact]:
    about = {"token": each.token, "place": each.places[at], "null": "other questions' answers", "guess": each.guess}
    return [
        Fact(f"battery {CARD.name}", {**about, "level": level}, rate, null, stimuli)
        for level, (rate, null) in enumerate(zip(each.rates[at], each.nulls[at], strict=True))
    ]


def _says(readings: Sequence[Reading], units: Units, guesses: Sequence[Guess], verdicts: Sequence[Verdict]) -> str:
    early = [f"{each.token} at {each.onset[0]}, {each.onset[1]}" for each in readings if each.onset and each.early]
    late = sum(each.onset is not None and not each.early for each in readings)
    nowhere = [each.token for each in readings if each.onset is None]
    first = f"{late} of {len(readings)} tokens are read in the last layer of their place only"
    first += f" (before: {'; '.join(early)})" if early else ""
    first += f" (nowhere: {', '.join(nowhere)})" if nowhere else ""
    texts = [first, "no MLP output varies", "no subtractions"]
    if units.rungs:
        texts[1] = _unit_text(units)
    if guesses:
        one = guesses[0]
        known = f"untrained twins {one.twins.value:.2f} ({one.as_good.hits} of {one.as_good.n} as good), "
        known += f"best possible {one.best.value:.2f}"
        texts[2] = f"the paper says it is guessed from the first digit; at {one.place} in {one.lens.value:.2f}, {known}"
    parts = [f"{name} {each.value}: {text}" for name, each, text in zip(_PARTS, verdicts, texts, strict=True)]
    whole = overall([each for each in verdicts if each is not Verdict.UNTESTED])
    rests = " and ".join(name for name, each in zip(_PARTS, verdicts, strict=True) if each is whole)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}. The verdict of the whole, {whole.value}, rests on {rests}."


def _unit_text(units: Units) -> str:
    first = units.rungs[0]
    rungs = [
        f"at sparsity {rung.sparsity:g} features {rung.neurons.value:.2f} ({rung.active.value:.1f} active, "
        f"{rung.rebuilt.value:.2f} of the variance rebuilt, shuffled coordinates {rung.rebuilt.null:.2f})"
        for rung in units.rungs
    ]
    beside = f"neurons {first.neurons.null:.2f} ({first.active.null:.1f} active)"
    return f"correlation with values, {beside}, random directions {first.random.null:.2f}; {'; '.join(rungs)}"


def _beside(guesses: Sequence[Guess]) -> tuple[BesidePaper, ...]:
    if not guesses:
        return ()
    one = guesses[0]
    ours = f"{one.lens}, twins {one.twins.value:.3f}, best possible {one.best.value:.3f}"
    return (BesidePaper("sign guessed from the first digit", "used as a heuristic", ours, one.better),)


def _figure(subject: Subject, readings: Sequence[Reading]) -> Figure:
    levels = levels_of(subject.last_layer + 1)
    names, x = tuple(f"L{n // 2} {'MLP' if n % 2 else 'heads'}" for n in range(len(levels))), range(len(levels))
    sign = [each for each in readings if each.token == subject.place(subject.position("=") + 1)]
    digits = [each for each in readings if each not in sign]
    middle = -(-len(digits) // 2)
    groups = [("sign", sign), *((_span(some), some) for some in (digits[:middle], digits[middle:]))]
    series = [
        Series.of_rates(label, Kind.EFFECT, x, [sum((each.own[at] for each in some), Rate(0, 0)) for at in x])
        for label, some in groups
        if some
    ]
    nulls = [sum((each.null[at] for each in digits), Rate(0, 0)) for at in x]
    series.append(Series.of_rates("digits, other questions' answers", Kind.NULL, x, nulls))
    return Figure("level of the token's own place", "share read rightly", tuple(series), names)


def _span(some: Sequence[Reading]) -> str:
    return f"digits {some[0].token} to {some[-1].token}" if some else ""


def _reading_row(each: Reading) -> tuple[str, ...]:
    where = ", ".join(each.onset) if each.onset else "nowhere"
    return (
        f"{each.token}, logit lens",
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


def _guess_row(each: Guess) -> tuple[str, ...]:
    return (
        "sign guessed",
        each.place,
        f"{each.lens.value:.3f}",
        f"{each.twins.value:.3f}",
        f"best {each.best.value:.3f}",
    )


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
