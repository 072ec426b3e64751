"""Scrubbing: does the answer stay when every site takes the values of another question that agrees in what it holds?

Takes  a subject, an account of what its sites hold, questions.
Gives  the circuit that a node map claims; sources that agree with a base in some variables; which answers stay.
Never  lets a question be its own source where another one agrees, nor takes the last MLPs from a source: they make the
       answer from what they read, so theirs would be the answer itself.

1. The claimed circuit: at every place the nodes with a role, those of the last layer apart; a site holds all variables
   that the map says its nodes carry, the operator among them.
2. A source that agrees: some other question is taken whole if it does; then, column by column, digits of others
   are taken over wherever the agreement stands. So a source differs in all that its label leaves free.
3. The operator, in mixed models, is a variable like any other. From its place on, half of a site's sources are to have
   the other one, and have it wherever such a question agrees in the label: never if the map says that the site carries
   OPR. What must agree is what the base's operation reads: SA, ST, SV where it adds, MD to NV where it subtracts, SGN,
   A and the operands' digits in both. The causal model computes all of these whatever the operator is and asks for it
   at the sign and the answer alone, so by its account such a source changes nothing. A network that makes a carry only
   where its operation asks for it loses the answer: what that site holds depends on the operator, and the map is silent
   about it. The map's own swaps keep the operator, so all is done once more with the base's operator in all sources,
   nulls included. What is lost between the two is what the map does not say about the operator.
4. All sites are swapped at once, each from a source of its own. Nodes without a role compute on; then once more, taken
   from a question that agrees in nothing.
5. Null: random role assignments. Each site agrees in as many variables, drawn from all that the map names. Floor: no
   agreement. Explained is the share of the way from the floor to all answers right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.battery.alignment import Group, Site, sites_of
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import Variable
from carrylens.discovery.node_map import NodeMap, Nodes
from carrylens.interventions.edits import Edit, swap
from carrylens.nodes import Node

_TRIES = 6
_SWEEPS = 2
_TURNED = 0.5  # of a site's sources are to have the other operator

Kept = NDArray[np.bool_]


@dataclass(frozen=True)
class Claimed:
    """What a map claims: for each site what its nodes carry, and the nodes it gives no role, but for the last MLPs."""

    labels: Mapping[Site, Group]
    rest: Nodes

    @property
    def named(self) -> Group:
        """Every variable that some site carries."""
        return tuple(dict.fromkeys(variable for label in self.labels.values() for variable in label))


@dataclass(frozen=True, eq=False)
class Scrubbed:
    """Which answers stay: the claimed circuit scrubbed while other nodes compute on, or are resampled too; the same
    with random roles; and the floor, no agreement.

    `turned` of `n_sources` sources at places that can know the operator had the other one.
    """

    claimed: Claimed
    computing: Kept
    resampled: Kept
    random_computing: Kept
    random_resampled: Kept
    floor: Kept
    freed: float
    turned: int
    n_sources: int


def carriers(found: NodeMap) -> dict[Node, set[Variable]]:
    """Every node with a role, alone or in a set, and what it carries."""
    carried: dict[Node, set[Variable]] = {}
    claims = [(role.nodes, role.variable) for role in found.roles]
    for nodes, variable in (*claims, *((group.nodes, group.variable) for group in found.groups)):
        for node in nodes:
            carried.setdefault(node, set()).add(variable)
    return carried


def claimed_sites(subject: Subject) -> list[Site]:
    """The sites, each with the nodes that the map claims alone; whole sites where no map claims anything."""
    carried = {} if subject.map is None else carriers(subject.map)
    found = [_restricted(site, carried) for site in sites_of(subject)]
    return [site for site in found if site.nodes] or sites_of(subject)


def claimed_circuit(subject: Subject, model: CausalModel) -> Claimed | None:
    """The circuit that the map claims, in the variables of `model`; None without a map, or where it claims nothing."""
    if subject.map is None or not (carried := carriers(subject.map)):
        return None
    labels: dict[Site, Group] = {}
    for site in _everywhere(subject):
        mine = _restricted(site, carried)
        if mine.nodes:
            held = set[Variable]().union(*(carried[node] for node in mine.nodes))
            labels[mine] = tuple(variable for variable in model.variables if variable in held)
    taken = {node for site in labels for node in site.nodes}
    rest = tuple(n for n in subject.nodes if n not in taken and not _is_last_mlp(n, subject))
    return Claimed(labels, rest) if labels else None


def _restricted(site: Site, carried: Mapping[Node, object]) -> Site:
    nodes = tuple(node for node in site.nodes if node in carried)
    return Site(site.name, nodes, site.position, site.columns, site.digit)


def _everywhere(subject: Subject) -> list[Site]:
    # The sites of the interchanges without last MLPs, and one for each place that has none.
    known = sites_of(subject)
    there = {site.position for site in known}
    others = [p for p in range(subject.model.config.n_ctx - 1) if p not in there]
    found = [*known, *(Site(subject.place(p), subject.nodes_at(p), p, (), None) for p in others)]
    return [
        Site(s.name, tuple(n for n in s.nodes if not _is_last_mlp(n, subject)), s.position, s.columns, s.digit)
        for s in found
    ]


def _is_last_mlp(node: Node, subject: Subject) -> bool:
    return node.is_mlp and node.layer == subject.last_layer


def agreeing(
    model: CausalModel, labels: Sequence[Group], base: Questions, seed: int, turn: Sequence[bool] = ()
) -> list[Questions]:
    """For each label questions with the base's values of it, different in all else.

    The operator is the base's, but for the labels that `turn` names: there half of the questions have the other one,
    wherever one with it agrees.
    """
    n, random = len(base), np.random.default_rng([seed, 41])
    rows = np.tile(np.arange(n), len(labels))
    wanted = _Wanted(model, labels, base)
    first, second = np.array(base.first[rows]), np.array(base.second[rows])
    turned = np.repeat(np.array(turn or [False] * len(labels)), n) & (random.random(len(rows)) < _TURNED)
    minus = base.minus[rows] ^ turned
    fresh = np.zeros(len(rows), dtype=np.bool_)
    streams = [Stream(StreamKind.ENRICHED, op, base.digits, seed) for op in (Operation.ADD, Operation.SUB)]

    def drawn(at: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        add, sub = (stream.take(at * n, n) for stream in streams)
        pick = np.stack([random.permutation(n) for _ in labels]).ravel()
        sides = ((add.first, sub.first), (add.second, sub.second))
        one, other = (np.where(minus[:, None], away[pick], home[pick]) for home, away in sides)
        return one, other

    for at in range(_TRIES):
        one, other = drawn(at)
        good = ~fresh & wanted.met(Questions(one, other, minus))
        first[good], second[good] = one[good], other[good]
        fresh |= good
    minus = np.where(wanted.met(Questions(first, second, minus)), minus, base.minus[rows])
    for at in range(_SWEEPS):
        one, other = drawn(_TRIES + at)
        for column in random.permutation(base.digits):
            tried = np.array(first), np.array(second)
            tried[0][:, column], tried[1][:, column] = one[:, column], other[:, column]
            good = wanted.met(Questions(*tried, minus))
            first[good], second[good] = tried[0][good], tried[1][good]
    parts = [slice(i * n, (i + 1) * n) for i in range(len(labels))]
    return [Questions(first[part], second[part], minus[part]) for part in parts]


class _Wanted:
    """Whether questions agree with a base in labels, label after label."""

    def __init__(self, model: CausalModel, labels: Sequence[Group], base: Questions) -> None:
        self._model, self._labels, self._minus = model, labels, base.minus
        self._needed = tuple(dict.fromkeys(variable for label in labels for variable in label))
        self._values = model.run(base, read=self._needed) if self._needed else None
        adds, subs = (set(algorithm(op, base.digits).by_variable) for op in (Operation.ADD, Operation.SUB))
        self._silent = (subs - adds, adds - subs)

    def met(self, questions: Questions) -> NDArray[np.bool_]:
        """Which rows agree; a variable of the other operation is not read, so it need not."""
        n = len(self._minus)
        found = np.ones(len(questions), dtype=np.bool_)
        if self._values is None:
            return found
        values = self._model.run(questions, read=self._needed)
        for at, label in enumerate(self._labels):
            rows = slice(at * n, (at + 1) * n)
            for variable in label:
                same = values[variable][rows] == self._values[variable]
                found[rows] &= same | self._unread(variable)
        return found

    def _unread(self, variable: Variable) -> NDArray[np.bool_]:
        on_plus, on_minus = (variable in silent for silent in self._silent)
        return np.where(self._minus, on_minus, on_plus)


def freedom(base: Questions, sources: Sequence[Questions]) -> float:
    """The share of the operands' digits in which the sources differ from the base."""
    return float(np.mean([[s.first != base.first, s.second != base.second] for s in sources]))


def random_labels(claimed: Claimed, random: np.random.Generator) -> list[Group]:
    """A role assignment of the same size: for each site as many variables, drawn from all that are named."""
    named = claimed.named
    return [tuple(named[i] for i in random.permutation(len(named))[: len(label)]) for label in claimed.labels.values()]


def stays(subject: Subject, sites: Sequence[Site], base: Questions, sources: Sequence[Questions]) -> Kept:
    """Which answers stay right with all sites swapped at once, each from its source."""
    return np.asarray(~subject.engine.run([_swapped(sites)], base, sources).failed[0])


def stays_both(
    subject: Subject, claimed: Claimed, base: Questions, sources: Sequence[Questions], foreign: Questions
) -> NDArray[np.bool_]:
    """The same for the claimed circuit: while nodes without a role compute on, and taken from `foreign` questions."""
    sites = list(claimed.labels)
    edits = [_swapped(sites), _swapped(sites) + (swap(claimed.rest, len(sites)) if claimed.rest else Edit(()))]
    return np.asarray(~subject.engine.run(edits, base, [*sources, foreign]).failed)


def scrub_claimed(
    context: ExperimentContext, model: CausalModel, claimed: Claimed, base: Questions, *, turn: bool
) -> Scrubbed:
    """Steps 2 to 5 for the claimed circuit; the operator is at stake if `turn`, else all sources have the base's."""
    subject, settings = context.subject, context.settings
    sites, labels = list(claimed.labels), list(claimed.labels.values())
    known = [site.position >= subject.position("+") for site in sites]
    turns = [turn and place for place in known]
    foreign = agreeing(
        model, [()] * (len(sites) + 1), base, settings.seed_of("scrubbing foreign", turn), [*turns, turn]
    )
    sources = agreeing(model, labels, base, settings.seed_of("scrubbing claimed", turn), turns)
    random, by_chance = np.random.default_rng(settings.seed_of("scrubbing random roles", turn)), []
    for draw in range(min(settings.n_draws, len(base))):  # another assignment for every so many questions
        rows = np.arange(len(base)) % settings.n_draws == draw
        drawn = random_labels(claimed, random)
        by_chance.append((rows, agreeing(model, drawn, base[rows], int(random.integers(2**31)), turns)))
    scrubbed = stays_both(subject, claimed, base, sources, foreign[-1])
    shuffled = stays_both(subject, claimed, base, _put_together(by_chance, base), foreign[-1])
    return Scrubbed(
        claimed,
        *(scrubbed[0], scrubbed[1], shuffled[0], shuffled[1]),
        floor=stays(subject, sites, base, foreign[:-1]),
        freed=freedom(base, sources),
        turned=sum(int((source.minus != base.minus).sum()) for source in sources),
        n_sources=sum(known) * len(base),
    )


def _swapped(sites: Sequence[Site]) -> Edit:
    return sum((swap(site.nodes, slot) for slot, site in enumerate(sites)), Edit(()))


def _put_together(parts: Sequence[tuple[NDArray[np.bool_], Sequence[Questions]]], base: Questions) -> list[Questions]:
    # Sources for all of `base` from those of some of its rows each.
    found = []
    for slot in range(len(parts[0][1])):
        first, second, minus = np.array(base.first), np.array(base.second), np.array(base.minus)
        for rows, sources in parts:
            first[rows], second[rows], minus[rows] = sources[slot].first, sources[slot].second, sources[slot].minus
        found.append(Questions(first, second, minus))
    return found
