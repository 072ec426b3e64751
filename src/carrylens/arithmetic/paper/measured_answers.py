"""Answers from measurements that no experiment has: random sets, carry sources, the first place, optional carries.

Takes  measurements that came with the package, of the weights that are here.
Gives  the functions that answer claims with them.
Never  pools what is not of one kind, nor leaves out the null.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperReader, missing
from carrylens.arithmetic.paper.measurements import LabelledRate, Measurement
from carrylens.arithmetic.paper.readers import printed_rate
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.evidence.rates import Rate

MEASURE = "carrylens paper --measure FILE"


def answer_random_set(model: str, branch: Branch, fill: str) -> PaperReader:
    """A random set of as many nodes keeps nothing."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _one(evidence, "random-sets", model, f"{branch.value}, {fill}")
        if found is None:
            return _not_measured("random-sets", model)
        low, _ = found.null.interval
        return PaperAnswer(
            Agreement.AGREES if found.null.value < 0.005 and low == 0 else Agreement.DIFFERS,
            f"{printed_rate(found.null)}; the map's own nodes {printed_rate(found.hit)} ({model})",
            found.null.n,
            "questions, each with a random set of its own",
            command=MEASURE,
        )

    return read


def answer_random_additions(model: str, branch: Branch, fill: str) -> PaperReader:
    """Random additions stay near the unrestored level until about 80 nodes."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        measured = next(iter(evidence.measurements("random-additions", model)), None)
        rates = [] if measured is None else list(measured.beginning(f"{branch.value}, {fill}, "))
        if not rates:
            return _not_measured("random-additions", model)
        by_count = [(int(each.label.split(", ")[2].split()[0]), each) for each in rates]
        alone = by_count[0][1].null
        lost = 1 - alone.value
        fewer = [each.hit.value - alone.value for n, each in by_count if 0 < n < 80]
        # Near: with fewer than 80, less than a fifth of what is lost comes back.
        near = not fewer or max(fewer) < 0.2 * lost
        curve = ", ".join(f"{n}: {each.hit.value:.3f}" for n, each in by_count)
        last = by_count[-1][1].hit
        return PaperAnswer(
            Agreement.OPEN if lost < 0.05 else Agreement.AGREES if near else Agreement.DIFFERS,
            f"right with so many more: {curve}; with {by_count[-1][0]} {printed_rate(last)} ({model})",
            last.n,
            "questions, each with random sets of its own",
            null=f"none added {printed_rate(alone)}",
            command=MEASURE,
            why="so few answers are lost that nothing is to be restored" if lost < 0.05 else "",
            single=True,
        )

    return read


def answer_own_carry(evidence: PaperEvidence) -> PaperAnswer:
    """A digit takes its carry from its own place, else from what was resolved before."""
    found = evidence.measurements("carry-sources")
    if not found:
        return _not_measured("carry-sources", "additions")
    decided = {site: _pooled(found, f"add, the column below decides: {site}") for site in _SITES}
    left = {site: _pooled(found, f"add, the column below leaves it open: {site}") for site in _SITES}
    mine = [_most(each, f"add, the column below decides: {_SITES[0]}") for each in found]
    return PaperAnswer(
        Agreement.AGREES if all(mine) else Agreement.DIFFERS,
        f"where the column below decides, the digit follows its own layer-0 heads in "
        f"{printed_rate(decided[_SITES[0]].hit)}, earlier places in {printed_rate(decided[_SITES[1]].hit)}; where that "
        f"column leaves it open, {printed_rate(left[_SITES[0]].hit)} and {printed_rate(left[_SITES[1]].hit)}; the own "
        f"heads decide in most pairs in {sum(mine)} of {len(found)} additions",
        decided[_SITES[0]].hit.n + left[_SITES[0]].hit.n,
        "pairs",
        null=printed_rate(decided[_SITES[0]].null + left[_SITES[0]].null),
        command=MEASURE,
        why="most of ours read the carry made earlier in both cases" if not all(mine) else "",
    )


_SITES = ("own heads", "earlier places")


def _most(each: Measurement, label: str) -> bool:
    rate = each.rate(label)
    return rate is not None and rate.hit.interval[0] > 0.5


def answer_hypothesis_joint(evidence: PaperEvidence) -> PaperAnswer:
    """Hypothesis 3 as one alignment, beside the usual algorithm."""
    found = evidence.measurements("hypothesis-3")
    if not found:
        return _not_measured("hypothesis-3", "five-digit additions")
    each = found[0]
    mine, usual = each.rate("joint interchange, Hypothesis 3"), each.rate("joint interchange, the usual algorithm")
    if mine is None or usual is None:
        return _not_measured("hypothesis-3", each.model)
    better = mine.hit.interval[0] >= 0.9
    return PaperAnswer(
        Agreement.AGREES if better else Agreement.DIFFERS,
        f"joint interchange {printed_rate(mine.hit)}; the usual algorithm, fitted just as hard, "
        f"{printed_rate(usual.hit)} ({each.model})",
        mine.hit.n,
        "tests",
        null=printed_rate(mine.null),
        command=f"carrylens settle {each.model} --quick --hypothesis src/carrylens/arithmetic/paper/hypothesis_3.py; "
        + MEASURE,
        why="" if better else "it is the hypothesis of another model; no interchange parts ST[1] from its second copy",
        single=True,
    )


def answer_first_place(evidence: PaperEvidence) -> PaperAnswer:
    """Mixed models use what they compute at P0."""
    found = [each for each in evidence.measurements("first-place") if "mix" in each.model]
    if not found:
        return _not_measured("first-place", "mixed models")
    wrong = _pooled(found, "answers wrong, resample ablation").hit
    using = sum(any(rate.hit.hits for rate in each.beginning("answers wrong")) for each in found)
    return PaperAnswer(
        Agreement.AGREES if using == len(found) else Agreement.DIFFERS,
        f"with all nodes of P0 ablated together, answers become wrong in {using} of {len(found)} mixed models, "
        f"{printed_rate(wrong)} of all differences asked (resampled)",
        wrong.n,
        "questions",
        command=MEASURE,
        why="P0 sees one digit, which later heads can read for themselves" if using < len(found) else "",
    )


def answer_high_first_digit(evidence: PaperEvidence) -> PaperAnswer:
    """A first digit of 8 or 9 makes + likelier, and the model uses it."""
    found = [each for each in evidence.measurements("first-place") if "mix" in each.model]
    if not found:
        return _not_measured("first-place", "mixed models")
    leaning, turned = _pooled(found, "leaning towards +"), _pooled(found, "signs turned")
    uses = [_leans(each.rate("leaning towards +")) for each in found]
    return PaperAnswer(
        Agreement.AGREES if all(uses) else Agreement.DIFFERS,
        f"nodes of P0 with what they write for a first digit of 8 or 9 instead of 0 or 1: the sign's logit goes "
        f"towards + in {printed_rate(leaning.hit)}, surely more often than not in {sum(uses)} of {len(found)} mixed "
        f"models; the sign turns in {printed_rate(turned.hit)}",
        leaning.hit.n,
        "questions",
        null=f"9 beside 8: {printed_rate(leaning.null)}",
        command=MEASURE,
    )


def _leans(rate: LabelledRate | None) -> bool:
    return rate is not None and rate.hit.interval[0] > 0.5


def answer_optional(evidence: PaperEvidence) -> PaperAnswer:
    """Some models also compute SC, others omit it."""
    found = evidence.measurements("optional-carries")
    if not found:
        return _not_measured("optional-carries", "additions")
    some = [each for each in found if _carried(each).hits]
    said = ", ".join(f"{each.model} {_carried(each).hits} of {_carried(each).n}" for each in some)
    return PaperAnswer(
        Agreement.AGREES if 0 < len(some) < len(found) else Agreement.DIFFERS,
        f"in {len(some)} of {len(found)} models some set carries, in most or in part, SC (MC, NC) and not the "
        f"three-valued carry: {said or 'none'} such variables",
        sum(_carried(each).n for each in found),
        "variables",
        command=MEASURE,
    )


def answer_optional_of(model: str) -> PaperReader:
    """One model uses SC nodes, which are redundant."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        each = next(iter(evidence.measurements("optional-carries", model)), None)
        if each is None:
            return _not_measured("optional-carries", model)
        roles = [rate for rate in each.rates if " at A" in rate.label]
        best = max(roles, key=lambda rate: rate.hit.value, default=None)
        n = _carried(each)
        shown = "" if best is None else f"; best {best.label}: {printed_rate(best.hit)}"
        return PaperAnswer(
            Agreement.AGREES if n.hits else Agreement.DIFFERS,
            f"{n.hits} of {n.n} variables SC have a carrier{shown} ({model})",
            n.n,
            "variables",
            null="" if best is None else printed_rate(best.null),
            command=MEASURE,
            single=True,
        )

    return read


def _carried(each: Measurement) -> Rate:
    found = each.rate("variables with a carrier")
    return Rate(0, 0) if found is None else found.hit


def _one(evidence: PaperEvidence, name: str, model: str, label: str) -> LabelledRate | None:
    return next((rate for each in evidence.measurements(name, model) if (rate := each.rate(label))), None)


def _pooled(found: Sequence[Measurement], label: str) -> LabelledRate:
    rates = [rate for each in found if (rate := each.rate(label)) is not None]
    hit, null = (sum((getattr(rate, side) for rate in rates), Rate(0, 0)) for side in ("hit", "null"))
    return LabelledRate(label, hit, null)


def _not_measured(name: str, whom: str) -> PaperAnswer:
    return missing(f"{name} is not measured on {whom}", MEASURE)
