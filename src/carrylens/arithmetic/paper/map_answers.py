"""Answers from maps and the claims about them: the skeleton in every model, which nodes hold what.

Takes  saved evidence: maps, claims.
Gives  the functions that answer claims about them.
Never  counts a role whose interval does not lie above one half.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from carrylens.arithmetic.battery.measures.verdict_rules import surely_most
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.table import CIRCUIT_SECTION, Standing
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperReader, missing
from carrylens.arithmetic.paper.readers import (
    FAMILY_COMMAND,
    counted,
)
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.discovery.node_map import NodeMap

_SIX = "add_d6_l2_h3_w96_t2K_s1"
_MIXED = "mix_d6_l3_h4_w96_t4K_s1"
_MAP = "carrylens map MODEL"


def answer_circuit(name: str, why: str = "") -> PaperReader:
    """What a question about maps and claims says in every model, the paper's word being the commonest good one."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        row = evidence.row(CIRCUIT_SECTION, name)
        if row is None or not any(cell.word or cell.figure for cell in row.cells):
            return missing("no map was judged", "carrylens judge MODEL")
        words = Counter(cell.word for cell in row.cells if cell.word)
        rest = "; ".join(row.rest)
        agreed = {"present", "runs", "all supported", "none surely is"}
        if any(word not in agreed for word in words):
            said = Agreement.DIFFERS
        else:
            said = Agreement.AGREES if row.standing is Standing.HOLDS else Agreement.OPEN
        ours = f"of {len(row.cells)} models: {counted(words.most_common())}{'; ' if rest and words else ''}{rest}"
        return PaperAnswer(said, ours, len(row.cells), "models", command=FAMILY_COMMAND, why=why)

    return read


def answer_constraints(evidence: PaperEvidence) -> PaperAnswer:
    """The six-digit model meets over 30 constraints."""
    member = evidence.member(_SIX)
    if member is None or member.claims is None:
        return missing(f"no claims about {_SIX} are saved", f"carrylens judge {_SIX}")
    required = [claim for claim in member.claims["claims"] if claim["required"]]
    kinds = Counter(str(claim["verdict"]).lower() for claim in required)
    return PaperAnswer(
        Agreement.AGREES if len(required) > 30 else Agreement.DIFFERS,
        f"{len(required)} claims follow from the algorithm: {counted(kinds.most_common())}",
        len(required),
        "claims",
        command=f"carrylens judge {_SIX}",
    )


def answer_which_head(evidence: PaperEvidence) -> PaperAnswer:
    """Which head implements a sub-task varies."""
    seeds: dict[str, list[NodeMap]] = {}
    for member in evidence.members:
        if member.map is not None:
            seeds.setdefault(str(member.name).rpartition("_s")[0], []).append(member.map)
    alike = [_jaccard(a, b) for maps in seeds.values() for a, b in combinations(maps, 2)]
    if not alike:
        return missing("no two seeds of one shape are mapped", _MAP)
    return PaperAnswer(
        Agreement.AGREES if max(alike) < 0.5 else Agreement.DIFFERS,
        f"two seeds of one shape share {min(alike):.2f} to {max(alike):.2f} of their pairs of node and variable "
        "(Jaccard)",
        len(alike),
        "pairs of models",
        command=FAMILY_COMMAND,
    )


def _jaccard(one: NodeMap, other: NodeMap) -> float:
    mine, theirs = (
        {(role.nodes, role.variable) for role in each.roles if surely_most(role.hit)} for each in (one, other)
    )
    return len(mine & theirs) / max(1, len(mine | theirs))


def answer_two_heads(evidence: PaperEvidence) -> PaperAnswer:
    """Some sub-tasks are split across heads of one layer and place."""
    models = [member for member in evidence.members if member.map is not None]
    split = [member for member in models if _split_roles(member)]
    if not models:
        return missing("no model is mapped", _MAP)
    roles = sum(_split_roles(member) for member in split)
    return PaperAnswer(
        Agreement.AGREES if split else Agreement.DIFFERS,
        f"in {len(split)} of {len(models)} models some variable is carried by several heads of one layer and place, "
        f"{roles} roles in all",
        len(models),
        "models",
        command=_MAP,
    )


def _split_roles(member: Member) -> int:
    assert member.map is not None
    return sum(
        len(role.nodes) > 1
        and len({(node.position, node.layer) for node in role.nodes}) == 1
        and all(node.head is not None for node in role.nodes)
        and surely_most(role.hit)
        for role in member.map.roles
    )


def answer_clusters(evidence: PaperEvidence) -> PaperAnswer:
    """Three classes of ST in principal components."""
    clear = seen = models = looked = 0
    for member in evidence.members:
        found = [] if member.map is None else [each for b in member.map.behaviours for each in b.clusters]
        three = [each for each in found if each.variable.name == "ST" and each.n_classes == 3]
        seen, clear = seen + len(three), clear + sum(each.are_clear for each in three)
        models, looked = models + any(each.are_clear for each in three), looked + bool(three)
    if not seen:
        return missing("no principal components of nodes are saved", _MAP)
    return PaperAnswer(
        Agreement.AGREES if models == looked else Agreement.DIFFERS,
        f"in {models} of {looked} models some node's write falls into three clear classes; {clear:,} of all {seen:,} "
        "pairs of node and column do",
        seen,
        "pairs of node and column",
        "the best of shuffled labels, which the silhouette must beat at p 0.01",
        _MAP,
    )


def answer_one_digit_after(evidence: PaperEvidence) -> PaperAnswer:
    """After =, a node serves one answer digit."""
    after, single = 0, 0
    for member in evidence.members:
        if member.map is None:
            continue
        digits = member.name.digits
        for node in member.map.nodes:
            if node.node.position > 2 * digits + 2 and node.is_useful:
                changed = sum(rate.hits > 0 for rate in node.tokens)
                after, single = after + 1, single + (changed <= 1)
    if not after:
        return missing("no map says which answer tokens a node changes", _MAP)
    return PaperAnswer(
        Agreement.AGREES if single == after else Agreement.DIFFERS,
        f"of {after:,} useful nodes at answer places {single:,} change one token alone when ablated",
        after,
        "nodes",
        command=_MAP,
        why="" if single == after else "an ablation also changes later places that read the node",
    )


def answer_positions(evidence: PaperEvidence) -> PaperAnswer:
    """Which positions a five-digit addition uses."""
    member = next((m for m in evidence.members if m.name.digits == 5 and m.name.operation.value == "add"), None)
    if member is None or member.map is None:
        return missing("no five-digit addition is mapped", _MAP)
    used = sorted({node.node.position for node in member.map.nodes if node.is_useful})
    heads = sum(node.is_useful and node.node.head is not None for node in member.map.nodes)
    mlps = sum(node.is_useful and node.node.head is None for node in member.map.nodes)
    return PaperAnswer(
        Agreement.AGREES if used[0] == 6 else Agreement.DIFFERS,
        f"{member.name}: P{used[0]} to P{used[-1]}, {heads} heads and {mlps} MLPs at places",
        len(member.map.nodes),
        "nodes",
        command=f"carrylens map {member.name}",
        why="" if used[0] == 6 else "another training run, another layout of the work",
        single=True,
    )
