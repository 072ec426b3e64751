"""Make-carry: is each column's carry made at its own place, as soon as it can be, and with how many values?

Takes  a subject.
Gives  for every branch and column where its carry is made, and whether that place tells two values or three.
Never  calls a carry binary because one kind of pair was never shown.

1. For each column k and each two of its values (0 and 1, 0 and U, 1 and U) draw pairs that differ in column k alone.
2. Swap all nodes of its own place, D'k. The digits above k must become the source's; with a source of the same value
   and other digits they must stay.
3. Where they do not follow, swap every place from D'k to `=`: is the carry made later, or only at the answer?
4. Swap each node of D'k alone: where one head tells 0 from 1 and another 0 from U, but no head both, there are two
   binary values instead of one with three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.variables import U
from carrylens.battery.columns import Branch, branches_of, contrast_pairs
from carrylens.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.swapping import Swapped, answered, swap_columns
from carrylens.battery.weighing import weigh
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict
from carrylens.nodes import Node

CARD = Card(
    name="make-carry",
    title="Where each carry is made",
    question="Is each column's carry made at its own place, as soon as the column is complete, and does it have three "
    "values?",
    method=(
        "Pairs of questions that differ in one column, whose carry goes between 0 and 1, 0 and U, or 1 and U.",
        "Swap all nodes of the column's own place; the digits above must become the source's.",
        "Null: a source with other digits in that column and the same carry.",
        "Swap every place up to = instead, to see whether the carry is made later.",
        "Swap each node of the place alone, to see whether two of them hold one binary value each.",
    ),
    refuted_if="for some column the swap surely leaves most digits as they were: for all its values (then the carry is "
    "made elsewhere), or between 0 and U alone (then it is binary); or two heads hold a binary value each.",
    paper="each carry is computed eagerly, in place, as a binary make-carry",
    where="Table of family invariants; PCA shows three clusters",
)
CONTRASTS = {"0-1": (0, 1), "0-U": (0, U), "1-U": (1, U)}
IN_PLACE, SPLIT = "at its own place, all its values", "at its own place, as two binary values"
BINARY, LATER = "at its own place, binary", "not there alone, but before the answer"
ANSWER, OPEN, ASKED = "only at the answer", "open", "not asked"


@dataclass(frozen=True)
class _Column:
    """What was measured about one column: by contrast the own place, all up to `=`, and each node alone."""

    branch: Branch
    column: int
    own: Mapping[str, Swapped]
    tail: Mapping[str, Swapped]
    alone: Mapping[str, Mapping[Node, Swapped]]


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    wanted = [(b, k) for b in branches_of(subject.operation) for k in range(b.top(subject.digits))]
    found = []
    for at, (branch, k) in enumerate(wanted):
        watch(CARD.title, at, len(wanted))
        found.append(_measure(subject, settings, branch, k))
    facts = [fact for column in found for fact in _facts(column, settings)]
    verdicts: dict[tuple[object, ...], Verdict] = {
        (fact.about["site"], fact.about["column"], fact.about["values"]): verdict
        for fact, verdict in zip(facts, weigh(facts), strict=True)
    }
    kinds = [_kind(column, verdicts) for column in found]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=_overall(kinds),
        says=_says(found, kinds),
        facts=tuple(facts),
        figure=_figure(found),
        headers=("column", "made at", *(f"{name}, null" for name in CONTRASTS)),
        rows=tuple(
            (_name(column), kind, *(_cell(column.own.get(name)) for name in CONTRASTS))
            for column, kind in zip(found, kinds, strict=True)
        ),
        beside_paper=(_beside(kinds),),
    )


def _measure(subject: Subject, settings: Settings, branch: Branch, k: int) -> _Column:
    place, end = subject.position(f"D'{k}"), subject.position("=")
    own, tail = subject.nodes_at(place), subject.nodes_at(*range(place, end + 1))
    single = [node for node in own if node.layer < subject.last_layer] or list(own)
    results: dict[str, list[Swapped]] = {}
    for name, values in CONTRASTS.items():
        if k == 0 and U in values:
            continue
        drawn = contrast_pairs(
            branch, subject.digits, k, values, settings.n_pairs, settings.seed_of(CARD.name, name, branch, k)
        )
        pairs = answered(subject, drawn)
        results[name] = swap_columns(subject, pairs, [own, tail, *((node,) for node in single)])
    alone = {name: dict(zip(single, each[2:], strict=True)) for name, each in results.items()}
    first, second = ({name: each[at] for name, each in results.items()} for at in (0, 1))
    return _Column(branch, k, first, second, alone)


def _facts(column: _Column, settings: Settings) -> list[Fact]:
    facts = []
    for site, measured in (("own place", column.own), ("up to =", column.tail)):
        for name, swapped in measured.items():
            about = {"site": site, "column": _name(column), "values": name}
            facts.append(swapped.fact(CARD.name, about, {"n": settings.n_pairs, "seed": settings.seed}))
    return facts


def _kind(column: _Column, verdicts: Mapping[tuple[object, ...], Verdict]) -> str:
    own = {name: verdicts["own place", _name(column), name] for name in column.own}
    if own["0-1"] is Verdict.UNTESTED:
        return ASKED
    if set(own.values()) == {Verdict.SUPPORTED}:
        return SPLIT if _is_split(column) else IN_PLACE
    if own["0-1"] is Verdict.SUPPORTED and own.get("0-U") is Verdict.REFUTED:
        return BINARY
    if own["0-1"] is Verdict.REFUTED:
        tail = verdicts["up to =", _name(column), "0-1"]
        return {Verdict.SUPPORTED: LATER, Verdict.REFUTED: ANSWER}.get(tail, OPEN)
    return OPEN


def _is_split(column: _Column) -> bool:
    # Whether one head tells carries, another nines, and none both.
    if "0-U" not in column.alone:
        return False
    tells = {
        name: {
            node for node, swapped in column.alone[name].items() if not node.is_mlp and swapped.effect.interval[0] > 0.5
        }
        for name in ("0-1", "0-U")
    }
    return bool(tells["0-1"]) and bool(tells["0-U"]) and not tells["0-1"] & tells["0-U"]


def _overall(kinds: Sequence[str]) -> Verdict:
    asked = [kind for kind in kinds if kind != ASKED]
    if not asked:
        return Verdict.UNTESTED
    if {SPLIT, BINARY, LATER, ANSWER} & set(asked):
        return Verdict.REFUTED
    return Verdict.SUPPORTED if set(kinds) == {IN_PLACE} else Verdict.INCONCLUSIVE


def _says(found: Sequence[_Column], kinds: Sequence[str]) -> str:
    counts = {
        kind: [_name(c) for c, each in zip(found, kinds, strict=True) if each == kind] for kind in dict.fromkeys(kinds)
    }
    if set(counts) == {ASKED}:
        return "The model answers too few of the questions for any column to be asked."
    parts = [
        f"{len(names)} {kind}" + ("" if kind == IN_PLACE else f" ({', '.join(names)})")
        for kind, names in counts.items()
    ]
    return f"Of {len(found)} columns' carries, made: {'; '.join(parts)}."


def _beside(kinds: Sequence[str]) -> BesidePaper:
    asked = [kind for kind in kinds if kind not in (ASKED, OPEN)]
    in_place = sum(kind in (IN_PLACE, SPLIT, BINARY) for kind in asked)
    binary = sum(kind == BINARY for kind in asked)
    ours = f"in place in {in_place} of {len(asked)} columns that could be told, binary in {binary}"
    agrees = None if not asked else in_place == binary == len(asked)
    return BesidePaper("how a column's carry is made", CARD.paper, ours, agrees)


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


def _cell(swapped: Swapped | None) -> str:
    return "-" if swapped is None else f"{swapped.effect.hits}/{swapped.effect.n}, {swapped.null.hits}/{swapped.null.n}"
