"""Lenses: what other ways of looking show of the same model.

Takes  a subject.
Gives  when each token of the answer can be read by the unembedding itself; whether a sparse autoencoder's features tell
       sub-task values better than neurons do; what is guessed about the sign before the second operand is there.
Never  scores on the questions that a threshold, a unit or an autoencoder was chosen on.

1. Logit lens: the last norm and the unembedding read the stream at every place from D'0 on, behind every half layer.
   Null: the same readings held against other questions' answers. Rate of guessing: the commonest token.
2. Autoencoder: for a middle column, on the MLP outputs at D'k and where digit k is predicted, in every layer, with as
   many features as there are neurons. For every value of every sub-task of the column, the best unit is chosen on
   some questions; its correlation with the value is taken on others, for features, neurons and random directions.
3. Sign: at every place of the first operand, before the last layer, the logit of - less that of +, at the level and
   with the cut that are best on some questions. Beside it the best guess from the first digit, and untrained twins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import subtasks
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import MB, MD, NB, ND, SA, ST
from carrylens.battery.columns import Branch, branches_of
from carrylens.battery.dictionary import Matrix, best_units, correlation, fit_dictionary, random_dictionary
from carrylens.battery.first_guess import Guess, judge_guesses, sign_guesses
from carrylens.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.battery.states import lens_logits, level_name, levels_of, read_hooks, read_states
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.weighing import overall
from carrylens.discovery.swaps import answer_tokens
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.hypothesis.verdicts import Verdict

Mlps = dict[tuple[int, int], tuple[Matrix, Matrix]]
"""For each layer and place what its MLP writes, and its neurons."""

CARD = Card(
    name="lenses",
    title="Other lenses: unembedding, autoencoder, first guess",
    question="Is each token of the answer readable by the unembedding only in the last layer of its own place; do the "
    "features of a sparse autoencoder tell sub-task values better than neurons; is the sign guessed from the first "
    "digit?",
    method=(
        "Logit lens at every place from D'0 and every half layer; null: other questions' answers.",
        "An autoencoder with as many features as neurons on MLP outputs; best unit for each value, scored on others.",
        "The sign's logits at the places of the first operand; beside the best guess and untrained twins.",
    ),
    refuted_if="some token is surely readable, beyond guessing, in an earlier layer or at an earlier place; or "
    "features tell values surely no better than neurons or random directions; or the sign is not guessed.",
    paper="the algorithm relies on calculations at P0: a first digit 8 or 9 makes + likelier",
    where="Appendix on mixed models; no figure",
)
_BOOTSTRAPS = 50


@dataclass(frozen=True)
class Reading:
    """Where one token of the answer is first surely read in most questions, and how often it is at its own place."""

    token: str
    own: tuple[Rate, ...]
    null: tuple[Rate, ...]
    guess: float
    onset: tuple[str, str] | None
    early: bool


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    asked = [
        _asked(subject, settings, branch, "lens", settings.n_questions) for branch in branches_of(subject.operation)
    ]
    if subject.right(_join(asked)).mean() < 0.5:
        says = "The model answers fewer than half of the questions, so there is nothing to be read."
        return Outcome(CARD, settings.plain(), Verdict.UNTESTED, says)
    watch(CARD.title, 0, 3)
    readings = _readings(subject, _join(asked), settings)
    watch(CARD.title, 1, 3)
    units = _units(subject, settings)
    watch(CARD.title, 2, 3)
    guesses = sign_guesses(subject, settings)
    verdicts = [judge_readings(readings), judge_units(units), judge_guesses(guesses)]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([each for each in verdicts if each is not Verdict.UNTESTED]),
        says=_says(readings, units, guesses, verdicts),
        facts=tuple(_facts(readings, guesses, settings)),
        estimates=tuple(units),
        figure=_figure(subject, readings),
        headers=("what", "where", "measured", "null", "beside"),
        rows=(*map(_reading_row, readings), *map(_unit_row, units), *map(_guess_row, guesses)),
        beside_paper=_beside(guesses),
    )


def judge_readings(readings: Sequence[Reading]) -> Verdict:
    """Every token is read in the last layer of its own place, and in most questions nowhere before."""
    parts = [Verdict.REFUTED if each.early else Verdict.SUPPORTED for each in readings if each.onset]
    return overall([*parts, *(Verdict.INCONCLUSIVE for each in readings if not each.onset)])


def judge_units(units: Sequence[Estimate]) -> Verdict:
    """Features surely tell more than neurons, and than random directions."""
    parts = []
    for each in units:
        if each.low > each.null_high:
            parts.append(Verdict.SUPPORTED)
        else:
            parts.append(Verdict.REFUTED if each.high < each.null else Verdict.INCONCLUSIVE)
    return overall(parts)


def _asked(subject: Subject, settings: Settings, branch: Branch, split: str, n: int) -> Questions:
    stream = Stream(
        StreamKind.NATURAL, branch.operation, subject.digits, settings.seed_of(CARD.name, branch.value, split)
    )
    drawn = stream.take(0, 4 * n)
    fits = is_negative(drawn) == (branch is Branch.NEGATIVE)
    return drawn[np.flatnonzero(fits)[:n]]


def _join(some: Sequence[Questions]) -> Questions:
    return Questions(*(np.concatenate([getattr(each, name) for each in some]) for name in ("first", "second", "minus")))


def _readings(subject: Subject, questions: Questions, settings: Settings) -> list[Reading]:
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
            [[_rate(cell.T[at]) for at in range(len(levels))] for cell in h.swapaxes(0, 1)] for h in (hits, null)
        )
        onset = _onset(rates, nulls, commonest)
        where = None if onset is None else (subject.place(places[onset[0]]), level_name(levels[onset[1]]))
        early = onset is not None and (onset[0] < own or onset[1] < len(levels) - 2)
        name = subject.place(subject.position("=") + 1 + token)
        found.append(Reading(name, tuple(rates[own]), tuple(nulls[own]), commonest, where, early))
    return found


def _onset(rates: list[list[Rate]], nulls: list[list[Rate]], guess: float) -> tuple[int, int] | None:
    cells = sum(map(len, rates))
    for place, row in enumerate(rates):
        for level, rate in enumerate(row):
            apart = Fact("", {}, rate, nulls[place][level]).p * cells <= THRESHOLDS.level
            if rate.interval[0] > max(guess, THRESHOLDS.least_hit) and apart:
                return place, level
    return None


def _units(subject: Subject, settings: Settings) -> list[Estimate]:
    column, n_layers = subject.digits // 2, subject.last_layer + 1
    places = (subject.position(f"D'{column}"), subject.predicting(column))
    branches = branches_of(subject.operation)
    splits = [[_asked(subject, settings, b, word, settings.n_train) for b in branches] for word in ("fit", "test")]
    labels = [[_labels(q, branch, column) for q, branch in zip(some, branches, strict=True)] for some in splits]
    reads = [[_mlps(subject, q, places) for q in some] for some in splits]
    kept: dict[str, list[list[Matrix]]] = {"features": [], "neurons": [], "random": []}
    for layer in range(n_layers):
        for place in places:
            for name, columns in _site(subject, reads, labels[0], layer, place, settings).items():
                kept[name].append(columns)
    return _compared(kept, labels[1], settings) if kept["features"] else []


def _site(
    subject: Subject,
    reads: list[list[Mlps]],
    labels: list[NDArray[np.bool_]],
    layer: int,
    place: int,
    settings: Settings,
) -> dict[str, list[Matrix]]:
    # For each branch the best unit of each kind for every label, as seen on the test questions.
    read = [[each[layer, place] for each in some] for some in reads]
    outs = np.concatenate([out for out, _ in read[0]])
    if outs.std(0).max() < 1e-6:
        return {}
    n, seed = subject.model.config.d_mlp, settings.seed_of(CARD.name, layer, place)
    ours, chance = fit_dictionary(outs, n, seed), random_dictionary(outs, n, seed)
    found: dict[str, list[Matrix]] = {"features": [], "neurons": [], "random": []}
    for (fit, fit_neurons), (test, test_neurons), label in zip(*read, labels, strict=True):
        found["features"].append(best_units(ours.features(fit), label, ours.features(test)))
        found["random"].append(best_units(chance.features(fit), label, chance.features(test)))
        found["neurons"].append(best_units(fit_neurons, label, test_neurons))
    return found


def _mlps(subject: Subject, questions: Questions, places: Sequence[int]) -> Mlps:
    layers = range(subject.last_layer + 1)
    hooks = [f"blocks.{layer}.{hook}" for layer in layers for hook in ("hook_mlp_out", "mlp.hook_post")]
    read = read_hooks(subject.model, questions, places, hooks)
    return {
        (layer, place): (read[2 * layer][:, at], read[2 * layer + 1][:, at])
        for layer in layers
        for at, place in enumerate(places)
    }


def _labels(questions: Questions, branch: Branch, column: int) -> NDArray[np.bool_]:
    values = subtasks(questions)
    digit, carry = {Branch.ADD: (SA, ST), Branch.POSITIVE: (MD, MB), Branch.NEGATIVE: (ND, NB)}[branch]
    columns = [values[family[column]] == value for family in (digit, carry) for value in family.values]
    return np.stack(columns, axis=1)


def _compared(
    kept: dict[str, list[list[Matrix]]], labels: list[NDArray[np.bool_]], settings: Settings
) -> list[Estimate]:
    # The mean over sites, branches and values of the units' correlation, with intervals from resampled questions.
    random = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap"))
    picks = [[np.arange(len(label)) for label in labels]]
    picks += [[random.integers(0, len(label), len(label)) for label in labels] for _ in range(_BOOTSTRAPS)]
    means = {
        name: np.array(
            [
                np.mean([correlation(u, y, r) for site in sites for u, y, r in zip(site, labels, rows, strict=True)])
                for rows in picks
            ]
        )
        for name, sites in kept.items()
    }
    n, found = sum(map(len, labels)), []
    ours, low, high = _ends(means["features"])
    for name, key in (("neurons", "neurons"), ("random directions", "random")):
        title = f"correlation of features with values, beside {name}"
        found.append(Estimate(title, ours, low, high, *_ends(means[key]), n))
    return found


def _ends(means: NDArray[np.float64]) -> tuple[float, float, float]:
    low, high = np.quantile(means[1:], (0.025, 0.975))
    return float(means[0]), float(low), float(high)


def _facts(readings: Sequence[Reading], guesses: Sequence[Guess], settings: Settings) -> list[Fact]:
    stimuli, facts = {"seed": settings.seed}, []
    for each in readings:
        for level, (rate, null) in enumerate(zip(each.own, each.null, strict=True)):
            about = {"token": each.token, "level": level, "null": "other questions' answers", "guess": each.guess}
            facts.append(Fact(f"battery {CARD.name}", about, rate, null, stimuli))
    for guess in guesses:
        about = {"sign guessed at": guess.place, "null": "untrained twins", "best": guess.best.value}
        facts.append(Fact(f"battery {CARD.name}", about, guess.lens, guess.twins, stimuli))
    return facts


def _says(
    readings: Sequence[Reading], units: Sequence[Estimate], guesses: Sequence[Guess], verdicts: Sequence[Verdict]
) -> str:
    early = [f"{each.token} at {each.onset[0]}, {each.onset[1]}" for each in readings if each.onset and each.early]
    first = f"{len(readings) - len(early)} of {len(readings)} tokens are read in the last layer of their place only"
    parts = [f"logit lens {verdicts[0].value}: {first}" + (f" (before: {'; '.join(early)})" if early else "")]
    if units:
        shown = f"features {units[0].value:.2f}, neurons {units[0].null:.2f}, random directions {units[1].null:.2f}"
        parts.append(f"autoencoder {verdicts[1].value}: correlation with values, {shown}")
    if guesses:
        one = guesses[0]
        known = f"twins {one.twins.value:.2f}, best possible {one.best.value:.2f}"
        parts.append(f"sign {verdicts[2].value}: guessed at {one.place} in {one.lens.value:.2f}, {known}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _beside(guesses: Sequence[Guess]) -> tuple[BesidePaper, ...]:
    if not guesses:
        return ()
    one = guesses[0]
    fact = Fact("", {}, one.lens, one.twins)
    ours = f"{one.lens}, twins {one.twins.value:.3f}, best possible {one.best.value:.3f}"
    return (BesidePaper("sign guessed from the first digit", "used as a heuristic", ours, fact.p <= THRESHOLDS.level),)


def _figure(subject: Subject, readings: Sequence[Reading]) -> Figure:
    levels = levels_of(subject.last_layer + 1)
    names, x = tuple(f"L{n // 2} {'MLP' if n % 2 else 'heads'}" for n in range(len(levels))), range(len(levels))
    middle = len(readings) // 2
    groups = (("sign", readings[:1]), ("first digits", readings[1:middle]), ("last digits", readings[middle:]))
    series = [
        Series.of_rates(label, Kind.EFFECT, x, [sum((each.own[at] for each in some), Rate(0, 0)) for at in x])
        for label, some in groups
        if some
    ]
    digits = readings[1:]
    nulls = [sum((each.null[at] for each in digits), Rate(0, 0)) for at in x]
    series.append(Series.of_rates("digits, other questions' answers", Kind.NULL, x, nulls))
    return Figure("level of the token's own place", "share read rightly", tuple(series), names)


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
    return ("autoencoder", each.name.rpartition(", ")[2], *shown, "-")


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
