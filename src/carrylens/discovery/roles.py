"""Roles: which variable a set of nodes carries, for which outputs.

Takes  a search context and sets of nodes.
Gives  `Role`: sets, variables and outputs for which an interchange of the set does just what one of the variable would.
Never  grants a role on attention, on one split of questions, or because an output merely changed.

1. Find: for each variable and each output that may be the first to show it, interchange every set that could know it
   on pairs made for the two. It is a candidate where the output becomes the counterfactual one more often than it
   changes on null pairs, which differ in the same inputs and agree in the variable.
2. Confirm: on fresh pairs, with p corrected for all candidates of their family. A set that never follows from one value
   of the variable to another, though it follows others, carries something coarser, not the variable.
3. Compete: where a set has several variables for one output, look at pairs on which they predict different ones
   (`disambiguation.py`): confirming pairs, and where few of those tell, pairs made to tell. A variable that another
   rules out there is dropped; variables that no question can tell apart are named together.
4. Superposed: variables that hit but were dropped at one of these steps, or hit in less than half of the pairs, may be
   carried together with others (`difference_patching.py`). Where they are not, and the null moves too, a variable of
   the same set and output whose null does not is the better explanation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.difference_patching import FamilyOf, Place, superposed_roles
from carrylens.discovery.disambiguation import Disambiguation, disambiguation_facts
from carrylens.discovery.interchange_outcomes import (
    InterchangeRates,
    Stimuli,
    blurred_sets,
    draw_stimuli,
    interchanges,
    rate_steps,
)
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.search import CLEARLY, RoleSettings, SearchContext
from carrylens.discovery.stimulus_spec import MADE_FOR, MADE_FOR_OUTPUT, Split
from carrylens.errors import CarryLensError
from carrylens.evidence.corrections import corrected_within
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import p_above
from carrylens.interventions.waves import Answered, Steps
from carrylens.nodes import print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.equivalence import are_equivalent
from carrylens.tasks.layout import Layout
from carrylens.tasks.output_pairs import mixed_pairs, output_pairs, shown_outputs
from carrylens.tasks.pairs import Pairs, counterfactual_outputs
from carrylens.tasks.task import Task
from carrylens.tasks.timeline import first_computable
from carrylens.tasks.variables import Variable

_MOSTLY = 0.5  # of the pairs, below which a role is held in part
_UNTOLD = Disambiguation()


@dataclass(frozen=True)
class SetFamily:
    """Sets whose tests are corrected together; `only` names for each set the variables it is tested for, if not all."""

    sets: Sequence[Nodes]
    only: Mapping[Nodes, Collection[Variable]] | None = None

    def tests(self, nodes: Nodes, variable: Variable) -> bool:
        """Whether a set is tested for a variable."""
        return nodes in self._members and (self.only is None or variable in self.only[nodes])

    @cached_property
    def _members(self) -> frozenset[Nodes]:
        return frozenset(self.sets)


def find_roles(
    search: SearchContext, sets: Sequence[Nodes], only: Mapping[Nodes, Collection[Variable]] | None = None
) -> list[Role]:
    """Every role of every set, or of each set those of the variables that `only` names for it."""
    return find_families(search, [SetFamily(sets, only)])[0]


def find_families(search: SearchContext, families: Sequence[SetFamily]) -> list[list[Role]]:
    """The roles of the sets of each family. All are measured together; a set in several is corrected with the first."""
    settings = search.settings
    every = list(dict.fromkeys(nodes for family in families for nodes in family.sets))

    def family_of(nodes: Nodes, variable: Variable) -> int:
        return next((at for at, each in enumerate(families) if each.tests(nodes, variable)), -1)

    wanted, steps = list(searched_claims(search.causal)), []
    for variable, token in wanted:
        able = able_sets(search.causal, search.layout, variable, every, token)
        steps.append(_found(search, variable, token, [nodes for nodes in able if family_of(nodes, variable) >= 0]))
    hitting: list[tuple[Variable, InterchangeRates]] = []
    for (variable, _), (rates, facts) in zip(wanted, search.together(steps, "finding roles"), strict=True):
        hitting += [(variable, each) for each in rates if each.hit.value >= settings.least_hit]
        for fact in facts:
            search.note(fact)
    candidates = [(variable, each) for variable, each in hitting if p_above(each.hit, each.null) <= settings.find_level]
    granted = _compete(search, _confirm(search, candidates, family_of))
    doubtful = _doubtful(hitting, granted, settings.least_hit)
    superposed = superposed_roles(search, doubtful, granted, family_of)
    kept = [role for role in granted if not is_explained(role, granted, settings.least_hit)]
    found = _better_way([*kept, *superposed])
    return [[role for role in found if family.tests(role.nodes, role.variable)] for family in families]


def _better_way(roles: Sequence[Role]) -> list[Role]:
    # A role that was granted both ways is kept the way it hits more often.
    best: dict[tuple[Variable, Nodes, int], Role] = {}
    for role in roles:
        key = (role.variable, role.nodes, role.token)
        if key not in best or _worth(role) > _worth(best[key]):
            best[key] = role
    return list(best.values())


def _worth(role: Role) -> float:
    return role.hit.value - role.null.value


def is_explained(role: Role, roles: Sequence[Role], least_hit: float) -> bool:
    """Whether the output also moves when the variable agrees, and another variable says when and hits as often."""
    if role.null.value < least_hit:
        return False
    others = (other for other in roles if (other.nodes, other.token) == (role.nodes, role.token))
    return any(other.null.value < least_hit and other.hit.value >= role.hit.value for other in others)


def _doubtful(
    hitting: Sequence[tuple[Variable, InterchangeRates]], granted: Sequence[Role], least_hit: float
) -> dict[Variable, set[Place]]:
    # Where interchanges hit and yet no role was granted, or one in part, or one whose null moves as often as a role
    # must hit.
    sure = (role for role in granted if role.null.value < least_hit and role.hit.value >= _MOSTLY)
    known = {(role.variable, role.nodes, role.token) for role in sure}
    found: dict[Variable, set[Place]] = {}
    for variable, each in hitting:
        if (variable, each.nodes, each.token) not in known:
            found.setdefault(variable, set()).add((each.nodes, each.token))
    return found


def confirming_stimuli(search: SearchContext, variable: Variable, token: int) -> Stimuli:
    """The pairs on which roles of a variable are confirmed for an output: twice as many as are confirmed on at least.

    With fewer than 70 pairs a single miss would leave it open whether a role is whole.
    """
    spec = search.settings.stimuli(Split.CONFIRM)
    return draw_stimuli(search.task, search.causal, variable, replace(spec, count=2 * spec.count), token)


def readable_variables(model: CausalModel) -> Iterator[Variable]:
    """The variables that show in the outputs, the outputs themselves included."""
    for variable in model.variables:
        if any(variable == output or variable in model.ancestors(output) for output in model.outputs):
            yield variable


def searched_claims(model: CausalModel) -> Iterator[tuple[Variable, int]]:
    """Every variable with the place of each output that may be the first to show it."""
    for variable in readable_variables(model):
        for output in shown_outputs(model, variable):
            yield variable, model.outputs.index(output)


def able_sets(
    model: CausalModel, layout: Layout, variable: Variable, sets: Sequence[Nodes], token: int | None = None
) -> list[Nodes]:
    """The sets that could know the variable: the last of their nodes stands where its last input is read, or later.

    And, where an output is named, not after the place where that is predicted.
    """
    first = first_computable(model, layout, variable)
    last = max(layout.read_positions) if token is None else layout.read_positions[token]
    return [nodes for nodes in sets if first <= max(node.position for node in nodes) <= last]


def _found(
    search: SearchContext, variable: Variable, token: int, sets: list[Nodes]
) -> Steps[tuple[list[InterchangeRates], list[Fact]]]:
    # The rates of every set, wherever its null is, and their facts.
    if not sets:
        return [], []
    settings = search.settings
    try:
        stimuli = draw_stimuli(search.task, search.causal, variable, settings.stimuli(Split.FIND), token)
    except CarryLensError:  # a variable whose value no question can show
        return [], []
    rates = yield from rate_steps(sets, stimuli, settings.least, settings.least_hit)
    return rates, [_fact(variable, each, "find", stimuli) for each in rates]


def _confirm(
    search: SearchContext, candidates: list[tuple[Variable, InterchangeRates]], family_of: FamilyOf
) -> list[Role]:
    settings = search.settings
    by_claim: dict[tuple[Variable, int], list[Nodes]] = {}
    for variable, each in candidates:
        by_claim.setdefault((variable, each.token), []).append(each.nodes)
    steps = [_confirmed(confirming_stimuli(search, *claim), sets, settings.least) for claim, sets in by_claim.items()]
    measured: list[tuple[Variable, InterchangeRates]] = []
    blurred: set[tuple[Variable, int, Nodes]] = set()
    for claim, (rates, coarse) in zip(by_claim, search.together(steps, "confirming roles"), strict=True):
        for each in rates:
            search.note(_fact(claim[0], each, "confirm", confirming_stimuli(search, *claim)))
        measured += [(claim[0], each) for each in rates]
        blurred |= {(*claim, nodes) for nodes in coarse}
    p_values = [p_above(each.hit, each.null) for _, each in measured]
    corrected = corrected_within(p_values, [family_of(each.nodes, variable) for variable, each in measured])
    return [
        Role(each.nodes, variable, each.token, each.hit, each.null, p)
        for (variable, each), p in zip(measured, corrected, strict=True)
        if p <= settings.level
        and each.hit.value >= settings.least_hit
        and (variable, each.token, each.nodes) not in blurred
    ]


def _confirmed(stimuli: Stimuli, sets: Sequence[Nodes], least: int) -> Steps[tuple[list[InterchangeRates], set[Nodes]]]:
    # All that will be asked of these pairs in one go: the sets, their null, and each part alone. Besides the rates,
    # the sets that blur two values of the variable.
    alone = list(dict.fromkeys([*sets, *(part for nodes in sets for part in set_parts(nodes))]))
    effect, *_ = yield [
        interchanges(alone, stimuli.effect, stimuli.token),
        *([interchanges(sets, stimuli.null, stimuli.token)] if len(stimuli.null) else []),
    ]
    coarse = blurred_sets(sets, stimuli, effect, least)
    return (yield from rate_steps(sets, stimuli, 1)), coarse


def set_parts(nodes: Nodes) -> list[Nodes]:
    """Each member alone, and all members of each place, where there are several; nothing of a single node."""
    places = {node.position: tuple(each for each in nodes if each.position == node.position) for node in nodes}
    found = [*((node,) for node in nodes), *(places.values() if len(places) > 1 else ())]
    return list(dict.fromkeys(found)) if len(nodes) > 1 else []


def _fact(variable: Variable, rates: InterchangeRates, split: str, stimuli: Stimuli) -> Fact:
    about = {"nodes": print_nodes(rates.nodes), "variable": str(variable), "token": rates.token, "split": split}
    drawn = {"pairs": stimuli.count, "seed": stimuli.seed, MADE_FOR: MADE_FOR_OUTPUT}
    return Fact("swap", about, rates.hit, rates.null, drawn)


def _compete(search: SearchContext, roles: list[Role]) -> list[Role]:
    model = search.causal
    places: dict[tuple[Nodes, int], list[Role]] = {}
    for role in roles:
        places.setdefault((role.nodes, role.token), []).append(role)
    others: dict[tuple[Variable, int], dict[Variable, list[Role]]] = {}
    for ours, theirs in (pair for some in places.values() for pair in permutations(some, 2)):
        others.setdefault((ours.variable, ours.token), {}).setdefault(theirs.variable, []).append(ours)
    steps = [_contest(search, *claim, against) for claim, against in others.items()]
    lost: set[Role] = set()
    same: dict[Role, list[Variable]] = {}
    found = search.together(steps, "telling roles apart")
    for ((variable, _), against), told in zip(others.items(), found, strict=True):
        for other, some in against.items():
            for role in some:
                if are_equivalent(model, variable, other, role.token):
                    same.setdefault(role, []).append(other)
                    continue
                outcome = told[role, other]
                _note_contest(search, role, other, outcome)
                if outcome.rules_out(role, search.settings):
                    lost.add(role)
                elif not outcome.found.n and not outcome.found.beyond.n and not outcome.crossed.n:
                    same.setdefault(role, []).append(other)
    return [replace(role, same_as=tuple(same.get(role, ()))) for role in roles if role not in lost]


@dataclass(frozen=True)
class _Contest:
    """A role's variable against another; `made` says whether pairs were made to tell the two apart.

    Of pairs whose source has another value of an output that was put out before, only that is counted in `found`: the
    source worked its answer out another way. `crossed` counts them by what either variable says all the same.
    """

    found: Disambiguation
    made: bool
    crossed: Disambiguation = _UNTOLD

    def rules_out(self, role: Role, settings: RoleSettings) -> bool:
        """Whether the other variable is the better explanation of the role."""
        if self.found.n:
            return self.found.rules_out(role.hit, role.null, settings)
        both = self.crossed.ours.n >= settings.least and self.crossed.theirs.hits > self.crossed.ours.hits
        return both and p_above(self.crossed.theirs, self.crossed.ours) <= CLEARLY


def _contest(
    search: SearchContext, variable: Variable, token: int, against: Mapping[Variable, Sequence[Role]]
) -> Steps[dict[tuple[Role, Variable], _Contest]]:
    # Of roles, all of one variable and output, the disambiguations from others. Pairs that were run already serve;
    # where few of them tell the two apart, pairs that differ in much are added, and last some that are made to tell.
    model, settings = search.causal, search.settings
    pairs = confirming_stimuli(search, variable, token).effect
    sets = sorted({role.nodes for some in against.values() for role in some})
    (answered,) = yield [interchanges(sets, pairs, token)]
    seen = _Interchanged(search.task, pairs, sets, answered)
    apart = {
        (role, other): _Contest(seen.disambiguation(role, other), made=False)
        for other, some in against.items()
        for role in some
        if not are_equivalent(model, variable, other, role.token)
    }
    few = _too_few(apart, settings)
    mixed = mixed_pairs(model, variable, model.outputs[token], *_mixture(settings), few) if few else None
    if mixed is not None:
        sets = sorted({role.nodes for some in few.values() for role in some})
        (answered,) = yield [interchanges(sets, mixed, token)]
        _add_made(apart, few, _Interchanged(search.task, mixed, sets, answered))
        few = _too_few(apart, settings)
    made = {other: _made_to_tell(search, variable, other, token) for other in few}
    wanted = {other: some for other, some in made.items() if some is not None}
    there = {other: sorted({role.nodes for role in few[other]}) for other in wanted}
    run = (yield [interchanges(there[other], some, token) for other, some in wanted.items()]) if wanted else []
    for (other, some), given in zip(wanted.items(), run, strict=True):
        _add_made(apart, {other: few[other]}, _Interchanged(search.task, some, there[other], given))
    return apart


def _too_few(apart: Mapping[tuple[Role, Variable], _Contest], settings: RoleSettings) -> dict[Variable, list[Role]]:
    # The roles that too few pairs tell from another variable, by that variable. A role held in part takes more.
    few: dict[Variable, list[Role]] = {}
    for (role, other), contest in apart.items():
        if contest.found.n < (settings.n_compete // 2 if role.hit.value >= _MOSTLY else 2 * settings.n_compete):
            few.setdefault(other, []).append(role)
    return few


def _add_made(
    apart: dict[tuple[Role, Variable], _Contest], few: Mapping[Variable, Sequence[Role]], more: _Interchanged
) -> None:
    for other, roles in few.items():
        for role in roles:
            before = apart[role, other]
            found, crossed = (
                before.found + more.disambiguation(role, other),
                more.disambiguation(role, other, crossed=True),
            )
            apart[role, other] = _Contest(found, made=True, crossed=before.crossed + crossed)


def _mixture(settings: RoleSettings) -> tuple[int, int]:
    # How many pairs that differ in much tell a variable from all others, and their seed.
    spec = settings.stimuli(Split.COMPETE)
    return 4 * spec.count, spec.seed


def _note_contest(search: SearchContext, role: Role, other: Variable, contest: _Contest) -> None:
    settings = search.settings
    seeds = {"confirm": settings.n_confirm, "made": settings.n_compete if contest.made else 0, "seed": settings.seed}
    about = {"nodes": print_nodes(role.nodes), "variable": str(role.variable), "against": str(other)}
    for fact in disambiguation_facts("duel", {**about, "token": role.token}, contest.found, seeds):
        search.note(fact)


@dataclass(frozen=True, eq=False)
class _Interchanged:
    """What became of pairs when sets were interchanged."""

    task: Task
    pairs: Pairs
    sets: list[Nodes]
    given: Answered

    @cached_property
    def _place_of(self) -> dict[Nodes, int]:
        return {nodes: at for at, nodes in enumerate(self.sets)}

    def disambiguation(self, role: Role, other: Variable, *, crossed: bool = False) -> Disambiguation:
        """The role's variable against the other; with `crossed` on all pairs, whatever was put out before."""
        at, given = role.token, self.given.tokens[self._place_of[role.nodes]]
        ours, theirs = (_predicted(self.task, self.pairs, variable, crossed) for variable in (role.variable, other))
        return Disambiguation.of(*(side[:, at] for side in (self.given.right, given, ours, theirs)))


@lru_cache(maxsize=64)
def _predicted(task: Task, pairs: Pairs, variable: Variable, crossed: bool) -> NDArray[np.int8]:
    if crossed:
        return task.output_ids(pairs.base, counterfactual_outputs(pairs.model, variable, pairs.base, pairs.source))
    return task.output_ids(pairs.base, pairs.counterfactual(variable))


def _made_to_tell(search: SearchContext, variable: Variable, other: Variable, token: int) -> Pairs | None:
    # Pairs that tell a variable from another at an output; None if there are none.
    spec = search.settings.stimuli(Split.COMPETE)
    try:
        output = search.causal.outputs[token]
        return output_pairs(search.causal, variable, output, spec.count, spec.seed, tell_from=[other])
    except CarryLensError:
        return None
