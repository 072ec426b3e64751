"""Readers: the few ways in which most claims are answered.

Takes  what a claim says of findings: a word in every model, a word in some, a trend, a figure beside the paper's.
Gives  functions that read the answer off saved evidence.
Never  says agrees where a model contradicts, or where most could not be told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from carrylens.arithmetic.battery.findings import (
    ChosenWord,
    ExperimentFinding,
    Mixture,
    Number,
    ShareEvidence,
)
from carrylens.arithmetic.battery.registry import experiments_called
from carrylens.arithmetic.family.cells import CellState, cell_of
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.trends import trend_of
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperReader, missing
from carrylens.arithmetic.paper.saved import PaperEvidence, question_of
from carrylens.evidence.rates import Rate

FAMILY_COMMAND = "carrylens family --shipped"

Members = Callable[[Member], bool]


def everyone(_member: Member) -> bool:
    """Every accurate model."""
    return True


def in_every(experiment: str, question: str, *words: str, among: Members = everyone, why: str = "") -> PaperReader:
    """The claim that one of the words holds in every model it is about."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _found(evidence, experiment, question, among)
        told = [each for each in found if _words(each)]
        against = [each for each in told if not set(_words(each)) <= set(words)]
        if not any(each is not None for each in found):
            return _not_run(experiment)
        word = Agreement.OPEN if 2 * len(told) <= len(found) else Agreement.AGREES
        return _answer(found, Agreement.DIFFERS if against else word, experiment, why)

    return read


def in_some(experiment: str, question: str, among: Members = everyone, why: str = "") -> PaperReader:
    """The claim that models differ in their answer."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _found(evidence, experiment, question, among)
        different = {words for each in found if (words := _words(each))}
        if not any(each is not None for each in found):
            return _not_run(experiment)
        word = Agreement.AGREES if len(different) > 1 else Agreement.DIFFERS if different else Agreement.OPEN
        return _answer(found, word, experiment, why)

    return read


def with_digits(experiment: str, question: str, why: str = "") -> PaperReader:
    """The claim that a number grows or falls as additions get longer."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        asked = question_of(experiments_called(experiment)[0], question)
        pairs = list(evidence.findings(experiment, question))
        values = [(member.name, None if each is None else cell_of(each).value) for member, each in pairs]
        trend, way = trend_of(values), asked.trend
        if trend is None or way is None:
            return _not_run(experiment)
        opposite = trend.high < 0 if way.value == "grows" else trend.low > 0
        word = Agreement.AGREES if trend.goes(way) else Agreement.DIFFERS if opposite else Agreement.OPEN
        return PaperAnswer(word, str(trend), trend.n, "models", command=FAMILY_COMMAND, why=why)

    return read


def figure_beside(model: str, experiment: str, what: str, why: str = "", *, apart: bool = False) -> PaperReader:
    """The claim that has a figure for a model of the same shape as one of ours; `apart` if of another quantity."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        command = f"carrylens battery {model} --only {experiment}"
        row = evidence.beside(model, experiment, what)
        if row is None:
            return missing(f"no outcome of {experiment} on {model} is saved", command)
        agrees = None if apart else row.agrees
        word = {True: Agreement.AGREES, False: Agreement.DIFFERS, None: Agreement.APART}[agrees]
        because = "" if agrees else why or ("the figures are of other quantities" if agrees is None else "")
        return PaperAnswer(word, f"{row.ours} ({model})", command=command, why=because, single=True)

    return read


def numbers_above(experiment: str, question: str, least: float, why: str = "") -> PaperReader:
    """The claim that a number lies above `least` in every model."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = [each.value for _, each in evidence.findings(experiment, question) if each is not None]
        values = [each for each in found if isinstance(each, Number)]
        if not values:
            return _not_run(experiment)
        above = sum(each.low is not None and each.low > least for each in values)
        below = sum(each.high is not None and each.high < least for each in values)
        numbers = [each.value for each in values]
        return PaperAnswer(
            Agreement.AGREES if above == len(values) else Agreement.DIFFERS if below else Agreement.OPEN,
            f"{min(numbers):.2f} to {max(numbers):.2f}; surely above {least:g} in {above} of {len(values)} models, "
            f"surely below in {below}",
            len(values),
            "models",
            command=f"carrylens battery MODEL --only {experiment}; {FAMILY_COMMAND}",
            why=why,
        )

    return read


def answer_scale(experiment: str, theirs: int | None = None) -> PaperReader:
    """On how many models of ours a technique ran, and with how much evidence."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        outcomes = [each.outcomes[experiment] for each in evidence.members if experiment in each.outcomes]
        if not outcomes:
            return _not_run(experiment)
        full = sum(not each.settings.get("quick") for each in outcomes)
        verdicts = Counter(each.verdict.value.lower() for each in outcomes)
        beside = "" if theirs is None else f" (the paper's {theirs})"
        return PaperAnswer(
            Agreement.SHOWN,
            f"{experiment}: {len(outcomes)} models{beside}, {full} in full; our claim is "
            f"{counted(verdicts.most_common())}",
            len(outcomes),
            "models",
            command=f"carrylens battery MODEL --only {experiment}",
        )

    return read


def answer_mapped(what: str) -> PaperReader:
    """How many models of ours were mapped."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        mapped = [member for member in evidence.members if member.map is not None]
        if not mapped:
            return missing("no model is mapped", "carrylens map MODEL")
        roles = sum(len(member.map.roles) for member in mapped if member.map is not None)
        return PaperAnswer(
            Agreement.SHOWN,
            f"{what}: maps of {len(mapped)} models, {roles:,} roles of node sets",
            len(mapped),
            "models",
            command="carrylens map MODEL",
        )

    return read


def shown(path: str, command: str) -> PaperReader:
    """A figure of the paper that has a counterpart."""
    return lambda _evidence: PaperAnswer(Agreement.SHOWN, path, command=command)


def apart(why: str) -> PaperReader:
    """What cannot be compared, and why."""
    return lambda _evidence: PaperAnswer(Agreement.APART, "", why=why)


def not_yet(what: str, command: str = "") -> PaperReader:
    """What nobody has measured here, and what it takes."""
    return lambda _evidence: missing(what, command)


def of_operation(*operations: str) -> Members:
    """Models of these operations alone."""
    return lambda member: member.name.operation.value in operations


def of_digits(operation: str, *digits: int) -> Members:
    """Models of this operation and these digits alone."""
    return lambda member: member.name.operation.value == operation and member.name.digits in digits


def counted(counts: Sequence[tuple[str, int]]) -> str:
    """Words with how many models have each.

    >>> counted([("2 tokens", 3), ("1 token", 1)])
    '2 tokens in 3, 1 token in 1'
    """
    return ", ".join(f"{word} in {n}" for word, n in counts)


def _found(evidence: PaperEvidence, experiment: str, question: str, among: Members) -> list[ExperimentFinding | None]:
    return [each for member, each in evidence.findings(experiment, question) if among(member)]


def _words(finding: ExperimentFinding | None) -> tuple[str, ...]:
    value = None if finding is None else finding.value
    if isinstance(value, ChosenWord):
        return (value.word,)
    return value.words if isinstance(value, Mixture) else ()


def _not_run(experiment: str) -> PaperAnswer:
    return missing(f"no outcome of {experiment} is saved", f"carrylens battery MODEL --only {experiment}")


def _answer(found: Sequence[ExperimentFinding | None], word: Agreement, experiment: str, why: str) -> PaperAnswer:
    counts = Counter(" / ".join(_words(each)) for each in found if _words(each))
    cells = [cell_of(each) for each in found if each is not None]
    n_open = sum(cell.state is CellState.OPEN for cell in cells)
    untold = len(found) - sum(counts.values()) - n_open
    rest = [f"open in {n_open}"] * bool(n_open) + [f"not tested in {untold}"] * bool(untold)
    effect, null = _pooled(found)
    share = f"; together {printed_rate(effect)}" if effect.n else ""
    return PaperAnswer(
        word,
        f"of {len(found)} models: {', '.join([counted(counts.most_common()), *rest]).strip(', ')}{share}",
        sum(each.n for each in found if each is not None),
        null=printed_rate(null) if null.n else "",
        command=f"carrylens battery MODEL --only {experiment}; {FAMILY_COMMAND}",
        why=why,
    )


def _pooled(found: Sequence[ExperimentFinding | None]) -> tuple[Rate, Rate]:
    shares = [
        share
        for each in found
        if each is not None and isinstance(each.evidence, ShareEvidence)
        for share in each.evidence.shares
    ]
    return sum((each.effect for each in shares), Rate(0, 0)), sum((each.null for each in shares), Rate(0, 0))


def printed_rate(rate: Rate) -> str:
    """A rate with its interval."""
    low, high = rate.interval
    return f"{rate.value:.3f} [{low:.3f}, {high:.3f}]"
