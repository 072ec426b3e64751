"""Alignment: which variables of a causal model each site of a network holds, chosen on questions of their own.

Takes  a subject, a causal model (ours or a rival's), pairs of questions.
Gives  `Aligned`: for every site the variables that predict best what its swap does; random interventions, each on
       sites of its own, and what an account predicts for them.
Never  scores on the questions it chose with, nor asks a model when it predicts.

1. Sites: every place D'k; `=`; at each place that predicts a digit, the nodes before the last layer, and the last
   layer's heads.
2. What a site may hold: parts, such as the tri-state values of a column, that can be known there.
3. Swap each site with unrelated questions. Of no part, every part and every two parts the one that predicts most
   answers exactly is the site's; then parts are added as long as that predicts more.
4. An intervention: a base, two or three sites drawn for it alone, and for each a source of its own. Rows that share
   their sites would not be independent, and counts of them would look surer than they are.
5. Each token is predicted by the causal model, run with the values that the moved sites bring for that token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.timeline import first_computable
from carrylens.arithmetic.variables import D_PRIME, SGN, A, D
from carrylens.discovery.interchange import answer_tokens
from carrylens.discovery.node_map import Nodes
from carrylens.interventions.edits import Edit, swap
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Values
from carrylens.tasks.variables import Variable

Group = tuple[Variable, ...]
Tokens = NDArray[np.int8]

_SLOTS = 3

_TOGETHER = (
    ("SA", "MD", "ND"),
    ("ST", "MB", "NB"),
    ("SV", "MV", "NV"),
    ("C", "B"),
    ("R", "Z"),
    ("SC",),
    ("S9",),
    ("SU",),
)
"""Families that a site holds together: sources ask for the base's operation, so one of them speaks at a time."""


@dataclass(frozen=True)
class Site:
    """Nodes that are swapped together. `digit` is that of the answer they serve, or None where they serve all above."""

    name: str
    nodes: Nodes
    position: int
    columns: tuple[int, ...]
    digit: int | None


@dataclass(frozen=True)
class Aligned:
    """For each site the variables it holds, by the account of one causal model."""

    model: Algorithm
    labels: Mapping[Site, Group]


@dataclass(frozen=True)
class Moved:
    """A site that takes its values from a source, as that source's values in one causal model."""

    site: Site
    label: Group
    values: Values


@dataclass(frozen=True, eq=False)
class Interventions:
    """Bases, and for each its sites: `chosen` has their numbers, -1 for a slot without one, [row, slot]."""

    sites: tuple[Site, ...]
    chosen: NDArray[np.int64]
    base: Questions
    sources: tuple[Questions, ...]

    def __len__(self) -> int:
        return len(self.base)

    def __getitem__(self, rows: NDArray[np.int64]) -> Interventions:
        return Interventions(self.sites, self.chosen[rows], self.base[rows], tuple(s[rows] for s in self.sources))

    @property
    def edits(self) -> list[Edit]:
        """What is done in each row."""
        swaps = [[swap(site.nodes, slot) for site in self.sites] for slot in range(len(self.sources))]
        return [sum((swaps[slot][at] for slot, at in enumerate(row) if at >= 0), Edit(())) for row in self.chosen]

    @property
    def copied(self) -> Tokens:
        """The answers of the sources, -1 where a slot has no site: [slot, row, token]."""
        unused = self.chosen.T[:, :, None] < 0
        return np.where(unused, np.int8(-1), np.stack([answer_tokens(source) for source in self.sources]))


def sites_of(subject: Subject) -> list[Site]:
    """Every site, those that serve all digits first."""
    digits, last = subject.digits, subject.last_layer
    found = []
    for k in range(digits - 1, -1, -1):
        place = subject.position(f"D'{k}")
        found.append(Site(f"D'{k}", subject.nodes_at(place), place, (k, k + 1), None))
    place = subject.position("=")
    found.append(Site("=", subject.nodes_at(place), place, (), None))
    for digit in range(digits, -1, -1):
        here = subject.nodes_at(subject.predicting(digit))
        columns = tuple(k for k in (digit, digit - 1) if 0 <= k < digits)
        early = tuple(node for node in here if node.layer < last)
        heads = tuple(node for node in here if node.layer == last and not node.is_mlp)
        for name, nodes in ((f"A{digit} early", early), (f"A{digit} last heads", heads)):
            if nodes:
                found.append(Site(name, nodes, subject.predicting(digit), columns, digit))
    return found


def parts_of(model: Algorithm, site: Site, last_read: int) -> list[Group]:
    """What the site may hold. From `last_read` on all resolved values can be known."""
    needed = frozenset[Variable]().union(*(model.ancestors(answer) for answer in model.outputs))
    able = [
        variable
        for variable in model.by_variable
        if variable in needed and variable != SGN and first_computable(model, variable) <= site.position
    ]
    parts: list[Group] = []
    for names in _TOGETHER:
        parts += [tuple(v for v in able if v.name in names and v.digit == k) for k in site.columns]
        if site.digit is None and site.position >= last_read:
            parts.append(tuple(v for v in able if v.name in names and first_computable(model, v) == last_read))
    if SGN in model.by_variable and model.by_variable[SGN].parents and site.position > last_read:
        parts.append((SGN,))
    if site.digit is None and site.columns and not any(parts):  # an account that names nothing but the digits
        parts.append((D[site.columns[0]], D_PRIME[site.columns[0]]))
    return [part for part in dict.fromkeys(parts) if part]


def predict(model: Algorithm, base: Questions, own: Values, moved: Sequence[Moved]) -> Tokens:
    """The tokens that the base must be answered with, each made with the sign that stands in the base's answer."""
    usual = own.answers()
    predicted = answer_tokens(base, usual)
    whole = [each for each in moved if each.site.digit is None]
    served = {each.site.digit for each in moved if each.site.digit is not None}
    for token, tokens in _cases(model, served, whole=bool(whole)):
        written = {} if token == "sign" else own.pick(SGN)
        do = dict(written)
        for each in whole:  # a digit is made with the sign that was written, whatever moved before it
            do |= each.values.pick(*(v for v in each.label if v != SGN or token == "sign"))
        for each in (m for m in moved if m.site.digit is not None and m.site.digit == token):
            do |= each.values.pick(*each.label)
        given = answer_tokens(base, model.answers(base, do=do))
        predicted[:, tokens] = given[:, tokens]
    return predicted


def _cases(model: Algorithm, served: set[int], *, whole: bool) -> Iterator[tuple[object, list[int]]]:
    # Tokens that are predicted alike: the sign, each digit that has a site of its own, all the others. Without a site
    # that serves all digits nothing moves the first and the last of these.
    n = model.digits
    if whole and SGN in model.by_variable and model.by_variable[SGN].parents:
        yield "sign", [0]
    if whole:
        yield "others", [n + 1 - digit for digit in range(n + 1) if digit not in served]
    for digit in served:
        yield digit, [n + 1 - digit]


def predict_each(model: Algorithm, labels: Mapping[Site, Group], asked: Interventions) -> Tokens:
    """What `predict` says of every row, whose sites differ from row to row."""
    own, brought = model.run(asked.base), [model.run(source) for source in asked.sources]
    answer = {}
    for token in model.outputs:
        forced: dict[Variable, tuple[NDArray[np.bool_], Column]] = {}
        for serving in (False, True):  # a site that serves one digit goes before those that serve all
            for slot, values in enumerate(brought):
                for at, site in enumerate(asked.sites):
                    if (site.digit is not None) is not serving or (serving and token != A[site.digit or 0]):
                        continue
                    rows = asked.chosen[:, slot] == at
                    for variable in labels[site]:
                        if variable != SGN or serving or token == SGN:
                            taken, column = forced.get(variable, (False, own[variable]))
                            forced[variable] = (rows | taken, np.where(rows, values[variable], column))
        answer[token] = _under(model, own, forced, token)
    digits = np.stack([answer[A[k]] for k in range(model.digits + 1)], axis=1)
    return answer_tokens(asked.base, Answers(answer[SGN] == 1, digits))


def _under(
    model: Algorithm, own: Values, forced: Mapping[Variable, tuple[NDArray[np.bool_], Column]], token: Variable
) -> Column:
    # The value of `token` where each variable is forced in some rows. Only what may have changed is computed anew. A
    # digit is made with the sign that was written.
    changed = {variable: column for variable, (_, column) in forced.items() if variable in model.inputs}
    needed = {token, *model.ancestors(token)}
    for mechanism in (each for each in model.mechanisms if each.variable in needed):
        variable, value = mechanism.variable, own[mechanism.variable]
        moves = (variable != SGN or token == SGN) and any(parent in changed for parent in mechanism.parents)
        if moves:
            value = np.asarray(mechanism.rule(*(changed.get(parent, own[parent]) for parent in mechanism.parents)))
        if variable in forced:
            rows, column = forced[variable]
            value = np.where(rows, column, value)
        if moves or variable in forced:
            changed[variable] = value.astype(np.int8)
    return changed.get(token, own[token])


def random_interventions(operation: Operation, sites: Sequence[Site], digits: int, n: int, seed: int) -> Interventions:
    """Rows with two or three sites each, or with the only one there is."""
    slots = min(_SLOTS, len(sites))
    base, sources = random_pairs(operation, digits, n, slots, seed)
    random = np.random.default_rng([seed, 43])
    chosen = np.argsort(random.random((n, len(sites))), axis=1)[:, :slots]
    chosen[np.arange(slots) >= random.integers(min(2, slots), slots + 1, (n, 1))] = -1
    return Interventions(tuple(sites), chosen, base, tuple(sources))


def random_pairs(
    operation: Operation, digits: int, n: int, n_sources: int, seed: int
) -> tuple[Questions, list[Questions]]:
    """Bases, and for each slot sources that have nothing in common with them but the operator."""
    base = Stream(StreamKind.ENRICHED, operation, digits, seed).take(0, n)
    sources = []
    for slot in range(n_sources):
        add, sub = (
            Stream(StreamKind.ENRICHED, each, digits, seed + 1 + slot).take(0, n)
            for each in (Operation.ADD, Operation.SUB)
        )
        pick = base.minus[:, None]
        first, second = (np.where(pick, getattr(sub, side), getattr(add, side)) for side in ("first", "second"))
        sources.append(Questions(first, second, base.minus))
    return base, sources


def align(subject: Subject, models: Sequence[Algorithm], sites: Sequence[Site], n: int, seed: int) -> list[Aligned]:
    """For each causal model what the sites hold, by what swapping each alone does to the same questions."""
    base, (source,) = random_pairs(subject.operation, subject.digits, n, 1, seed)
    given = subject.engine.run([swap(site.nodes) for site in sites], base, source).tokens
    last_read = subject.position("D'0")
    found = []
    for model in models:
        own, values = model.run(base), model.run(source)
        labels = {}
        for site, tokens in zip(sites, given, strict=True):

            def score(parts: Sequence[Group], site: Site = site, tokens: Tokens = tokens) -> float:
                label = tuple(dict.fromkeys(variable for part in parts for variable in part))
                return _agreed(predict(model, base, own, [Moved(site, label, values)]), tokens)  # noqa: B023

            labels[site] = _chosen(parts_of(model, site, last_read), score)
        found.append(Aligned(model, labels))
    return found


def _chosen(parts: Sequence[Group], score: Callable[[Sequence[Group]], float]) -> Group:
    # Step 3. Of equally good ones the first is taken, and those of fewer parts come first.
    tried = [some for size in range(3) for some in combinations(parts, size)]
    scores = [score(some) for some in tried]
    best, reached = tried[int(np.argmax(scores))], max(scores)
    while len(best) >= 2 and (rest := [part for part in parts if part not in best]):
        grown = [(*best, part) for part in rest]
        scores = [score(some) for some in grown]
        if max(scores) <= reached:
            break
        best, reached = grown[int(np.argmax(scores))], max(scores)
    return tuple(dict.fromkeys(variable for part in best for variable in part))


def _agreed(predicted: Tokens, given: Tokens) -> float:
    # Whole answers; single tokens count only between equals.
    same = predicted == given
    return float(same.all(1).sum() + same.mean())
