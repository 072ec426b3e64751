"""Beyond the hypothesis: what a map has that the hypothesis does not ask for. A finding, not an error.

Takes  a judge: a hypothesis, and the search whose map it is judged on.
Gives  `Beyond`: sure roles of values that the hypothesis does not have, sure roles of values that it has but asks for
       elsewhere or not at all, and useful nodes that are in no role.
Never  changes a verdict, and never says what such a node is for.

A role is asked for if a required claim says that its variable is carried for its token, at a place where its set
stands; or if its variable is optional and it stands where that may be known: those are counted by themselves. What is
left is off the path that the hypothesis needs, such as a carry that stands there resolved though it might have been
folded, or a sign that is carried to a digit that could read it from the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from carrylens.discovery.behaviours import StandIns
from carrylens.discovery.node_map import Role, Usefulness
from carrylens.discovery.published_map import answer_places, hit_classes, hit_places
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.claims import Claim, Kind, claims_of
from carrylens.hypothesis.judging import Judge
from carrylens.hypothesis.structure import value_keys
from carrylens.hypothesis.verdicts import fraction, role_record
from carrylens.nodes import print_nodes
from carrylens.tokens import place_names


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
        """The node as `claims.json` has it; tokens and classes are those that mean ablation makes fail."""
        seen = self.usefulness
        tokens = dict(zip(answer_places(self.digits), seen.tokens, strict=False))
        found = {
            "node": str(seen.node),
            "place": place_names(self.digits)[seen.node.position],
            **{name: fraction(getattr(seen, name)) for name in ("mean", "resample", "clean")},
            "tokens": {place: fraction(tokens[place]) for place in hit_places(seen, self.digits)},
            "classes": {name: fraction(seen.classes[name]) for name in hit_classes(seen)},
        }
        if self.stand_ins is not None:
            found["hidden_by"] = {"nodes": print_nodes(self.stand_ins.nodes), "more": fraction(self._hidden)}
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
    strange = [role for role in sure if _is_strange(judging, role)]
    claims = [claim for claim in claims_of(judging.hypothesis) if claim.kind is Kind.CARRIED]
    off = [(role, why) for role in sure if role not in strange and (why := _not_asked(judging, claims, role))]
    return Beyond(tuple(strange), tuple(off), tuple(loose_nodes(judging)))


def loose_nodes(judging: Judge) -> list[LooseNode]:
    """The useful nodes that are in no role, those first without which most fails."""
    found = judging.search.found
    free = found.useful.difference(*(role.nodes for role in found.roles))
    hiding = {each.node: each.stand_ins for each in found.behaviours if each.stand_ins and each.stand_ins.is_useful}
    nodes = [LooseNode(each, found.digits, hiding.get(each.node)) for each in found.nodes if each.node in free]
    return sorted(nodes, key=lambda node: (not node.usefulness.is_useful, -node.failing, node.usefulness.node))


def _is_strange(judging: Judge, role: Role) -> bool:
    # Whether it is of a value that the hypothesis does not have.
    model = judging.hypothesis.model
    keys = set(value_keys(model).values())
    known = {v for v, key in value_keys(judging.search.model).items() if key in keys}
    return (known | {*model.answer_variables, *judging.search.model.inputs}).isdisjoint((role.variable, *role.same_as))


def _not_asked(judging: Judge, claims: list[Claim], role: Role) -> str:
    # Why no claim asks for the role; empty if one does.
    search, model = judging.search, judging.hypothesis.model
    token, names = search.model.answer_variables[role.token], {role.variable, *role.same_as}
    about = [
        claim
        for claim in claims
        if claim.variable is not None and not names.isdisjoint(search.matches(model, claim.variable))
    ]
    mine = [claim for claim in about if claim.token in (token, None)]
    at = max(node.position for node in role.nodes)
    if any(at in claim.positions for claim in mine):
        return ""
    if mine:
        return f"{role.variable} is to stand elsewhere, not at {place_names(search.found.digits)[at]}"
    return f"no required claim asks for {role.variable} for {token}"
