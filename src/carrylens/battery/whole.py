"""The whole algorithm: what a model answers when many variables are moved at once, and whether a rival knows better.

Takes  a subject.
Gives  interchange accuracy of the complete causal model and of every rival, on the same interventions; scrubbing.
Never  counts an intervention by which the account must change nothing, or must merely copy a source's digits.

1. Sites have the nodes that the map claims; without a map, all nodes of their places. For ours and for every rival,
   find what each site holds (`alignment.py`), on questions of their own.
2. Swap two or three sites at random, each from a source of its own, unrelated to the base.
3. An account is right about a row if it predicts every token of the answer. A row counts if a predicted token is
   neither the base's nor a source's: a site that holds all a digit needs would be right by copying. Null: the account's
   labels moved round one column.
4. Duels: of the rows on which ours and a rival's predictions differ, who is right more often?
5. Scrub: swap all sites at once, each from a source that agrees with the base in what the site is said to hold, by
   ours and by each rival. The answer must stay. Null: sources that agree in nothing.
6. Where there is a map, scrub the circuit it claims (`scrubbing.py`), its labels being the map's own, beside random
   roles of the same size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.alignment import Aligned, Group, Moved, Site, Tokens, align, predict, random_pairs
from carrylens.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.battery.scrubbing import (
    Claimed,
    Kept,
    agreeing,
    claimed_circuit,
    claimed_sites,
    freedom,
    put_together,
    random_labels,
    stays,
    stays_both,
)
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.weighing import overall, weigh
from carrylens.discovery.swaps import answer_tokens
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.known import rivals_of
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.hypothesis.verdicts import Verdict
from carrylens.interventions.edits import Edit, swap

CARD = Card(
    name="whole-algorithm",
    title="The whole algorithm, many variables moved at once",
    question="Does the complete causal model say what the model answers when several of its variables take other "
    "questions' values, and does it say so better than every rival?",
    method=(
        "Sites have the nodes that the map claims, or all of their places where there is no map.",
        "Ours and each rival choose what every site holds on questions of their own.",
        "Two or three random sites take the values of sources unrelated to the base.",
        "An account is right about a row if it predicts the whole answer; rows that merely copy a source do not count.",
        "Null: its labels moved round one column.",
        "Duels on the rows where two accounts differ.",
        "Scrubbing: all sites at once take values of sources that agree in what each is said to hold.",
        "The map's circuit is scrubbed with the map's labels; null: random roles of the same size.",
    ),
    refuted_if="a rival is surely right more often on the rows where they differ. If the account is wrong about most "
    "rows and no rival knows better, it stays open: the variables may not be divided among these sites.",
    paper="no such figure: the account rests on one variable at a time",
    where="Table of analysis techniques",
)
_ROWS = 8  # of each combination of sites
_SLOTS = 3
_BOOTSTRAPS = 500
_BY_MAP = "left to right, as the map says"


@dataclass(frozen=True, eq=False)
class _Rows:
    """What the model answered in every row, and what each account predicts.

    `plain` is the base's right answer, `copied` those of the sources, -1 where a slot is not used: [slot, row, token].
    """

    given: Tokens
    plain: Tokens
    copied: Tokens
    predicted: Mapping[str, Tokens]
    permuted: Tokens
    answered: Rate


@dataclass(frozen=True, eq=False)
class _Scrubbed:
    """Which answers stay: the claimed circuit scrubbed while other nodes compute on, or are resampled too; the same
    with random roles; and the floor, sources that agree in nothing but the operator.
    """

    claimed: Claimed
    computing: Kept
    resampled: Kept
    random_computing: Kept
    random_resampled: Kept
    floor: Kept
    freed: float


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    ours = algorithm(subject.operation, subject.digits)
    models = [ours, *(rival.model for rival in rivals_of(subject.operation, subject.digits))]
    sites = claimed_sites(subject)
    watch(CARD.title, 0, 4)
    accounts = align(subject, models, sites, settings.n_pairs, settings.seed_of(CARD.name, "align"))
    watch(CARD.title, 1, 4)
    claimed = claimed_circuit(subject, ours)
    rows = _ask(subject, accounts, sites, claimed, settings)
    watch(CARD.title, 2, 4)
    stimuli = {"n": len(rows.given), "seed": settings.seed}
    main = _accuracy(rows, ours.name, stimuli)
    rest = [_accuracy(rows, model.name, stimuli) for model in models[1:]]
    duels = [_duel(rows, ours.name, model.name, stimuli) for model in models[1:]]
    by_map = [_accuracy(rows, _BY_MAP, stimuli)] if _BY_MAP in rows.predicted else []
    verdict = _verdict(main, duels) if rows.answered.value >= 0.5 else Verdict.UNTESTED
    base = _answered(subject, settings)
    scrubbed = _scrub(subject, accounts, base, settings) if len(base) else []
    watch(CARD.title, 3, 4)
    circuit = _scrub_claimed(subject, ours, claimed, base, settings) if claimed is not None and len(base) else None
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=verdict,
        says=_says(verdict, main, duels, scrubbed, circuit),
        facts=(main, *rest, *duels, *by_map, *_circuit_facts(circuit, settings), *scrubbed[1:], *scrubbed[:1]),
        estimates=() if circuit is None else _explained(circuit, settings),
        figure=_figure(main, rest),
        headers=("site", "holds", "by the map"),
        rows=tuple((site.name, _text(accounts[0].labels[site]), _mapped(site, claimed)) for site in sites),
        beside_paper=(BesidePaper("whole answers predicted", "not reported", str(main.effect), None),),
    )


def _ask(
    subject: Subject, accounts: Sequence[Aligned], sites: Sequence[Site], claimed: Claimed | None, settings: Settings
) -> _Rows:
    n_combos = 4 * settings.n_draws
    base, sources = random_pairs(
        subject.operation, subject.digits, n_combos * _ROWS, _SLOTS, settings.seed_of(CARD.name, "test")
    )
    random = np.random.default_rng(settings.seed_of(CARD.name, "sites"))
    combos = [random.choice(len(sites), random.integers(2, _SLOTS + 1), replace=False) for _ in range(n_combos)]
    edits = [edit for combo in combos for edit in [_edit([sites[at] for at in combo])] * _ROWS]
    outcomes = subject.engine.run_each(edits, base, sources)
    predicted = {
        account.model.name: _predict(account, account.labels, sites, combos, base, sources) for account in accounts
    }
    ours = accounts[0]
    if claimed is not None:
        said = _map_labels(sites, claimed)
        predicted[_BY_MAP] = _predict(ours, said, sites, combos, base, sources)
    permuted = _predict(ours, _moved_round(ours, sites), sites, combos, base, sources)
    right = (outcomes.clean_tokens == outcomes.right).all(1)
    copied = np.stack([answer_tokens(source) for source in sources])
    for number, combo in enumerate(combos):
        copied[len(combo) :, number * _ROWS : (number + 1) * _ROWS] = -1
    answered = Rate(int(right.sum()), len(right))
    return _Rows(outcomes.tokens, answer_tokens(base), copied, predicted, permuted, answered)


def _edit(sites: Sequence[Site]) -> Edit:
    return sum((swap(site.nodes, slot) for slot, site in enumerate(sites)), Edit(()))


def _predict(
    account: Aligned,
    labels: Mapping[Site, Group],
    sites: Sequence[Site],
    combos: Sequence[NDArray[np.int64]],
    base: Questions,
    sources: Sequence[Questions],
) -> Tokens:
    found = []
    for number, combo in enumerate(combos):
        rows = slice(number * _ROWS, (number + 1) * _ROWS)
        moved = [
            Moved(sites[at], labels[sites[at]], account.model.run(sources[slot][rows])) for slot, at in enumerate(combo)
        ]
        found.append(predict(account.model, base[rows], account.model.run(base[rows]), moved))
    return np.concatenate(found)


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
    hits, by_chance = ((side == rows.given).all(1)[told] for side in (predicted, rows.permuted))
    about = {"account": name, "null": "labels moved round one column"}
    return Fact(f"battery {CARD.name}", about, _rate(hits), _rate(by_chance), stimuli)


def _duel(rows: _Rows, ours: str, theirs: str, stimuli: Mapping[str, object]) -> Fact:
    one, other = rows.predicted[ours], rows.predicted[theirs]
    told = (one != other).any(1)
    hits, their_hits = ((side == rows.given).all(1)[told] for side in (one, other))
    return Fact(f"battery {CARD.name}", {"duel": ours, "against": theirs}, _rate(hits), _rate(their_hits), stimuli)


def _answered(subject: Subject, settings: Settings) -> Questions:
    stream = Stream(StreamKind.ENRICHED, subject.operation, subject.digits, settings.seed_of(CARD.name, "scrub"))
    drawn = stream.take(0, settings.n_questions)
    return drawn[subject.right(drawn)]


def _scrub(subject: Subject, accounts: Sequence[Aligned], base: Questions, settings: Settings) -> list[Fact]:
    # All accounts speak of the same sites, so they have one floor.
    sites = list(accounts[0].labels)
    lost = _rate(stays(subject, sites, base, _foreign(accounts[0].model, len(sites), base, settings)))
    facts = []
    for account in accounts:
        seed = settings.seed_of(CARD.name, "pool", account.model.name)
        sources = agreeing(account.model, [account.labels[site] for site in sites], base, seed)
        kept = _rate(stays(subject, sites, base, sources))
        about = {"scrubbed": len(sites), "account": account.model.name, "freed": round(freedom(base, sources), 3)}
        about["null"] = "sources that agree in the operator alone"
        facts.append(Fact(f"battery {CARD.name}", about, kept, lost, {"n": len(base), "seed": settings.seed}))
    return facts


def _foreign(model: CausalModel, count: int, base: Questions, settings: Settings) -> list[Questions]:
    return agreeing(model, [()] * count, base, settings.seed_of(CARD.name, "foreign"))


def _scrub_claimed(
    subject: Subject, model: CausalModel, claimed: Claimed, base: Questions, settings: Settings
) -> _Scrubbed:
    sites = list(claimed.labels)
    foreign = _foreign(model, len(sites) + 1, base, settings)
    sources = agreeing(model, list(claimed.labels.values()), base, settings.seed_of(CARD.name, "claimed"))
    random, by_chance = np.random.default_rng(settings.seed_of(CARD.name, "random roles")), []
    for draw in range(min(settings.n_draws, len(base))):  # another assignment for every so many questions
        rows = np.arange(len(base)) % settings.n_draws == draw
        labels = random_labels(claimed, random)
        by_chance.append((rows, agreeing(model, labels, base[rows], int(random.integers(2**31)))))
    scrubbed = stays_both(subject, claimed, base, sources, foreign[-1])
    shuffled = stays_both(subject, claimed, base, put_together(by_chance, base), foreign[-1])
    return _Scrubbed(
        claimed,
        *(scrubbed[0], scrubbed[1], shuffled[0], shuffled[1]),
        floor=stays(subject, sites, base, foreign[:-1]),
        freed=freedom(base, sources),
    )


def _circuit_facts(circuit: _Scrubbed | None, settings: Settings) -> list[Fact]:
    if circuit is None:
        return []
    stimuli = {"n": len(circuit.floor), "seed": settings.seed}
    about = {"claimed": len(circuit.claimed.labels), "freed": round(circuit.freed, 3)}
    measured = (
        ("computes on", "random roles of the same size", circuit.computing, circuit.random_computing),
        ("is resampled", "random roles of the same size", circuit.resampled, circuit.random_resampled),
        ("computes on", "sources that agree in the operator alone", circuit.computing, circuit.floor),
    )
    return [
        Fact(f"battery {CARD.name}", {**about, "rest": rest, "null": null}, _rate(kept), _rate(by_chance), stimuli)
        for rest, null, kept, by_chance in measured
    ]


def _explained(circuit: _Scrubbed, settings: Settings) -> tuple[Estimate, ...]:
    # The share of the way from the floor to all answers right, questions drawn again for the interval.
    n = len(circuit.floor)
    picks = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap")).integers(0, n, (_BOOTSTRAPS, n))

    def explained(kept: Kept) -> tuple[float, float, float]:
        floor = circuit.floor[picks].mean(1)
        shares = (kept[picks].mean(1) - floor) / np.maximum(1 - floor, 1 / n)
        low, high = np.quantile(shares, (0.025, 0.975))
        value = (kept.mean() - circuit.floor.mean()) / max(1 - circuit.floor.mean(), 1 / n)
        return float(value), float(low), float(high)

    named = (
        ("nodes without a role compute on", circuit.computing, circuit.random_computing),
        ("nodes without a role resampled", circuit.resampled, circuit.random_resampled),
    )
    return tuple(
        Estimate(f"share of behaviour that the map's circuit explains, {name}", *explained(kept), *explained(null), n=n)
        for name, kept, null in named
    )


def _verdict(main: Fact, duels: Sequence[Fact]) -> Verdict:
    # A low accuracy may come of variables that these sites do not divide; only a rival that knows better refutes.
    found = weigh([main])[0]
    first = Verdict.INCONCLUSIVE if found is Verdict.REFUTED else found
    return overall([first, *judge_duels(duels)])


def judge_duels(duels: Sequence[Fact]) -> list[Verdict]:
    """Whether our account beats each rival that can be told from it; REFUTED where the rival wins."""
    verdicts = []
    for duel in duels:
        if not duel.effect.n:
            continue  # nothing tells them apart: the rival says the same
        if duel.p <= THRESHOLDS.level:
            verdicts.append(Verdict.SUPPORTED)
        else:
            lost = Fact(duel.kind, duel.about, duel.null, duel.effect).p <= THRESHOLDS.level
            verdicts.append(Verdict.REFUTED if lost else Verdict.INCONCLUSIVE)
    return verdicts


def _says(
    verdict: Verdict, main: Fact, duels: Sequence[Fact], scrubbed: Sequence[Fact], circuit: _Scrubbed | None
) -> str:
    if verdict is Verdict.UNTESTED:
        return "The model answers fewer than half of the questions, so there is nothing to explain."
    against = [
        f"{duel.about['against']} {duel.effect.hits} to {duel.null.hits} of {duel.effect.n} told apart"
        if duel.effect.n
        else f"{duel.about['against']} says the same"
        for duel in duels
    ]
    return (
        f"With two or three sites moved at once the left-to-right account predicts {main.effect} whole answers, null "
        f"{main.null.value:.3f}; against rivals: {'; '.join(against)}; with all sites scrubbed {scrubbed[0].effect} "
        f"answers stay, null {scrubbed[0].null.value:.3f}. {_circuit_says(circuit)}"
    )


def _circuit_says(circuit: _Scrubbed | None) -> str:
    if circuit is None:
        return "There is no map, so sites are whole places and no claimed circuit could be scrubbed."
    by_chance = (each.mean() for each in (circuit.random_computing, circuit.random_resampled, circuit.floor))
    return (
        f"Sites are the nodes that the map claims. Its circuit of {len(circuit.claimed.labels)} sites, scrubbed by the "
        f"map's own labels, keeps {_rate(circuit.computing)} answers, {circuit.resampled.mean():.3f} with all other "
        f"nodes resampled; {'random roles {:.3f} and {:.3f}, no agreement {:.3f}'.format(*by_chance)}."
    )


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
