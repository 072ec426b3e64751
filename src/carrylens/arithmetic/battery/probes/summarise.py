"""What `probes` says: where each resolved carry is first present, and how far its probes hold.

Takes  what probes read of every resolved carry.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.residual_states import level_name, levels_of
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.outcome import BesidePaper, Estimate, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.probes.card import CARD
from carrylens.arithmetic.battery.probes.carry_probes import (
    LEAST,
    NO_TRANSFER,
    CarryRead,
    ProbeTransfer,
    RateGrid,
    across,
    pooled_separation,
)
from carrylens.arithmetic.battery.probes.early_readings import EarlyReading
from carrylens.arithmetic.battery.probes.measure import ProbeMeasurements
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

_LAGS = {5: 2, 6: 2, 8: 3}
"""The paper's lags of an addition's top carry, by digits."""
NO_ONSET = "none"
SEPARATION, LAG_ROW = "carry-axis separation", "lag of"
"""How estimates, and what is set beside the paper, begin."""


@dataclass(frozen=True)
class ProbesTold:
    """What the sentence about `probes` is made of."""

    subject: Subject
    found: Sequence[CarryRead]
    verdicts: Sequence[Verdict]
    moved: ProbeTransfer
    early: Sequence[EarlyReading]


def summarise(context: ExperimentContext, measured: ProbeMeasurements) -> Summary:
    """Where each resolved carry is first present, and how far its probes hold."""
    subject, settings = context.subject, context.settings
    found, early = measured.found, measured.early
    verdicts = [_verdict(carry) for carry in found]
    branches = branches_of(subject.operation)
    moved = {branch: across([c for c in found if c.branch is branch]) for branch in branches}
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(verdicts),
        says="",
        facts=(
            *_transfer_facts(found, moved, settings),
            *(fact for reading in early for fact in reading.facts(settings)),
            *(fact for carry in found for fact in _facts(carry, settings)),
        ),
        estimates=(*_separations(subject, found), *(carry.lag for carry in found)),
        figure=_figure(subject, found) if found else None,
        headers=(
            "carry",
            "onset",
            "level",
            "lag after D'0",
            "reader",
            "at the reader, shuffled, twin",
            "deeper",
            "deeper, shuffled",
            "interval of the lag",
        ),
        rows=tuple(_row(subject, carry) for carry in found),
        beside_paper=_beside(subject, found),
    )
    return Summary(outcome, ProbesTold(subject, found, verdicts, sum(moved.values(), NO_TRANSFER), early))


def _verdict(carry: CarryRead) -> Verdict:
    if carry.onset is None:
        return Verdict.REFUTED if max(rate.interval[1] for rate in carry.rates[-1]) < LEAST else Verdict.INCONCLUSIVE
    return Verdict.SUPPORTED if carry.onset[0] == len(carry.places) - 1 else Verdict.REFUTED


def _facts(carry: CarryRead, settings: BatterySettings) -> list[Fact]:
    stimuli, facts = _stimuli(carry, settings), []
    for place, row in enumerate(carry.rates):
        for level, rate in enumerate(row):
            about = {"carry": carry.name, "position": carry.places[place], "level": level}
            for null, other in (("shuffled labels", carry.shuffled), ("untrained twin", carry.twin)):
                fact = Fact(f"battery {CARD.name}", {**about, "null": null}, rate, other[place][level], stimuli)
                facts.append(fact)
    return facts


def _transfer_facts(
    found: Sequence[CarryRead], moved: Mapping[Branch, ProbeTransfer], settings: BatterySettings
) -> list[Fact]:
    facts = []
    for branch, each in moved.items():
        about = {"transfer": "to another column's reader", "branch": branch.value}
        mine = [carry for carry in found if carry.branch is branch]
        if each.effect.n:
            facts += _beside_nulls({"probe": "of another column's reader", **about}, each, _stimuli(mine[0], settings))
    for carry in found:
        about = {"transfer": "from depths 0 and 1 to greater ones", "carry": carry.name}
        if carry.deeper.effect.n:
            facts += _beside_nulls(about, carry.deeper, _stimuli(carry, settings))
    return facts


def _beside_nulls(about: Mapping[str, object], each: ProbeTransfer, stimuli: Mapping[str, object]) -> list[Fact]:
    # `probe` stands in one of the two, so that adding up such facts never counts a question twice.
    other = {key: value for key, value in about.items() if key != "probe"}
    return [
        Fact(f"battery {CARD.name}", {**about, "null": "shuffled labels"}, each.effect, each.shuffled, stimuli),
        Fact(f"battery {CARD.name}", {**other, "null": "untrained twin"}, each.effect, each.twin, stimuli),
    ]


def _stimuli(carry: CarryRead, settings: BatterySettings) -> dict[str, object]:
    return {"n": carry.rates[0][0].n, "n_train": settings.n_train, "seed": settings.seed}


def _separations(subject: Subject, found: Sequence[CarryRead]) -> list[Estimate]:
    # One for each branch of a model of so many digits, and those of its columns.
    estimates = []
    for branch in dict.fromkeys(carry.branch for carry in found):
        mine = [carry for carry in found if carry.branch is branch]
        name = f"{SEPARATION} at {subject.digits} digits, {branch.value}"
        estimates.append(pooled_separation(name, mine))
        estimates += [pooled_separation(f"separation of {carry.name}", [carry]) for carry in mine]
    return estimates


def _beside(subject: Subject, found: Sequence[CarryRead]) -> tuple[BesidePaper, ...]:
    top = [c for c in found if c.column == c.branch.top(subject.digits) - 1 and c.branch is found[0].branch]
    if not top:
        return ()
    (carry,) = top
    adds = carry.branch is Branch.ADD
    rows = []
    if carry.onset is not None:
        lag, paper = carry.lag, _LAGS.get(subject.digits) if subject.operation is Operation.ADD else None
        reader = subject.predicting(carry.column + 1) - subject.position("D'0")
        ours = f"{_tokens(lag.value)} [{lag.low:.0f}, {lag.high:.0f}]"
        shown = "2 tokens (d5, d6), 3 (d8)" if adds else "given for addition's carry only"
        # Beyond the place that reads it, no onset is looked for: a longer lag cannot be met.
        agrees = None if paper is None or paper > reader else lag.low <= paper <= lag.high
        rows.append(BesidePaper(f"{LAG_ROW} {carry.name} after D'0", shown, ours, agrees))
    each = _separations(subject, [c for c in found if c.branch is carry.branch])[0]
    ours = f"{each.value:.1f} [{each.low:.1f}, {each.high:.1f}], untrained twin {each.null:.1f}"
    shown = "32.3/28.5/5.3/6.1/6.0 (d5/6/8/10/13), addition, in units not stated"
    return (*rows, BesidePaper(each.name, shown, ours, None))


def _tokens(n: float) -> str:
    return f"{n:.0f} token" if n == 1 else f"{n:.0f} tokens"


def _figure(subject: Subject, found: Sequence[CarryRead]) -> Figure:
    names = tuple(carry.name for carry in found)
    x = range(len(found))

    def best(rows: RateGrid, place: int) -> Rate:
        return max(rows[place], key=lambda rate: rate.value)

    return Figure(
        "resolved carry",
        "share read rightly by the best level",
        (
            Series.of_rates("at the place that reads it", SeriesKind.EFFECT, x, [best(c.rates, -1) for c in found]),
            Series.of_rates("one place before", SeriesKind.RIVAL, x, [best(c.rates, -2) for c in found]),
            Series.of_rates(
                f"at {subject.place(found[0].places[1])}", SeriesKind.RIVAL, x, [best(c.rates, 1) for c in found]
            ),
            Series.of_rates("null: shuffled labels", SeriesKind.NULL, x, [best(c.shuffled, -1) for c in found]),
            Series.of_rates("null: untrained twin", SeriesKind.NULL, x, [best(c.twin, -1) for c in found]),
        ),
        names,
    )


def _row(subject: Subject, carry: CarryRead) -> tuple[str, ...]:
    levels, best = levels_of(subject.last_layer + 1), carry.reader.level
    at_reader = ", ".join(f"{rows[-1][best].value:.2f}" for rows in (carry.rates, carry.shuffled, carry.twin))
    onset = (NO_ONSET, "-", "-")
    if carry.onset is not None:
        place, level = carry.onset
        onset = (subject.place(carry.places[place]), level_name(levels[level]), str(place))
    effect, null = (f"{rate.hits}/{rate.n}" if rate.n else "-" for rate in (carry.deeper.effect, carry.deeper.shuffled))
    interval = f"[{carry.lag.low:.0f}, {carry.lag.high:.0f}]"
    return (carry.name, *onset, subject.place(carry.places[-1]), at_reader, effect, null, interval)
