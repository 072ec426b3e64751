"""Unclaimed: what a map has that no required claim is about. A finding, not an error.

Takes  a judge: a hypothesis, and the search whose map it is judged on.
Gives  `Unclaimed`: sure roles of values that the hypothesis does not have, sure roles of values that it has but
       requires elsewhere or not at all, and useful nodes without a role.
Never  changes a verdict, and never says what such a node is for.

A role is claimed if a required claim says that its variable is carried for its output, at a place where its set stands;
or if its variable is optional and it stands where that may be known. What is left is off the path that the hypothesis
needs: a variable on which the output does not depend, or one that it could do without, such as an intermediate value
that might have been folded.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET

from carrylens.claims.claims import Claim, ClaimKind, claims_of
from carrylens.claims.records import HiddenByRecord, NodeRecord, RateRecord
from carrylens.claims.rules import Judge
from carrylens.claims.structure import dependencies, value_keys
from carrylens.discovery.behaviours import BackupUse
from carrylens.discovery.node_map import Role, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.nodes import print_nodes
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class NodeWithoutRole:
    """A useful node that is in no role; `backups` only if those hide a part of what it does."""

    usefulness: Usefulness
    layout: Layout
    backups: BackupUse | None = None

    @property
    def failing(self) -> float:
        """The share of questions that fail without it, by the ablation that hurts more, beyond those that fail anyway.

        What only its backup nodes hide counts where nothing else fails.
        """
        seen = self.usefulness
        alone = max(seen.mean.value, seen.resample.value) - seen.clean.value
        return alone if seen.is_useful or self.backups is None else self._hidden(self.backups).value

    @staticmethod
    def _hidden(backups: BackupUse) -> Rate:
        return max(backups.mean_lost, backups.resample_lost, key=lambda rate: rate.hits)

    def record(self) -> NodeRecord:
        """The node as `claims.json` has it."""
        seen, hidden = self.usefulness, self.backups
        tokens = zip(self.layout.output_places, seen.tokens, strict=False)  # none, where the map does not say
        return NodeRecord(
            node=str(seen.node),
            place=self.layout.place_names[seen.node.position],
            mean=RateRecord.of(seen.mean),
            resample=RateRecord.of(seen.resample),
            clean=RateRecord.of(seen.clean),
            tokens={place: RateRecord.of(rate) for place, rate in tokens if rate.hits},
            classes={name: RateRecord.of(rate) for name, rate in sorted(seen.classes.items()) if rate.hits},
            hidden_by=UNSET
            if hidden is None
            else HiddenByRecord(print_nodes(hidden.nodes), RateRecord.of(self._hidden(hidden))),
        )


@dataclass(frozen=True)
class Unclaimed:
    """What was found and not claimed: roles of `values` the hypothesis lacks, other `roles` with why, and `nodes`."""

    values: tuple[Role, ...] = ()
    roles: tuple[tuple[Role, str], ...] = ()
    nodes: tuple[NodeWithoutRole, ...] = ()


def find_unclaimed(judging: Judge) -> Unclaimed:
    """All that the map has and no claim is about: roles the surest first, nodes by how much fails without them."""
    sure = sorted(filter(judging.is_sure, judging.search.found.roles), key=lambda role: -role.hit.interval[0])
    known, claimed = _known(judging), _claimed(judging)
    strange = [role for role in sure if known.isdisjoint(_names(role))]
    off = [(role, why) for role in sure if role not in strange and (why := _why_unclaimed(judging, claimed, role))]
    return Unclaimed(tuple(strange), tuple(off), tuple(nodes_without_role(judging)))


def nodes_without_role(judging: Judge) -> list[NodeWithoutRole]:
    """The useful nodes that are in no role, those first without which most questions fail."""
    found = judging.search.found
    free = found.useful.difference(*(role.nodes for role in found.roles))
    hiding = {each.node: each.backups for each in found.behaviours if each.backups and each.backups.is_useful}
    layout = found.task.layout
    nodes = [NodeWithoutRole(each, layout, hiding.get(each.node)) for each in found.nodes if each.node in free]
    return sorted(nodes, key=lambda node: (not node.usefulness.is_useful, -node.failing, node.usefulness.node))


def _names(role: Role) -> frozenset[Variable]:
    return frozenset((role.variable, *role.same_as))


def _known(judging: Judge) -> frozenset[Variable]:
    # The map's variables whose value the hypothesis has, too.
    model, mine = judging.hypothesis.model, judging.search.causal
    keys = set(value_keys(model, mine).values())
    same = {variable for variable, key in value_keys(mine).items() if key in keys}
    return frozenset(same | {*model.outputs, *mine.inputs})


def _claimed(judging: Judge) -> list[tuple[Claim, frozenset[Variable]]]:
    # Every claim that a variable is carried, with the map's names for that variable.
    return [
        (claim, judging.search.matches(judging.hypothesis.model, claim.variable))
        for claim in claims_of(judging.hypothesis, judging.search.found.task.layout)
        if claim.kind is ClaimKind.CARRIED and claim.variable is not None
    ]


def _why_unclaimed(judging: Judge, claimed: list[tuple[Claim, frozenset[Variable]]], role: Role) -> str:
    # Why no claim is about the role; empty if one is.
    search, model = judging.search, judging.hypothesis.model
    token, at = search.causal.outputs[role.token], max(node.position for node in role.nodes)
    mine = [claim for claim, names in claimed if claim.token in (token, None) and not names.isdisjoint(_names(role))]
    if any(at in claim.positions for claim in mine):
        return ""
    if mine:
        return f"it is to stand elsewhere than at {search.found.task.layout.place_names[at]}"
    read = frozenset().union(*(search.matches(model, variable) for variable in dependencies(model, token)))
    return f"{token} does not depend on it" if read.isdisjoint(_names(role)) else f"not required for {token}"
