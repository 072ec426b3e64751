"""The verdict on a model: does it run the algorithm, how much of it, and how sure are we?

Takes  a measured alignment with its rivals: saved rates, no weights.
Gives  `RunJudgement`: the verdict with all that it rests on, what deviates, how rivals stand, what is open.
Never  says `runs` of a model that one of three things speaks against: carriers, the joint test, deviations and rivals.

1. Carriers: every required variable has a site at which it moves the outputs as the algorithm says, with a lower bound
   of at least LEAST, and at which other questions with the same value move nothing, up to MOST_NULL.
2. Jointly: the lower bounds of interchange and of scrubbing are at least LEAST.
3. No part of the questions surely fails, and every rival is surely worse.

`runs` if all of that holds. `does not run` if the model surely gives other answers than the algorithm; or if it surely
falls short where a rival that excludes it surely does not; or if joint interchange surely fails more often than not and
no variable of a whole required family has a site that could carry half of its moves. `runs in part` if something surely
falls short. Else `not settled`. That one carrier was not found does not show that there is none: the search misses
some. It missed no whole family in models of known truth (docs/alignment.md has the count).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct

from carrylens.claims.implementation import ImplementationCount
from carrylens.claims.needed_questions import to_decide, to_tell_apart
from carrylens.claims.verdicts import RunVerdict
from carrylens.discovery.alignment.joint_rates import CarrierRate, MeasuredAlignment, RivalRates
from carrylens.evidence.rates import Rate
from carrylens.json_records import to_text

LEAST = 0.9
"""The least share of cases that a whole carrier, and the algorithm as a whole, must surely explain."""
MOST_NULL = 0.1
"""The largest share of matched nulls that a carrier may surely stay below."""
_OTHER_ANSWERS = 0.95  # a model that surely agrees with the algorithm less often on any population does not run it
_HALF = 0.5
_SAME_ANSWERS = 0.99  # nor one that does so on the population of the joint test; on others it runs it in part


class JointRate(Struct, frozen=True):
    """A rate with its interval, and the population that it is of."""

    value: float
    low: float
    high: float
    n: int
    population: str

    @classmethod
    def of(cls, rate: Rate, population: str) -> JointRate:
        """The record of a rate."""
        low, high = rate.interval
        return cls(round(rate.value, 4), round(low, 4), round(high, 4), rate.n, population)


class CarrierCount(Struct, frozen=True):
    """How many of the required variables have a whole carrier."""

    supported: int
    required: int


class DeviationNote(Struct, frozen=True):
    """Where the model departs from the algorithm, and on which share of questions, or of interventions."""

    sentence: str
    share: float


class RivalStanding(Struct, frozen=True):
    """How a rival stands: surely worse, cannot be told apart, or surely better."""

    name: str
    standing: str


class OpenPoint(Struct, frozen=True):
    """What is not settled, what would settle it, and what that costs: `more_questions`, if just these.

    `questions` says how many in all would decide it, if the rates stay as they are; none, if no number would.
    """

    claim: str
    settled_by: str
    more_questions: bool = False
    cost: str = ""
    questions: int | None = None


class RunJudgement(Struct, frozen=True):
    """One verdict with all that it rests on, as `carrylens judge --json` prints it.

    `implementation` counts a paper's claims about how the model is built inside; the verdict does not rest on them.
    """

    model: str
    hypothesis: str
    verdict: RunVerdict
    carriers: CarrierCount
    joint_interchange: JointRate | None
    scrubbed: JointRate | None
    worst_output: str | None
    form: str | None
    deviations: tuple[DeviationNote, ...]
    rivals: tuple[RivalStanding, ...]
    open: tuple[OpenPoint, ...]
    implementation: ImplementationCount | None = None

    def to_json(self) -> str:
        """The text of a file that holds it."""
        return to_text(self, indent=1) + "\n"


def settle_command(given: str, *, algorithm: str | None = None, hypothesis_file: str | None = None) -> str:
    """What settles a verdict, as a user writes it.

    >>> settle_command("my models/adder", algorithm="weighted-sum add")
    "carrylens settle 'my models/adder' --algorithm 'weighted-sum add'"
    """
    options = {"--algorithm": algorithm, "--hypothesis": hypothesis_file}
    written = [part for option, value in options.items() if value is not None for part in (option, value)]
    return shlex.join(["carrylens", "settle", given, *written])


def not_measured(model: str, hypothesis: str, command: str) -> RunJudgement:
    """The judgement of a model whose alignment was not measured; `command` measures it."""
    nothing = OpenPoint("No alignment was measured.", command)
    return RunJudgement(
        model, hypothesis, RunVerdict.NOT_SETTLED, CarrierCount(0, 0), None, None, None, None, (), (), (nothing,)
    )


def run_judgement(found: MeasuredAlignment, command: str | None = None) -> RunJudgement:
    """The judgement that the rates of a measured alignment come to. `command` made it, if not `settle` and the name."""
    rates, population = found.rates, found.drawn.population
    worst = rates.worst_output
    standings = tuple(RivalStanding(each.hypothesis, standing_of(each, found)) for each in found.rivals)
    return RunJudgement(
        model=found.model,
        hypothesis=found.hypothesis,
        verdict=verdict_of(found),
        carriers=CarrierCount(
            sum(is_whole(each, confidence_at(found.looks)) for each in rates.carriers), len(rates.carriers)
        ),
        joint_interchange=JointRate.of(rates.interchange, population),
        scrubbed=JointRate.of(rates.scrubbed, population),
        worst_output=None if worst is None else f"{worst[0]} {worst[1].value:.2f}",
        form=None if found.alignment.algorithm == found.hypothesis else found.alignment.algorithm,
        deviations=tuple(_deviations(found)),
        rivals=standings,
        open=tuple(_open(found, standings, command or settle_command(found.model))),
    )


def verdict_of(found: MeasuredAlignment) -> RunVerdict:
    """The verdict, by the rule of this module. Rates that were looked at several times get wider intervals."""
    rates, sure = found.rates, confidence_at(found.looks)
    answers = [rates.answers, *(each.agree for each in found.populations)]
    others = rates.answers.interval[1] < _SAME_ANSWERS or any(rate.interval[1] < _OTHER_ANSWERS for rate in answers)
    if others:
        return RunVerdict.DOES_NOT_RUN
    joint = (rates.interchange, rates.scrubbed)
    tested = (*joint, *(each.hit for each in rates.carriers))
    short = [rate for rate in tested if rate.interval_at(_for_each(sure, len(tested)))[1] < LEAST]
    if short and (absent_families(found) or any(_explains(each, found) for each in found.rivals)):
        return RunVerdict.DOES_NOT_RUN
    if short or rates.deviation or any(rate.interval[1] < _SAME_ANSWERS for rate in answers):
        return RunVerdict.IN_PART
    whole = rates.carriers and all(is_whole(each, sure) for each in rates.carriers)
    together = all(rate.interval_at(sure)[0] >= LEAST for rate in joint)
    alone = found.rivals and all(standing_of(each, found) == WORSE for each in found.rivals)
    if whole and together and alone and not found.joined:
        return RunVerdict.RUNS
    return RunVerdict.NOT_SETTLED


def absent_families(found: MeasuredAlignment) -> tuple[str, ...]:
    """The required families of several variables, none of which has a site that may carry half of its moves.

    None, unless joint interchange surely fails more often than not.
    """
    rates, sure = found.rates.carriers, confidence_at(found.looks)
    if found.rates.interchange.interval_at(sure)[1] >= _HALF:
        return ()
    families = dict[str, list[CarrierRate]]()
    for each in rates:
        families.setdefault(each.family, []).append(each)
    most = {
        family: max(each.hit.interval_at(_for_each(sure, len(rates)))[1] for each in members)
        for family, members in families.items()
        if len(members) > 1
    }
    return tuple(family for family, high in most.items() if high < _HALF)


def needs_more_questions(judged: RunJudgement) -> bool:
    """Whether the verdict is open, and more questions could settle something."""
    return judged.verdict is RunVerdict.NOT_SETTLED and any(each.more_questions for each in judged.open)


def is_whole(carrier: CarrierRate, confidence: float = 0.95) -> bool:
    """Whether a site surely carries its variable in at least LEAST of cases, and little else."""
    enough = carrier.hit.interval_at(confidence)[0] >= LEAST
    return bool(carrier.nodes) and enough and carrier.null.interval_at(confidence)[1] <= MOST_NULL


def confidence_at(looks: int) -> float:
    """The confidence of the last of several looks at growing rates: wider, the more there were.

    Look n may err in 5% / (n (n + 1)), so all of them together err in less than 5%, however many there are.

    >>> confidence_at(1), round(confidence_at(2), 3)
    (0.975, 0.992)
    """
    return 1 - 0.05 / (looks * (looks + 1))


def _for_each(confidence: float, n_tests: int) -> float:
    # One of many rates may fall short by chance: the more there are, the surer each must be.
    return 1 - (1 - confidence) / max(1, n_tests)


WORSE, ALIKE, BETTER = "surely worse", "cannot be told apart", "surely better"


def standing_of(rival: RivalRates, found: MeasuredAlignment) -> str:
    """How a rival stands: by its answers, or else by interchange and scrubbing at once, on the same number of rows."""
    if rival.answers.interval[1] < found.rates.answers.interval[0]:
        return WORSE
    mine, its = found.rates.both, rival.both
    if its.interval[1] < mine.interval[0]:
        return WORSE
    return BETTER if its.interval[0] > mine.interval[1] else ALIKE


def _explains(rival: RivalRates, found: MeasuredAlignment) -> bool:
    # A rival that explains the model as a whole, does not run the hypothesis anywhere, and is surely better.
    whole = all(rate.interval[0] >= LEAST for rate in (rival.interchange, rival.scrubbed, rival.both))
    return whole and not rival.includes and standing_of(rival, found) == BETTER


def _deviations(found: MeasuredAlignment) -> Iterator[DeviationNote]:
    where = found.rates.deviation
    if where is not None:
        yield DeviationNote(
            f"interchange fails where {where.where}: {where.inside.value:.2f} of {where.inside.n} rows there, "
            f"{where.outside.value:.2f} of {where.outside.n} elsewhere",
            round(where.share, 4),
        )
    for each in found.rates.carriers:
        if each.hit.n and each.hit.interval[1] < LEAST:
            site = "no site was found for" if not each.nodes else "the site carries only part of"
            yield DeviationNote(f"{site} {each.target}: {each.hit.value:.2f} of {each.hit.n}", round(each.hit.value, 4))
    for answers in found.populations:
        if answers.agree.interval[1] < _SAME_ANSWERS or answers.agree.hits < answers.agree.n:
            wrong = answers.agree.n - answers.agree.hits
            yield DeviationNote(
                f"answers are not the algorithm's on {wrong} of {answers.agree.n} {answers.population} questions",
                round(wrong / max(1, answers.agree.n), 6),
            )


def _cost(have: int, wanted: int | None) -> str:
    if wanted is None:
        return "no number of questions would decide it at these rates: a full fit may change them"
    return f"about {wanted:,} questions decide it at these rates, {wanted / max(1, have):.1f} times as many as now"


def _open_fit(found: MeasuredAlignment, settles: str) -> Iterator[OpenPoint]:
    if found.drawn.is_quick_fit and verdict_of(found) is RunVerdict.IN_PART:
        claim = "Sites were found by a quick fit: a full one may find better sites, with higher rates."
        yield OpenPoint(claim, f"{settles} --restart")


def _open(found: MeasuredAlignment, standings: Sequence[RivalStanding], settles: str) -> Iterator[OpenPoint]:
    command, rates, sure = f"{settles} --budget 3600", found.rates, confidence_at(found.looks)

    def by_questions(claim: str, have: int, wanted: int | None) -> OpenPoint:
        return OpenPoint(claim, command, True, _cost(have, wanted), wanted)

    yield from _open_fit(found, settles)
    together = _for_each(sure, 2 + len(rates.carriers))  # as sure as a rate must be to fall short
    for name, rate in (("Joint interchange", rates.interchange), ("Scrubbing", rates.scrubbed)):
        low, high = rate.interval_at(sure)[0], rate.interval_at(together)[1]
        if low < LEAST <= high:
            claim = f"{name} {rate.value:.3f} ({low:.3f} to {high:.3f}) may be above or below {LEAST}."
            yield by_questions(claim, rate.n, to_decide(rate, LEAST, sure, together))
    for each in rates.carriers:
        low, high = each.hit.interval_at(sure)[0], each.hit.interval_at(together)[1]
        if low < LEAST <= high or (low >= LEAST and not is_whole(each, sure)):
            rate, bound = (each.hit, LEAST) if low < LEAST else (each.null, MOST_NULL)
            claim = f"The carrier of {each.target}: hit {each.hit}, null {each.null}."
            yield by_questions(claim, rate.n, to_decide(rate, bound, sure, together))
    for rival, standing in zip(found.rivals, standings, strict=True):
        if standing.standing == ALIKE:
            claim, wanted = f"{standing.name} cannot be told apart.", to_tell_apart(rates.both, rival.both)
            yield OpenPoint(claim, command, cost=_cost(rates.both.n, wanted), questions=wanted)
    if found.joined:
        yield OpenPoint("Variables of one column stand in the same nodes and were moved together.", command)
    if not found.rivals:
        yield OpenPoint("No rival was fitted.", command)
