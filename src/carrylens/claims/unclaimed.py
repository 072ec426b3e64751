"""Beyond the hypothesis: what a map has that the hypothesis does not ask for. A finding, not an error.

Takes  a judge: a hypothesis, and the search whose map it is judged on.
Gives  `Beyond`: sure roles of values that the hypothesis does not have, sure roles of values that it has but asks for
       elsewhere or not at all, and useful nodes that are in no role.
Never  changes a verdict, and never says what such a node is for.

A role is asked for if a required claim says that its variable is carried for its token, at a place where its set
stands; or if its variable is optional and it stands where that may be known: those are counted by themselves. What is
left is off the path that the hypothesis needs: a variable on which the token does not depend, or one that it could do
without, such as a carry that stands there resolved though it might have been folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from carrylens.arithmetic.published_map import answer_places, hit_classes, hit_places
from carrylens.arithmetic.tokens import place_names
from carrylens.claims.claims import Claim, Kind, behind, claims_of
from carrylens.claims.rules import Judge
from carrylens.claims.structure import value_keys
from carrylens.claims.verdicts import role_record
from carrylens.discovery.behaviours import StandIns
from carrylens.discovery.node_map import Role, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.nodes import print_nodes
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class LooseNode:
    """A useful node that is in no role; `stand_ins` only if those hide a part of what it does."""

    usefulness: Usefulness
    digits: int
    stand_ins: StandIns | None = None

    @property
    def failing(self) -> float:
        """The share of questions that fail without it, by the ablation that hurts more, beyond those that fail anyway.

        What only its stand-ins hide counts where nothing else fails.
        """
        seen = self.usefulness
        alone = max(seen.mean.value, seen.resample.value) - seen.clean.value
        return alone if seen.is_useful or self.stand_ins is None else self._hidden.value

    @property
    def _hidden(self) -> Rate:
        assert self.stand_ins is not None
        return max(self.stand_ins.mean_lost, self.stand_ins.resample_lost, key=lambda rate: rate.hits)

    def record(self) -> dict[str, Any]:
        """The node as `claims.json` has it; tokens and classes are those that fail without it, and not anyway."""
        seen = self.usefulness
        tokens = dict(zip(answer_places(self.digits), seen.tokens, strict=False))
        found = {
            "node": str(seen.node),
            "place": place_names(self.digits)[seen.node.position],
            **{name: _counts(getattr(seen, name)) for name in ("mean", "resample", "clean")},
            "tokens": {place: _counts(tokens[place]) for place in hit_places(seen, self.digits)},
            "classes": {name: _counts(seen.classes[name]) for name in hit_classes(seen)},
        }
        if self.stand_ins is not None:
            found["hidden_by"] = {"nodes": print_nodes(self.stand_ins.nodes), "more": _counts(self._hidden)}
        return found


@dataclass(frozen=True)
class Beyond:
    """What was found and not asked for: roles of `values` the hypothesis lacks, other `roles`, and `nodes`."""

    values: tuple[Role, ...] = ()
    roles: tuple[tuple[Role, str], ...] = ()
    nodes: tuple[LooseNode, ...] = ()

    def record(self) -> dict[str, Any]:
        """The parts as `claims.json` has them."""
        return {
            "unexplained": [role_record(role) for role in self.values],
            "not_asked_for": [{**role_record(role), "why": why} for role, why in self.roles],
            "nodes_without_role": [node.record() for node in self.nodes],
        }


def beyond(judging: Judge) -> Beyond:
    """All that the map has beyond the hypothesis: roles the surest first, nodes by how much fails without them."""
    sure = sorted(filter(judging.is_sure, judging.search.found.roles), key=lambda role: -role.hit.interval[0])
    known, asked = _known(judging), _asked(judging)
    strange = [role for role in sure if known.isdisjoint(_names(role))]
    off = [(role, why) for role in sure if role not in strange and (why := _not_asked(judging, asked, role))]
    return Beyond(tuple(strange), tuple(off), tuple(loose_nodes(judging)))


def loose_nodes(judging: Judge) -> list[LooseNode]:
    """The useful nodes that are in no role, those first without which most fails."""
    found = judging.search.found
    free = found.useful.difference(*(role.nodes for role in found.roles))
    hiding = {each.node: each.stand_ins for each in found.behaviours if each.stand_ins and each.stand_ins.is_useful}
    nodes = [LooseNode(each, found.digits, hiding.get(each.node)) for each in found.nodes if each.node in free]
    return sorted(nodes, key=lambda node: (not node.usefulness.is_useful, -node.failing, node.usefulness.node))


def _names(role: Role) -> frozenset[Variable]:
    return frozenset((role.variable, *role.same_as))


def _known(judging: Judge) -> frozenset[Variable]:
    # The map's variables whose value the hypothesis has, too.
    model, mine = judging.hypothesis.model, judging.search.model
    keys = set(value_keys(model).values())
    same = {variable for variable, key in value_keys(mine).items() if key in keys}
    return frozenset(same | {*model.outputs, *mine.inputs})


def _asked(judging: Judge) -> list[tuple[Claim, frozenset[Variable]]]:
    # Every claim that a variable is carried, with the map's names for that variable.
    return [
        (claim, judging.search.matches(judging.hypothesis.model, claim.variable))
        for claim in claims_of(judging.hypothesis)
        if claim.kind is Kind.CARRIED and claim.variable is not None
    ]


def _not_asked(judging: Judge, asked: list[tuple[Claim, frozenset[Variable]]], role: Role) -> str:
    # Why no claim asks for the role; empty if one does.
    token, at = judging.search.model.outputs[role.token], max(node.position for node in role.nodes)
    mine = [claim for claim, names in asked if claim.token in (token, None) and not names.isdisjoint(_names(role))]
    if any(at in claim.positions for claim in mine):
        return ""
    if mine:
        return f"it is to stand elsewhere than at {place_names(judging.search.found.digits)[at]}"
    model, search = judging.hypothesis.model, judging.search
    read = frozenset().union(*(search.matches(model, variable) for variable in behind(model, token)))
    return f"{token} does not depend on it" if read.isdisjoint(_names(role)) else f"not required for {token}"


def _counts(rate: Rate) -> dict[str, Any]:
    return {"hits": rate.hits, "n": rate.n, "interval": [round(bound, 4) for bound in rate.interval]}
