"""Answers from the facts of path-patching: which heads deliver a carry or borrow, alone and together.

Takes  saved outcomes of the experiment `paths`.
Gives  the functions that answer claims with its facts, cell by cell.
Never  counts a pooled fact beside the cells it was pooled from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperReader, missing
from carrylens.arithmetic.paper.readers import printed_rate
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

_TOGETHER, _EARLIER, _ALONE = "heads of its layer", "earlier nodes", "head "
_BORROWS = (Branch.POSITIVE, Branch.NEGATIVE)
_LITTLE = 0.1


def answer_single_heads(name: str) -> PaperReader:
    """Together the heads that deliver the borrow flip the digit; any single one does almost nothing."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        member = evidence.member(name)
        cells = [] if member is None else list(_cells(member))
        if member is None or not cells:
            return _not_run(name)
        borrows = [fact for fact in cells if fact.about["branch"] in {branch.value for branch in _BORROWS}]
        together = _pooled(borrows, _TOGETHER)
        heads = {each: _pooled(borrows, each) for each in _heads(borrows)}
        best = max(heads, key=lambda each: heads[each].effect.value)
        return PaperAnswer(
            Agreement.AGREES if heads[best].effect.value < _LITTLE else Agreement.DIFFERS,
            f"all heads of the combiner's layer together {printed_rate(together.effect)} of borrowed digits; the best "
            f"one alone, {best}, {printed_rate(heads[best].effect)} ({name})",
            together.effect.n,
            "pairs",
            null=printed_rate(together.null),
            command=f"carrylens battery {name} --only paths",
            single=True,
        )

    return read


def answer_how_many_heads(name: str, theirs: int) -> PaperReader:
    """How many heads deliver the borrow: those without which, or with which alone, it is delivered less or at all."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        member = evidence.member(name)
        cells = [] if member is None else list(_cells(member))
        if member is None or not cells:
            return _not_run(name)
        borrows = [fact for fact in cells if fact.about["branch"] in {branch.value for branch in _BORROWS}]
        together = _pooled(borrows, _TOGETHER).effect
        lost = {each: _pooled(borrows, f"all but {each}").effect for each in _heads(borrows)}
        missed = [each for each, rate in lost.items() if rate.interval[1] < together.interval[0]]
        shown = ", ".join(f"without {each} {rate.value:.2f}" for each, rate in lost.items())
        return PaperAnswer(
            Agreement.AGREES if len(missed) == theirs else Agreement.DIFFERS,
            f"{len(missed)} heads are missed: together {printed_rate(together)} of borrowed digits, {shown} ({name})",
            together.n,
            "pairs",
            command=f"carrylens battery {name} --only paths",
            single=True,
        )

    return read


def answer_routes(evidence: PaperEvidence) -> PaperAnswer:
    """Residual stream or last-layer heads: which one delivers varies by class and cascade depth."""
    wins: Counter[str] = Counter()
    by_heads: list[str] = []
    mixed = [member for member in evidence.members if member.name.operation.value == "mix"]
    for member in mixed:
        cells = list(_cells(member))
        for branch in Branch:
            for depth in sorted({int(str(fact.about["depth"])) for fact in cells}):
                some = [f for f in cells if (f.about["branch"], f.about["depth"]) == (branch.value, depth)]
                heads, stream = (_pooled(some, edit).effect for edit in (_TOGETHER, _EARLIER))
                if heads.n and stream.n:
                    told = heads.interval[0] > stream.interval[1], stream.interval[0] > heads.interval[1]
                    word = "last-layer heads" if told[0] else "the residual stream" if told[1] else "neither surely"
                    wins[word] += 1
                    by_heads += [f"{member.name} {branch.value} depth {depth}"] * told[1]
    if not wins:
        return _not_run("MODEL")
    varies = bool(wins["last-layer heads"] and wins["the residual stream"])
    return PaperAnswer(
        Agreement.AGREES if varies else Agreement.DIFFERS,
        f"of {sum(wins.values())} classes and depths in {len(mixed)} mixed models, more is delivered by: "
        + ", ".join(f"{word} {n}" for word, n in wins.most_common())
        + (f" ({', '.join(by_heads[:3])})" if by_heads else ""),
        sum(wins.values()),
        "classes and depths",
        command="carrylens battery MODEL --only paths",
    )


def _cells(member: Member) -> Iterator[Fact]:
    outcome = member.outcomes.get("paths")
    for fact in () if outcome is None else outcome.facts:
        if {"branch", "digit", "depth", "edit"} <= set(fact.about):
            yield fact


def _heads(facts: list[Fact]) -> list[str]:
    return sorted({str(fact.about["edit"]) for fact in facts if str(fact.about["edit"]).startswith(_ALONE)})


def _pooled(facts: list[Fact], edit: str) -> Fact:
    mine = [fact for fact in facts if fact.about["edit"] == edit]
    effect, null = (sum((getattr(fact, side) for fact in mine), Rate(0, 0)) for side in ("effect", "null"))
    return Fact("pooled", {"edit": edit}, effect, null, {})


def _not_run(name: str) -> PaperAnswer:
    return missing(f"no outcome of paths is saved for {name}", f"carrylens battery {name} --only paths")
