"""The whole algorithm: what a model answers when many variables are moved at once, and whether a rival knows better.

Takes  a subject.
Gives  interchange accuracy of the complete causal model and of every rival, on the same interventions; scrubbing.
Never  counts an intervention by which the account must change nothing, or must merely copy a source's digits.

1. Sites have the nodes that the map claims; without a map, all nodes of their places. For ours and for every rival,
   find what each site holds (`alignment.py`), on questions of their own.
2. Propose rows: two or three sites drawn for each row alone, each site with a source of its own, unrelated to the base.
   Ours and every rival predict all of them; no model is asked for that. The first part of the rows is run as it comes.
3. An account is right about a row if it predicts every token of the answer. A row counts if a predicted token is
   neither the base's nor a source's: a site that holds all a digit needs would be right by copying. Null: the account's
   labels moved round one column.
4. Duels, on rows where ours and a rival's predictions differ: those of the first part, and, where they are few, further
   proposals are run until there are enough. At most one of the two is right about such a row, so rows in which one is
   are counted by a sign test, exact and one-sided, with Holm over the rivals. A rival that hardly any proposal tells
   from ours is not tested, and one that none tells from it is, on these sites, the same account: then nothing shows
   that ours is better, and the verdict is open, however well ours predicts.
5. Scrub: swap all sites at once, each from a source that agrees with the base in what the site is said to hold, by
   ours and by each rival. The answer must stay. Null: sources that agree in nothing but the operator, of which these
   labels do not speak.
6. Where there is a map, scrub the circuit it claims (`scrubbing.py`), its labels being the map's own, beside random
   roles of the same size. In mixed models the operator is one of the labels, and then, once more, held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.battery.alignment import (
    Aligned,
    Group,
    Site,
    Tokens,
    align,
    predict_each,
    random_interventions,
)
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.scrubbing import (
    Claimed,
    Kept,
    Scrubbed,
    agreeing,
    claimed_circuit,
    claimed_sites,
    freedom,
    scrub_claimed,
    stays,
)
from carrylens.arithmetic.battery.subject import Settings
from carrylens.arithmetic.battery.weighing import overall, weigh
from carrylens.arithmetic.hypotheses import rivals_of
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.interchange import answer_tokens
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

CARD = Card(
    name="whole-algorithm",
    title="The whole algorithm, many variables moved at once",
    question="Does the complete causal model say what the model answers when several of its variables take other "
    "questions' values, and does it say so better than every rival?",
    method=(
        "Sites have the nodes that the map claims, or all of their places where there is no map.",
        "Ours and each rival choose what every site holds on questions of their own.",
        "Two or three sites, drawn for each row alone, take the values of sources unrelated to the base.",
        "An account is right about a row if it predicts the whole answer; rows that merely copy a source do not count.",
        "Null: its labels moved round one column.",
        "Duels on rows where two accounts differ, searched for among many proposals: a sign test of the rows in which "
        "one of them is right, Holm over the rivals.",
        "Scrubbing: all sites at once take values of sources that agree in what each is said to hold.",
        "The map's circuit is scrubbed with the map's labels; null: random roles of the same size.",
        "In mixed models the operator is one of these labels: sites that the map does not say carry it take sources "
        "with the other one; then once more the base's in all sources.",
    ),
    refuted_if="a rival is surely right more often on the rows where they differ. If the account is wrong about most "
    "rows and no rival knows better, it stays open: the variables may not be divided among these sites. It stays open "
    "too if hardly any row tells a rival from it: then it may be right, but is not shown to be better.",
    paper="no such figure: the account rests on one variable at a time",
    where="Table of analysis techniques",
)
_ROWS = 32  # for each draw of the settings
_PROPOSED = 16  # rows are proposed for each that is run as it comes
_BOOTSTRAPS = 500
_UNANSWERED = "The model answers fewer than half of the questions, so there is nothing to explain."
_BY_MAP = "left to right, as the map says"


@dataclass(frozen=True, eq=False)
class _Rows:
    """What the model answered in every row that was run, and what each account predicts.

    `plain` is the base's right answer, `copied` those of the sources, -1 where a slot is not used: [slot, row, token].
    The first `n_first` rows are those that were run as they came. `duels` has for each rival the rows that tell it
    from ours, and `told` how many of the `n_proposed` do.
    """

    given: Tokens
    plain: Tokens
    copied: Tokens
    predicted: Mapping[str, Tokens]
    permuted: Tokens
    answered: Rate
    n_first: int
    n_proposed: int
    duels: Mapping[str, NDArray[np.int64]]
    told: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class WholeMeasurements:
    """What every row of interventions gave, and which answers stay when sites are scrubbed.

    `accounts` has ours first; `scrubbed` is empty where the model answers no question, `circuits` where there is no
    map.
    """

    accounts: tuple[Aligned, ...]
    sites: tuple[Site, ...]
    claimed: Claimed | None
    rows: _Rows
    scrubbed: tuple[Fact, ...]
    circuits: tuple[Scrubbed, ...]

    @property
    def ours(self) -> str:
        """The name of our own hypothesis."""
        return self.accounts[0].model.name

    @property
    def rivals(self) -> list[str]:
        """The names of the others."""
        return [each.model.name for each in self.accounts[1:]]


def measure(context: ExperimentContext) -> WholeMeasurements:
    """Align every hypothesis, run the interventions, scrub all sites and the map's circuit."""
    subject, settings = context.subject, context.settings
    ours = algorithm(subject.operation, subject.digits)
    models = [ours, *(rival.model for rival in rivals_of(subject.operation, subject.digits))]
    sites = claimed_sites(subject)
    context.watch(CARD.title, 0, 4)
    accounts = align(subject, models, sites, settings.n_pairs, settings.seed_of(CARD.name, "align"))
    context.watch(CARD.title, 1, 4)
    claimed = claimed_circuit(subject, ours)
    rows = _ask(context, accounts, sites, claimed)
    context.watch(CARD.title, 2, 4)
    base = _answered(context)
    scrubbed = _scrub(context, accounts, base) if len(base) else []
    context.watch(CARD.title, 3, 4)
    circuits = []
    if claimed is not None and len(base):
        at_stake = [True, False] if subject.operation is Operation.MIX else [False]
        circuits = [scrub_claimed(context, ours, claimed, base, turn=turn) for turn in at_stake]
    return WholeMeasurements(tuple(accounts), tuple(sites), claimed, rows, tuple(scrubbed), tuple(circuits))


def summarise(context: ExperimentContext, measured: WholeMeasurements) -> Outcome:
    """How often each hypothesis predicts the answer, how each pair of them is told apart, and what scrubbing keeps."""
    settings, rows, circuits = context.settings, measured.rows, measured.circuits
    stimuli = {"n": rows.n_first, "seed": settings.seed}
    main = _accuracy(rows, measured.ours, stimuli)
    rest = [_accuracy(rows, name, stimuli) for name in measured.rivals]
    duels = [_duel(rows, measured.ours, name, settings) for name in measured.rivals]
    by_map = [_accuracy(rows, _BY_MAP, stimuli)] if _BY_MAP in rows.predicted else []
    answers, scrubbed = rows.answered.value >= 0.5, measured.scrubbed
    labels = measured.accounts[0].labels
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=_verdict(main, duels) if answers else Verdict.UNTESTED,
        says=_says(main, duels, scrubbed, circuits) if answers else _UNANSWERED,
        facts=(main, *rest, *duels, *by_map, *_circuit_facts(circuits, settings), *scrubbed[1:], *scrubbed[:1]),
        estimates=tuple(each for one in circuits for each in _explained(one, _how(one, circuits), settings)),
        figure=_figure(main, rest),
        headers=("site", "holds", "by the map"),
        rows=tuple((site.name, _text(labels[site]), _mapped(site, measured.claimed)) for site in measured.sites),
        beside_paper=(BesidePaper("whole answers predicted", "not reported", str(main.effect), None),),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def _ask(
    context: ExperimentContext, accounts: Sequence[Aligned], sites: Sequence[Site], claimed: Claimed | None
) -> _Rows:
    subject, settings = context.subject, context.settings
    n_first, ours = _ROWS * settings.n_draws, accounts[0]
    seed = settings.seed_of(CARD.name, "test")
    proposed = random_interventions(subject.operation, sites, subject.digits, _PROPOSED * n_first, seed)
    predicted = {account.model.name: predict_each(account.model, account.labels, proposed) for account in accounts}
    told = {
        account.model.name: np.flatnonzero((predicted[ours.model.name] != predicted[account.model.name]).any(1))
        for account in accounts[1:]
    }
    # Whoever differs in few of the first rows gets more, up to a number that does not depend on who is right in them.
    fought = {name: rows[: max(int((rows < n_first).sum()), settings.n_pairs)] for name, rows in told.items()}
    kept = np.unique(np.concatenate([np.arange(n_first), *fought.values()]))
    asked = proposed[kept]
    outcomes = subject.engine.run_each(asked.edits, asked.base, asked.sources)
    predicted = {name: tokens[kept] for name, tokens in predicted.items()}
    if claimed is not None:
        predicted[_BY_MAP] = predict_each(ours.model, _map_labels(sites, claimed), asked)
    right = (outcomes.clean_tokens == outcomes.right).all(1)[:n_first]
    return _Rows(
        given=outcomes.tokens,
        plain=answer_tokens(asked.base),
        copied=asked.copied,
        predicted=predicted,
        permuted=predict_each(ours.model, _moved_round(ours, sites), asked),
        answered=_rate(right),
        n_first=n_first,
        n_proposed=len(proposed),
        duels={name: np.searchsorted(kept, rows) for name, rows in fought.items()},
        told={name: len(rows) for name, rows in told.items()},
    )


def _moved_round(account: Aligned, sites: Sequence[Site]) -> dict[Site, Group]:
    # Every variable of a column is taken for that of the next column, the top one's for the units'.
    model = account.model

    def turned(label: Group) -> Group:
        moved = [type(v)(v.name, None if v.digit is None else (v.digit + 1) % model.digits) for v in label]
        return tuple(v for v in moved if v in model.by_variable or v in model.inputs)

    return {site: turned(account.labels[site]) for site in sites}


def _accuracy(rows: _Rows, name: str, stimuli: Mapping[str, object]) -> Fact:
    predicted = rows.predicted[name]
    told = ((predicted != rows.plain) & (predicted != rows.copied).all(0)).any(1)
    told[rows.n_first :] = False
    hits, by_chance = ((side == rows.given).all(1)[told] for side in (predicted, rows.permuted))
    about = {"account": name, "null": "labels moved round one column"}
    return Fact(f"battery {CARD.name}", about, _rate(hits), _rate(by_chance), stimuli)


def _duel(rows: _Rows, ours: str, theirs: str, settings: Settings) -> Fact:
    # Effect and null are counted on the same rows, and at most one of them is right in each.
    fought = rows.duels[theirs]
    hits, their_hits = (_rate((rows.predicted[name] == rows.given).all(1)[fought]) for name in (ours, theirs))
    about = {"duel": ours, "against": theirs, "told": rows.told[theirs], "proposed": rows.n_proposed}
    return Fact(f"battery {CARD.name}", about, hits, their_hits, {"n": len(fought), "seed": settings.seed})


def _answered(context: ExperimentContext) -> Questions:
    subject, settings = context.subject, context.settings
    stream = Stream(
        StreamKind.ENRICHED,
        subject.operation,
        subject.digits,
        settings.seed_of(CARD.name, "scrub"),
    )
    drawn = stream.take(0, settings.n_questions)
    return drawn[subject.right(drawn)]


def _scrub(context: ExperimentContext, accounts: Sequence[Aligned], base: Questions) -> list[Fact]:
    # All accounts speak of the same sites, so they have one floor.
    subject, settings = context.subject, context.settings
    sites = list(accounts[0].labels)
    foreign = agreeing(accounts[0].model, [()] * len(sites), base, settings.seed_of(CARD.name, "foreign"))
    lost = _rate(stays(subject, sites, base, foreign))
    facts = []
    for account in accounts:
        seed = settings.seed_of(CARD.name, "pool", account.model.name)
        sources = agreeing(account.model, [account.labels[site] for site in sites], base, seed)
        kept = _rate(stays(subject, sites, base, sources))
        about = {"scrubbed": len(sites), "account": account.model.name, "freed": round(freedom(base, sources), 3)}
        about["null"] = "sources that agree in the operator alone"
        facts.append(Fact(f"battery {CARD.name}", about, kept, lost, {"n": len(base), "seed": settings.seed}))
    return facts


def _circuit_facts(circuits: Sequence[Scrubbed], settings: Settings) -> list[Fact]:
    found = []
    for circuit in circuits:
        about = {"claimed": len(circuit.claimed.labels), "freed": round(circuit.freed, 3)}
        if len(circuits) > 1:
            about |= {"other operator": circuit.turned, "sources": circuit.n_sources}
        how = _how(circuit, circuits)
        measured = (
            ("computes on", "random roles of the same size", circuit.computing, circuit.random_computing),
            ("is resampled", "random roles of the same size", circuit.resampled, circuit.random_resampled),
            ("computes on", "sources that agree in nothing", circuit.computing, circuit.floor),
        )
        stimuli = {"n": len(circuit.floor), "seed": settings.seed}
        for rest, null, kept, lost in measured:
            told = {**about, "rest": rest + how, "null": null + how}
            found.append(Fact(f"battery {CARD.name}", told, _rate(kept), _rate(lost), stimuli))
    return found


def _how(circuit: Scrubbed, circuits: Sequence[Scrubbed]) -> str:
    return "" if circuit is circuits[0] else ", the base's operator in all sources"


def _explained(circuit: Scrubbed, how: str, settings: Settings) -> tuple[Estimate, ...]:
    # The share of the way from the floor to all answers right, questions drawn again for the interval.
    n = len(circuit.floor)
    picks = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap")).integers(0, n, (_BOOTSTRAPS, n))

    def explained(kept: Kept) -> tuple[float, float, float]:
        floor = circuit.floor[picks].mean(1)
        shares = (kept[picks].mean(1) - floor) / np.maximum(1 - floor, 1 / n)
        low, high = np.quantile(shares, (0.025, 0.975))
        value = (kept.mean() - circuit.floor.mean()) / max(1 - circuit.floor.mean(), 1 / n)
        return float(value), float(low), float(high)

    what, named = (
        "share of behaviour that the map's circuit explains",
        (
            ("nodes without a role compute on", circuit.computing, circuit.random_computing),
            ("nodes without a role resampled", circuit.resampled, circuit.random_resampled),
        ),
    )
    return tuple(
        Estimate(f"{what}, {name}{how}", *explained(kept), *explained(null), n=n) for name, kept, null in named
    )


def _verdict(main: Fact, duels: Sequence[Fact]) -> Verdict:
    # A low accuracy may come of variables that these sites do not divide; only a rival that knows better refutes.
    found = weigh([main])[0]
    first = Verdict.INCONCLUSIVE if found is Verdict.REFUTED else found
    return overall([first, *judge_duels(duels)])


def judge_duels(duels: Sequence[Fact]) -> list[Verdict]:
    """Whether our account beats each rival: REFUTED where the rival wins, UNTESTED where too few rows tell them apart.

    Both count the same rows and never both a hit, so the rows in which one is right are tossed coins if neither is
    better: a sign test, corrected by Holm over the rivals that were tested.

    >>> from carrylens.evidence.rates import Rate
    >>> of = lambda ours, theirs, n: Fact("duel", {}, Rate(ours, n), Rate(theirs, n))
    >>> [verdict.value for verdict in judge_duels([of(30, 5, 40), of(9, 8, 40), of(0, 0, 0)])]
    ['SUPPORTED', 'INCONCLUSIVE', 'UNTESTED']
    """
    tested = [duel for duel in duels if is_fought(duel)]
    won = iter(holm([_sign_p(duel.effect.hits, duel.null.hits) for duel in tested]))
    lost = iter(holm([_sign_p(duel.null.hits, duel.effect.hits) for duel in tested]))
    return [_duel_verdict(next(won), next(lost)) if is_fought(duel) else Verdict.UNTESTED for duel in duels]


def is_fought(duel: Fact) -> bool:
    """Whether enough rows tell the rival from our account for either to win."""
    return duel.effect.n >= THRESHOLDS.least_searched


def _sign_p(hits: int, misses: int) -> float:
    # The chance of at least so many hits among rows in which one of two is right, if both are as often.
    return float(binom.sf(hits - 1, hits + misses, 0.5))


def _duel_verdict(won: float, lost: float) -> Verdict:
    if won <= THRESHOLDS.level:
        return Verdict.SUPPORTED
    return Verdict.REFUTED if lost <= THRESHOLDS.level else Verdict.INCONCLUSIVE


def _says(main: Fact, duels: Sequence[Fact], scrubbed: Sequence[Fact], circuits: Sequence[Scrubbed]) -> str:
    return (
        f"With two or three sites moved at once the left-to-right account predicts {main.effect} whole answers, null "
        f"{main.null.value:.3f}; against rivals: {'; '.join(map(_duel_says, duels))}{_open_says(duels)}; with all "
        f"sites scrubbed {scrubbed[0].effect} answers stay, null {scrubbed[0].null.value:.3f}. "
        f"{_circuit_says(circuits)}"
    )


def _duel_says(duel: Fact) -> str:
    name, told, proposed = (duel.about[key] for key in ("against", "told", "proposed"))
    if not told:
        return f"{name} predicts the same in all {proposed} proposed rows: on these sites nothing tells it from ours"
    found = f"{name} {duel.effect.hits} to {duel.null.hits} of {duel.effect.n} told apart"
    return found if is_fought(duel) else f"{found}, all that {proposed} proposed rows had, and too few"


def _open_says(duels: Sequence[Fact]) -> str:
    untested = [str(duel.about["against"]) for duel in duels if not is_fought(duel)]
    return f"; whether ours is better than {' and '.join(untested)} is untested" if untested else ""


def _circuit_says(circuits: Sequence[Scrubbed]) -> str:
    if not circuits:
        return "There is no map, so sites are whole places and no claimed circuit could be scrubbed."
    first, *same_operator = circuits
    said = (
        f"Sites are the nodes that the map claims. Its circuit of {len(first.claimed.labels)} sites, scrubbed by the "
        f"map's own labels, keeps {_rate(first.computing)} answers, {_beside(first)}."
    )
    for circuit in same_operator:
        said += (
            f" The other operator stood in {first.turned} of the {first.n_sources} sources that could tell; with the "
            f"base's in all {circuit.computing.mean():.3f} stay, {_beside(circuit)}."
        )
    return said


def _beside(circuit: Scrubbed) -> str:
    by_chance = (each.mean() for each in (circuit.random_computing, circuit.random_resampled, circuit.floor))
    nulls = "random roles {:.3f} and {:.3f}, no agreement {:.3f}".format(*by_chance)
    return f"{circuit.resampled.mean():.3f} with all other nodes resampled; {nulls}"


def _map_labels(sites: Sequence[Site], claimed: Claimed) -> dict[Site, Group]:
    # A site of the interchanges may have last MLPs too; its label is what the map says of its other nodes.
    by_place = {site.name: label for site, label in claimed.labels.items()}
    return {site: by_place.get(site.name, ()) for site in sites}


def _mapped(site: Site, claimed: Claimed | None) -> str:
    return "-" if claimed is None else _text(_map_labels([site], claimed)[site])


def _figure(main: Fact, rivals: Sequence[Fact]) -> Figure:
    names = tuple(str(fact.about["account"]) for fact in (main, *rivals))
    places = range(1, len(names))
    series = [Series.of_rates("left to right", Kind.EFFECT, [0], [main.effect])]
    if rivals:
        series.append(Series.of_rates("rivals", Kind.RIVAL, places, [fact.effect for fact in rivals]))
    series.append(
        Series.of_rates("null: labels moved round", Kind.NULL, range(len(names)), [f.null for f in (main, *rivals)])
    )
    return Figure("account", "share of whole answers predicted", tuple(series), names)


def _text(label: Group) -> str:
    return ", ".join(map(str, label)) if label else "nothing that is read"


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
