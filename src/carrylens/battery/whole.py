"""The whole algorithm: what a model answers when many variables are moved at once, and whether a rival knows better.

Takes  a subject.
Gives  interchange accuracy of the complete causal model and of every rival, on the same interventions; scrubbing.
Never  counts an intervention by which the account must change nothing, or must merely copy a source's digits.

1. For ours and for every rival, find what each site holds (`alignment.py`), on questions of their own.
2. Swap two or three sites at random, each from a source of its own, unrelated to the base.
3. An account is right about a row if it predicts every token of the answer. A row counts if a predicted token is
   neither the base's nor a source's: a site that holds all a digit needs would be right by copying. Null: the account's
   labels moved round one column.
4. Duels: of the rows on which ours and a rival's predictions differ, who is right more often?
5. Scrub: swap all sites at once, each from a source that agrees with the base in what the site is said to hold. The
   answer must stay. Null: sources that agree in nothing.
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
from carrylens.battery.alignment import Aligned, Group, Moved, Site, Tokens, align, predict, random_pairs, sites_of
from carrylens.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
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
        "Ours and each rival choose what every site holds on questions of their own.",
        "Two or three random sites take the values of sources unrelated to the base.",
        "An account is right about a row if it predicts the whole answer; rows that merely copy a source do not count.",
        "Null: its labels moved round one column.",
        "Duels on the rows where two accounts differ.",
        "Scrubbing: all sites at once take values of sources that agree in what each is said to hold.",
    ),
    refuted_if="a rival is surely right more often on the rows where they differ. If the account is wrong about most "
    "rows and no rival knows better, it stays open: the variables may not be divided among these sites.",
    paper="no such figure: the account rests on one variable at a time",
    where="Table of analysis techniques",
)
_ROWS = 8  # of each combination of sites
_SLOTS = 3
_POOL = 4096


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


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    ours = algorithm(subject.operation, subject.digits)
    models = [ours, *(rival.model for rival in rivals_of(subject.operation, subject.digits))]
    sites = sites_of(subject)
    watch(CARD.title, 0, 3)
    accounts = align(subject, models, sites, settings.n_pairs, settings.seed_of(CARD.name, "align"))
    watch(CARD.title, 1, 3)
    rows = _ask(subject, accounts, sites, settings)
    watch(CARD.title, 2, 3)
    stimuli = {"n": len(rows.given), "seed": settings.seed}
    main = _accuracy(rows, ours.name, stimuli)
    rest = [_accuracy(rows, model.name, stimuli) for model in models[1:]]
    duels = [_duel(rows, ours.name, model.name, stimuli) for model in models[1:]]
    scrubbed = _scrub(subject, accounts[0], settings)
    verdict = _verdict(main, duels) if rows.answered.value >= 0.5 else Verdict.UNTESTED
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=verdict,
        says=_says(verdict, main, duels, scrubbed),
        facts=(main, *rest, *duels, scrubbed),
        figure=_figure(main, rest),
        headers=("site", "holds"),
        rows=tuple((site.name, _text(accounts[0].labels[site])) for site in sites),
        beside_paper=(BesidePaper("whole answers predicted", "not reported", str(main.effect), None),),
    )


def _ask(subject: Subject, accounts: Sequence[Aligned], sites: Sequence[Site], settings: Settings) -> _Rows:
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


def _scrub(subject: Subject, account: Aligned, settings: Settings) -> Fact:
    sites, model = list(account.labels), account.model
    base = Stream(StreamKind.ENRICHED, subject.operation, subject.digits, settings.seed_of(CARD.name, "scrub")).take(
        0, settings.n_questions
    )
    pool = Stream(StreamKind.ENRICHED, subject.operation, subject.digits, settings.seed_of(CARD.name, "pool")).take(
        0, _POOL
    )
    random = np.random.default_rng(settings.seed_of(CARD.name, "pick"))
    agreeing = [_agreeing(model, account.labels[site], base, pool, random) for site in sites]
    foreign = [_agreeing(model, (), base, pool, random) for _ in sites]
    edit = _edit(sites)
    kept, lost = (~subject.engine.run([edit], base, sources).failed[0] for sources in (agreeing, foreign))
    about = {"scrubbed": len(sites), "account": model.name, "null": "sources that agree in the operator alone"}
    return Fact(f"battery {CARD.name}", about, _rate(kept), _rate(lost), {"n": len(base), "seed": settings.seed})


def _agreeing(
    model: CausalModel, label: Group, base: Questions, pool: Questions, random: np.random.Generator
) -> Questions:
    # For each base a question of the pool with the same operator and the same values of the label; itself if none is.
    keys = []
    for some in (base, pool):
        values = model.run(some)
        keys.append(
            [row.tobytes() for row in np.stack([some.minus.astype(np.int8), *(values[v] for v in label)], axis=1)]
        )
    by_key: dict[bytes, list[int]] = {}
    for at, key in enumerate(keys[1]):
        by_key.setdefault(key, []).append(at)
    first, second = np.array(base.first), np.array(base.second)
    for row, key in enumerate(keys[0]):
        if key in by_key:
            pick = int(random.choice(by_key[key]))
            first[row], second[row] = pool.first[pick], pool.second[pick]
    return Questions(first, second, base.minus)


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


def _says(verdict: Verdict, main: Fact, duels: Sequence[Fact], scrubbed: Fact) -> str:
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
        f"{main.null.value:.3f}; against rivals: {'; '.join(against)}; with all sites scrubbed {scrubbed.effect} "
        f"answers stay, null {scrubbed.null.value:.3f}."
    )


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
