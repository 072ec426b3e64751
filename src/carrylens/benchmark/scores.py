"""Scores: how much of a planted circuit a method found, and how much of what it found is there.

Takes  a truth, its causal model, and what a method found.
Gives  `Result`: counts by role, node, group and variable, decoys tagged, and every wrong and missed role by name.
Never  counts a variable as another because a method says that they are the same.

How variables that no question tells apart are counted: a tag whose variable is not planted at the node, but which is
alike (see `alike.py`) one that is, counts as that one, found once. So it is neither a hit of its own nor an error. It
needs the same node, and it must be alike for the token the tag names; a tag that names none must be alike for all
tokens. Tags of alike variables none of which is planted there are one error, not several. `strict` is the score
without all that.

How operand digits are counted: a head that shares the fetching of a column with another brings D[k] or D'[k] and
nothing else, though the truth lists it under what both are fetched for. A tag that it carries that digit is true, so
it is left out of the count, neither hit nor error; any other tag of an operand digit is an error.

Heads that fetch the digits of a column hold those digits, not what is made of them, and only a swap makes the two the
same. `made` is the score without the roles of such heads, for methods that look at what a node holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from carrylens.arithmetic.planted.comparison import Score, compare, true_groups
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.variables import D_PRIME, D
from carrylens.benchmark.method_result import Found, Tag, roles_of
from carrylens.nodes import Node, print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.equivalence import are_equivalent
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class Result:
    """A method held against one planted circuit."""

    roles: Score
    made: Score
    strict: Score
    nodes: Score
    groups: Score
    by_variable: Mapping[str, Score]
    decoys: Score
    wrong: tuple[str, ...]
    missed: tuple[str, ...]
    wrong_groups: tuple[str, ...]
    missed_groups: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Result:
        """What `plain` gave."""
        plain = dict(given)
        for name in ("roles", "made", "strict", "nodes", "groups", "decoys"):
            plain[name] = Score(**plain[name])
        plain["by_variable"] = {name: Score(**score) for name, score in plain["by_variable"].items()}
        for name in ("wrong", "missed", "wrong_groups", "missed_groups"):
            plain[name] = tuple(plain[name])
        return cls(**plain)


def score(truth: Truth, causal: CausalModel, found: Found) -> Result:
    """How well a method did."""
    halves = operand_halves(truth)
    tags = [tag for tag in found.tags if (tag.node, tag.variable) not in halves]
    roles, strict = roles_of(settle(truth, causal, tag) for tag in tags), compare(truth, roles_of(tags))
    compared = compare(truth, roles, found.groups)
    true = {(node, variable) for node, variables in truth.roles.items() for variable in variables}
    said = {(node, variable) for node, variables in roles.items() for variable in variables}
    true_sets, said_sets = true_groups(truth), {nodes for nodes in found.groups if len(nodes) > 1}
    fetched = fetching_roles(truth)
    only_decoys = [node for node in truth.decoys if node not in truth.roles]
    return Result(
        roles=compared.roles,
        made=Score(len(true - fetched), len(said - fetched), len((true & said) - fetched)),
        strict=strict.roles,
        nodes=compared.nodes,
        groups=compared.groups,
        by_variable=compared.by_variable,
        decoys=Score(len(only_decoys), len(compared.decoys_found), len(compared.decoys_found)),
        wrong=_named(f"{node} {variable}" for node, variable in said - true),
        missed=_named(f"{node} {variable}" for node, variable in true - said),
        wrong_groups=_named(map(print_nodes, said_sets - true_sets)),
        missed_groups=_named(map(print_nodes, true_sets - said_sets)),
    )


def settle(truth: Truth, causal: CausalModel, tag: Tag) -> Tag:
    """The tag, or the planted one that no question tells from it, or the first such variable of the algorithm."""
    planted = truth.roles.get(tag.node, frozenset())
    if tag.variable in planted:
        return tag
    for variable in (*sorted(planted, key=str), *causal.by_variable):
        if are_equivalent(causal, tag.variable, variable, tag.token):
            return Tag(tag.node, variable, tag.token)
    return tag


def fetching_roles(truth: Truth) -> set[tuple[Node, Variable]]:
    """The heads that bring digits of a column, with what those are brought for."""
    stages: dict[tuple[Node, Variable], set[str]] = {}
    for group in truth.groups:
        for node in group.nodes:
            stages.setdefault((node, group.variable), set()).add(group.stage)
    return {role for role, found in stages.items() if found == {"fetch"}}


def operand_halves(truth: Truth) -> set[tuple[Node, Variable]]:
    """The heads that bring one digit of a column, and which: of two that share a column the first brings D."""
    return {
        (node, family[group.variable.index])
        for group in truth.groups
        if group.stage == "fetch" and group.variable.index is not None
        for copy in group.copies
        if len(copy) == 2
        for node, family in zip(sorted(copy), (D, D_PRIME), strict=True)
    }


def total(scores: Iterable[Score]) -> Score:
    """All counts together."""
    counts = [(each.n_true, each.n_found, each.n_both) for each in scores]
    return Score(*(sum(column) for column in zip(*counts, strict=True))) if counts else Score(0, 0, 0)


def _named(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
