"""Make-carry: is each column's carry made at its own place, as soon as it can be, and with how many values?

Takes  a subject.
Gives  for every branch and column where its carry is made, whether that place tells two values or three, and how many
       of them its write holds apart.
Never  calls a carry binary because one kind of pair was never shown.

1. For each column k and each two of its values (0 and 1, 0 and U, 1 and U) draw pairs that differ in column k alone.
2. Swap all nodes of its own place, D'k. The digits above k must become the source's; with a source of the same value
   and other digits they must stay.
3. Where they do not follow, swap every place from D'k to `=`: is the carry made later, or only at the answer?
4. Swap each node of D'k alone, with the same null: where one head tells 0 from 1 and surely not 0 from U, another 0
   from U and surely not 0 from 1, and no head tells both, there are two binary values instead of one with three.
5. Without any swap: does the write of D'k hold 0, U and 1 apart beyond the column's digits? (written_classes.py)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.columns import Branch, branches_of, contrast_pairs
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.swapping import Swapped, answered, swap_columns
from carrylens.arithmetic.battery.weighing import weigh
from carrylens.arithmetic.battery.written_classes import BESIDE, Cut, classes_told, pool, written_cuts
from carrylens.arithmetic.variables import U
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node

CARD = Card(
    name="make-carry",
    title="Where each carry is made",
    question="Is each column's carry made at its own place, as soon as the column is complete (the paper's claim), and "
    "does it have three values (ours; the paper's table says binary)?",
    method=(
        "Pairs of questions that differ in one column, whose carry goes between 0 and 1, 0 and U, or 1 and U.",
        "Swap all nodes of the column's own place; the digits above must become the source's.",
        "Null: a source with other digits in that column and the same carry.",
        "Swap every place up to = instead, to see whether the carry is made later.",
        "Swap each node of the place alone, to see whether two of them hold one binary value each.",
        "Unswapped: for digits left out, is the write nearer to the mean of its own value than to the next value's? "
        "Null: the same between digit sums of one value.",
    ),
    refuted_if="for some column the swap surely leaves most digits as they were: for all its values (then the carry is "
    "made elsewhere), or between 0 and U alone (then it is binary); or two heads hold a binary value each. What the "
    "write holds apart decides nothing: it need not be used.",
    paper="each carry is computed eagerly, in place, as a binary make-carry",
    where="Table of family invariants; PCA shows three clusters",
)
CONTRASTS = {"0-1": (0, 1), "0-U": (0, U), "1-U": (1, U)}
IN_PLACE, SPLIT = "at its own place, all its values", "at its own place, as two binary values"
BINARY, LATER = "at its own place, binary", "not there alone, but before the answer"
ANSWER, OPEN, ASKED = "only at the answer", "open", "not asked"

Verdicts = dict[tuple[str, str, str], Verdict]
"""By site or node, column, and the values between which it is swapped."""


@dataclass(frozen=True)
class _Column:
    """What was measured about one column: by contrast the own place, all up to `=`, and each node alone."""

    branch: Branch
    column: int
    own: Mapping[str, Swapped]
    tail: Mapping[str, Swapped]
    alone: Mapping[str, Mapping[Node, Swapped]]


@dataclass(frozen=True)
class CarryMeasurements:
    """Every column, and what the write of its place holds apart."""

    columns: tuple[_Column, ...]
    cuts: tuple[Cut, ...]


def measure(context: ExperimentContext) -> CarryMeasurements:
    """The interchanges at every column, and the cuts of what its place writes."""
    subject, branches = context.subject, branches_of(context.subject.operation)
    wanted = [(b, k) for b in branches for k in range(b.top(subject.digits))]
    found = []
    for at, (branch, k) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        found.append(_measure(context, branch, k))
    return CarryMeasurements(tuple(found), tuple(cut for b in branches for cut in written_cuts(context, b)))


def summarise(context: ExperimentContext, measured: CarryMeasurements) -> Outcome:
    """What the interchanges say of where each carry is made."""
    settings, found, cuts = context.settings, measured.columns, measured.cuts
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    facts = [fact for column in found for fact in _facts(column, stimuli)]
    alone = [fact for column in found for fact in _facts_alone(column, stimuli)]
    questions = {"n_train": settings.n_train, "seed": settings.seed}
    written = [fact for cut in cuts for fact in cut.facts(CARD.name, questions)]
    verdicts = _verdicts(facts) | _verdicts(alone)
    kinds = [_kind(column, verdicts) for column in found]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=_overall(kinds),
        says=_says(found, kinds, cuts),
        facts=(*facts, *alone, *written),
        figure=_figure(found),
        headers=(
            *("column", "made at", *(f"{name}, null" for name in CONTRASTS)),
            *(f"write: {name}, one value" for name in BESIDE),
        ),
        rows=tuple(
            (_name(column), kind, *(_cell(column.own.get(name)) for name in CONTRASTS), *_written(column, cuts))
            for column, kind in zip(found, kinds, strict=True)
        ),
        beside_paper=(_beside(found, kinds),),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def _measure(context: ExperimentContext, branch: Branch, k: int) -> _Column:
    subject, settings = context.subject, context.settings
    place, end = subject.position(f"D'{k}"), subject.position("=")
    own, tail = subject.nodes_at(place), subject.nodes_at(*range(place, end + 1))
    single = [node for node in own if node.layer < subject.last_layer] or list(own)
    results: dict[str, list[Swapped]] = {}
    for name, values in CONTRASTS.items():
        if k == 0 and U in values:
            continue
        drawn = contrast_pairs(
            branch,
            subject.digits,
            k,
            values,
            settings.n_pairs,
            settings.seed_of(CARD.name, name, branch, k),
        )
        pairs = answered(subject, drawn)
        results[name] = swap_columns(subject, pairs, [own, tail, *((node,) for node in single)])
    alone = {name: dict(zip(single, each[2:], strict=True)) for name, each in results.items()}
    first, second = ({name: each[at] for name, each in results.items()} for at in (0, 1))
    return _Column(branch, k, first, second, alone)


def _facts(column: _Column, stimuli: Mapping[str, object]) -> list[Fact]:
    return [
        swapped.fact(CARD.name, {"site": site, "column": _name(column), "values": name}, stimuli)
        for site, measured in (("own place", column.own), ("up to =", column.tail))
        for name, swapped in measured.items()
    ]


def _facts_alone(column: _Column, stimuli: Mapping[str, object]) -> list[Fact]:
    return [
        swapped.fact(CARD.name, {"site": str(node), "column": _name(column), "values": name, "alone": True}, stimuli)
        for name, measured in column.alone.items()
        for node, swapped in measured.items()
    ]


def _verdicts(facts: Sequence[Fact]) -> Verdicts:
    return {
        (str(fact.about["site"]), str(fact.about["column"]), str(fact.about["values"])): verdict
        for fact, verdict in zip(facts, weigh(facts), strict=True)
    }


def _kind(column: _Column, verdicts: Verdicts) -> str:
    own = {name: verdicts["own place", _name(column), name] for name in column.own}
    if own["0-1"] is Verdict.UNTESTED:
        return ASKED
    if set(own.values()) == {Verdict.SUPPORTED}:
        return SPLIT if _is_split(column, verdicts) else IN_PLACE
    if own["0-1"] is Verdict.SUPPORTED and own.get("0-U") is Verdict.REFUTED:
        return BINARY
    if own["0-1"] is Verdict.REFUTED:
        tail = verdicts["up to =", _name(column), "0-1"]
        return {Verdict.SUPPORTED: LATER, Verdict.REFUTED: ANSWER}.get(tail, OPEN)
    return OPEN


def _is_split(column: _Column, verdicts: Verdicts) -> bool:
    # Whether one head tells carries and surely not nines, another nines and surely not carries, and none both.
    if "0-U" not in column.alone:
        return False
    heads = [node for node in column.alone["0-U"] if not node.is_mlp]
    told = {tuple(verdicts[str(node), _name(column), name] for name in ("0-1", "0-U")) for node in heads}
    yes, no = Verdict.SUPPORTED, Verdict.REFUTED
    return {(yes, no), (no, yes)} <= told and (yes, yes) not in told


def _overall(kinds: Sequence[str]) -> Verdict:
    asked = [kind for kind in kinds if kind != ASKED]
    if not asked:
        return Verdict.UNTESTED
    if {SPLIT, BINARY, LATER, ANSWER} & set(asked):
        return Verdict.REFUTED
    return Verdict.SUPPORTED if set(kinds) == {IN_PLACE} else Verdict.INCONCLUSIVE


def _says(found: Sequence[_Column], kinds: Sequence[str], cuts: Sequence[Cut]) -> str:
    counts = {
        kind: [_name(c) for c, each in zip(found, kinds, strict=True) if each == kind] for kind in dict.fromkeys(kinds)
    }
    if set(counts) == {ASKED}:
        return "The model answers too few of the questions for any column to be asked."
    parts = [
        f"{len(names)} {kind}" + ("" if kind == IN_PLACE else f" ({', '.join(names)})")
        for kind, names in counts.items()
    ]
    return f"Of {len(found)} columns' carries, made: {'; '.join(parts)}{_says_written(cuts)}."


def _says_written(cuts: Sequence[Cut]) -> str:
    if not cuts:
        return ""
    classes = classes_told(cuts)
    kinds = {kind: [name for name in classes if classes[name][0] == kind] for kind, _ in classes.values()}
    plain = {cut: [name for name in classes if cut in classes[name][1]] for cut in BESIDE}
    held = ", ".join(kind if len(kinds) == 1 else f"{kind} ({', '.join(names)})" for kind, names in kinds.items())
    but = " and ".join(f"{cut} ({', '.join(names)})" for cut, names in plain.items() if names)
    rates = {name: pool([cut for cut in cuts if cut.name == name]) for name in BESIDE}
    figures = ", ".join(f"{name} in {told.value:.2f} ({sums.value:.2f})" for name, (told, sums, _) in rates.items())
    return (
        f". What the columns' places write holds apart: {held}; for digits left out {figures}, in brackets "
        "neighbouring sums, or differences, of one value" + (f"; no surer than those: {but}" if but else "")
    )


def _beside(found: Sequence[_Column], kinds: Sequence[str]) -> BesidePaper:
    # The units have no U, so nothing there tells binary from tri-state.
    above = [kind for column, kind in zip(found, kinds, strict=True) if column.column]
    told = [kind for kind in above if kind not in (ASKED, OPEN)]
    binary, split, three = (told.count(kind) for kind in (BINARY, SPLIT, IN_PLACE))
    ours = (
        f"in place in {binary + split + three} of {len(told)} columns above the units that could be told: binary in "
        f"{binary}, two binary values in {split}, three values in {three}"
    )
    return BesidePaper("how a column's carry is made", CARD.paper, ours, binary + split == len(told) if told else None)


def _figure(found: Sequence[_Column]) -> Figure:
    def pooled(measured: Mapping[str, Swapped], null: bool) -> Rate:
        return sum(((each.null if null else each.effect) for each in measured.values()), Rate(0, 0))

    x = range(len(found))
    return Figure(
        x_label="column",
        y_label="share of pairs",
        names=tuple(map(_name, found)),
        series=(
            Series.of_rates("own place swapped", Kind.EFFECT, x, [pooled(c.own, False) for c in found]),
            Series.of_rates("all places up to = swapped", Kind.RIVAL, x, [pooled(c.tail, False) for c in found]),
            Series.of_rates("null: own place, same carry", Kind.NULL, x, [pooled(c.own, True) for c in found]),
        ),
    )


def _name(column: _Column) -> str:
    return str(column.branch.family[column.column])


def _written(column: _Column, cuts: Sequence[Cut]) -> list[str]:
    own = {cut.name: cut for cut in cuts if (cut.branch, cut.column) == (column.branch, column.column)}
    return [
        f"{own[name].told.hits}/{own[name].told.n}, {own[name].other_sums.value:.2f}" if name in own else "-"
        for name in BESIDE
    ]


def _cell(swapped: Swapped | None) -> str:
    return "-" if swapped is None else f"{swapped.effect.hits}/{swapped.effect.n}, {swapped.null.hits}/{swapped.null.n}"
