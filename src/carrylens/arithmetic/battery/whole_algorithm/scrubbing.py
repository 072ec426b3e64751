"""Scrubbing: does the answer stay when every site takes the values of another question that agrees in what it holds?

Takes  a subject, a hypothesis of what its sites hold, questions.
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
   at the sign and the answer alone, so by that hypothesis such a source changes nothing. A network that makes a carry
   only where its operation asks for it loses the answer: what that site holds depends on the operator, and the map is
   silent about it. The map's own interchanges keep the operator, so all is done once more with the base's operator in
   all sources, nulls included. What is lost between the two is what the map does not say about the operator.
4. All sites are interchanged at once, each from a source of its own. Nodes without a role compute on; then once more,
   taken from a question that agrees in nothing.
5. Null: random role assignments. Each site agrees in as many variables, drawn from all that the map names. Floor: no
   agreement. Explained is the share of the way from the floor to all answers right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import Hits
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.whole_algorithm.agreeing_sources import agreeing_sources, freedom
from carrylens.arithmetic.battery.whole_algorithm.interchange_sites import InterchangeSite, SiteLabel, all_sites
from carrylens.arithmetic.questions import Questions
from carrylens.discovery.node_map import NodeMap, Nodes
from carrylens.interventions.edits import Edit, interchange
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class ClaimedCircuit:
    """What a map claims: for each site what its nodes carry, and the nodes it gives no role, but for the last MLPs."""

    labels: Mapping[InterchangeSite, SiteLabel]
    rest: Nodes

    @property
    def named(self) -> SiteLabel:
        """Every variable that some site carries."""
        return tuple(dict.fromkeys(variable for label in self.labels.values() for variable in label))


@dataclass(frozen=True, eq=False)
class ScrubbedCircuit:
    """Which answers stay: the claimed circuit scrubbed while other nodes compute on, or are resampled too; the same
    with random roles; and the floor, no agreement.

    `turned` of `n_sources` sources at places that can know the operator had the other one.
    """

    claimed: ClaimedCircuit
    computing: Hits
    resampled: Hits
    random_computing: Hits
    random_resampled: Hits
    floor: Hits
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


def claimed_sites(subject: Subject) -> list[InterchangeSite]:
    """The sites, each with the nodes that the map claims alone; whole sites where no map claims anything."""
    carried = {} if subject.map is None else carriers(subject.map)
    found = [_restricted(site, carried) for site in all_sites(subject)]
    return [site for site in found if site.nodes] or all_sites(subject)


def claimed_circuit(subject: Subject, model: Algorithm) -> ClaimedCircuit | None:
    """The circuit that the map claims, in the variables of `model`; None without a map, or where it claims nothing."""
    if subject.map is None or not (carried := carriers(subject.map)):
        return None
    labels: dict[InterchangeSite, SiteLabel] = {}
    for site in _everywhere(subject):
        mine = _restricted(site, carried)
        if mine.nodes:
            held = set[Variable]().union(*(carried[node] for node in mine.nodes))
            labels[mine] = tuple(variable for variable in model.variables if variable in held)
    taken = {node for site in labels for node in site.nodes}
    rest = tuple(n for n in subject.nodes if n not in taken and not _is_last_mlp(n, subject))
    return ClaimedCircuit(labels, rest) if labels else None


def _restricted(site: InterchangeSite, carried: Mapping[Node, object]) -> InterchangeSite:
    nodes = tuple(node for node in site.nodes if node in carried)
    return InterchangeSite(site.name, nodes, site.position, site.columns, site.digit)


def _everywhere(subject: Subject) -> list[InterchangeSite]:
    # The sites of the interchanges without last MLPs, and one for each place that has none.
    known = all_sites(subject)
    there = {site.position for site in known}
    others = [p for p in range(subject.model.config.n_ctx - 1) if p not in there]
    found = [*known, *(InterchangeSite(subject.place(p), subject.nodes_at(p), p, (), None) for p in others)]
    return [
        InterchangeSite(
            s.name, tuple(n for n in s.nodes if not _is_last_mlp(n, subject)), s.position, s.columns, s.digit
        )
        for s in found
    ]


def _is_last_mlp(node: Node, subject: Subject) -> bool:
    return node.is_mlp and node.layer == subject.last_layer


def random_labels(claimed: ClaimedCircuit, random: np.random.Generator) -> list[SiteLabel]:
    """A role assignment of the same size: for each site as many variables, drawn from all that are named."""
    named = claimed.named
    return [tuple(named[i] for i in random.permutation(len(named))[: len(label)]) for label in claimed.labels.values()]


def staying_answers(
    subject: Subject, sites: Sequence[InterchangeSite], base: Questions, sources: Sequence[Questions]
) -> Hits:
    """Which answers stay right with all sites interchanged at once, each from its source."""
    return np.asarray(~subject.engine.run([_interchange_all(sites)], base, sources).failed[0])


def staying_answers_of_circuit(
    subject: Subject, claimed: ClaimedCircuit, base: Questions, sources: Sequence[Questions], foreign: Questions
) -> NDArray[np.bool_]:
    """The same for the claimed circuit: while nodes without a role compute on, and taken from `foreign` questions."""
    sites = list(claimed.labels)
    edits = [
        _interchange_all(sites),
        _interchange_all(sites) + (interchange(claimed.rest, len(sites)) if claimed.rest else Edit(())),
    ]
    return np.asarray(~subject.engine.run(edits, base, [*sources, foreign]).failed)


def scrub_claimed(
    context: ExperimentContext, model: Algorithm, claimed: ClaimedCircuit, base: Questions, *, turn: bool
) -> ScrubbedCircuit:
    """Steps 2 to 5 for the claimed circuit; the operator is at stake if `turn`, else all sources have the base's."""
    subject, settings = context.subject, context.settings
    sites, labels = list(claimed.labels), list(claimed.labels.values())
    known = [site.position >= subject.position("+") for site in sites]
    turns = [turn and place for place in known]
    foreign = agreeing_sources(
        model, [()] * (len(sites) + 1), base, settings.seed_of("scrubbing foreign", turn), [*turns, turn]
    )
    sources = agreeing_sources(model, labels, base, settings.seed_of("scrubbing claimed", turn), turns)
    random, by_chance = np.random.default_rng(settings.seed_of("scrubbing random roles", turn)), []
    for draw in range(min(settings.n_draws, len(base))):  # another assignment for every so many questions
        rows = np.arange(len(base)) % settings.n_draws == draw
        drawn = random_labels(claimed, random)
        by_chance.append((rows, agreeing_sources(model, drawn, base[rows], int(random.integers(2**31)), turns)))
    scrubbed = staying_answers_of_circuit(subject, claimed, base, sources, foreign[-1])
    shuffled = staying_answers_of_circuit(subject, claimed, base, _put_together(by_chance, base), foreign[-1])
    return ScrubbedCircuit(
        claimed,
        scrubbed[0],
        scrubbed[1],
        shuffled[0],
        shuffled[1],
        floor=staying_answers(subject, sites, base, foreign[:-1]),
        freed=freedom(base, sources),
        turned=sum(int((source.minus != base.minus).sum()) for source in sources),
        n_sources=sum(known) * len(base),
    )


def _interchange_all(sites: Sequence[InterchangeSite]) -> Edit:
    return sum((interchange(site.nodes, slot) for slot, site in enumerate(sites)), Edit(()))


def _put_together(parts: Sequence[tuple[NDArray[np.bool_], Sequence[Questions]]], base: Questions) -> list[Questions]:
    # Sources for all of `base` from those of some of its rows each.
    found = []
    for slot in range(len(parts[0][1])):
        first, second, minus = np.array(base.first), np.array(base.second), np.array(base.minus)
        for rows, sources in parts:
            first[rows], second[rows], minus[rows] = sources[slot].first, sources[slot].second, sources[slot].minus
        found.append(Questions(first, second, minus))
    return found
