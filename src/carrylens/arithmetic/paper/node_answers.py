"""Answers about single nodes: which digits they change, where heads look, what they serve, as saved maps say.

Takes  saved maps.
Gives  the functions that answer claims about them.
Never  counts a role whose interval does not lie above one half.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from carrylens.arithmetic.battery.measures.verdict_rules import surely_most
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperReader, missing
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.discovery.node_map import NodeMap
from carrylens.nodes import Node

_CLASSES, _BORROWS = ("SA", "MD", "ND"), ("ST", "MB", "NB")
_BRANCH = {
    **dict.fromkeys(("SA", "ST", "SV"), "sum"),
    **dict.fromkeys(("MD", "MB", "MV"), "positive"),
    **dict.fromkeys(("ND", "NB", "NV"), "negative"),
}
_SELECTORS = ("OPR", "SGN")


def answer_kept_nodes(name: str, n_kept: int, n_all: int) -> PaperReader:
    """How many nodes of all the map keeps."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _map_of(evidence, name)
        if found is None:
            return _not_mapped(name)
        n, mine = len(found.nodes), len(found.useful)
        return PaperAnswer(
            Agreement.AGREES if abs(mine / n - n_kept / n_all) < 0.1 else Agreement.DIFFERS,
            f"{mine} of {n}, without those of the last position, which nothing reads ({name})",
            n,
            "nodes",
            command=f"carrylens map {name}",
            single=True,
        )

    return read


def answer_several_before(evidence: PaperEvidence) -> PaperAnswer:
    """Before =, each node often serves several answer digits."""
    before = several = 0
    for member in evidence.members:
        for node in () if member.map is None else member.map.nodes:
            if node.node.position < 2 * member.name.digits + 1 and node.is_useful:
                before += 1
                several += sum(rate.hits > 0 for rate in node.tokens) > 1
    if not before:
        return missing("no map says which answer tokens a node changes", "carrylens map MODEL")
    return PaperAnswer(
        Agreement.AGREES if 2 * several > before else Agreement.DIFFERS,
        f"of {before:,} useful nodes before = {several:,} change several tokens when ablated",
        before,
        "nodes",
        command="carrylens map MODEL",
    )


def answer_carry_order(name: str) -> PaperReader:
    """The nodes of ST stand in a semi-random order."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _map_of(evidence, name)
        if found is None:
            return _not_mapped(name)
        place: dict[int, int] = {}
        for role in sorted(found.roles, key=lambda role: -role.hit.value):
            index = role.variable.index
            if role.variable.name == "ST" and len(role.nodes) == 1 and index is not None and index not in place:
                place[index] = role.nodes[0].position
        names = found.task.layout.place_names
        said = ", ".join(f"ST{k} at {names[place[k]]}" for k in sorted(place, reverse=True))
        own = sum(names[place[k]] == f"D'{k}" for k in place)
        return PaperAnswer(
            Agreement.DIFFERS if 2 * own > len(place) else Agreement.AGREES,
            f"the single node that carries each best: {said}; {own} of {len(place)} where the column is complete",
            len(place),
            "variables",
            command=f"carrylens map {name}",
            why="most stand in the order of their columns" if 2 * own > len(place) else "",
            single=True,
        )

    return read


def answer_second_carry(name: str) -> PaperReader:
    """One carry has a second, redundant node."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _map_of(evidence, name)
        if found is None:
            return _not_mapped(name)
        spare = Counter(str(group.variable) for group in found.groups if group.variable.name == "ST" and group.spare)
        asked = {str(group.variable) for group in found.groups if group.variable.name == "ST"}
        return PaperAnswer(
            Agreement.AGREES if spare else Agreement.DIFFERS,
            f"of {len(asked)} variables ST {len(spare)} have more nodes than need be interchanged"
            + (f": {', '.join(sorted(spare))}" if spare else ""),
            len(asked),
            "variables",
            command=f"carrylens map {name}",
            single=True,
        )

    return read


def answer_two_sum_heads(name: str) -> PaperReader:
    """Each SA is shared by two heads."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _map_of(evidence, name)
        if found is None:
            return _not_mapped(name)
        least: dict[str, int] = {}
        for role in found.roles:
            heads = sum(node.head is not None for node in role.nodes)
            if role.variable.name == "SA" and role.is_whole and heads == len(role.nodes):
                key = str(role.variable)
                least[key] = min(heads, least.get(key, heads))
        said = Counter(least.values())
        return PaperAnswer(
            Agreement.AGREES if set(said) == {2} else Agreement.DIFFERS,
            ", ".join(f"{n} of {len(least)} by {heads} head{'s' * (heads > 1)}" for heads, n in sorted(said.items()))
            or "no SA is carried whole by heads alone",
            len(least),
            "variables",
            command=f"carrylens map {name}",
            single=True,
        )

    return read


def answer_delivery_looks(name: str, lower_digits: bool) -> PaperReader:
    """Where last-layer heads at answer places look in subtractions: lower operand digits, or = and the sign."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _map_of(evidence, name)
        if found is None:
            return _not_mapped(name)
        looks = _looks(found)
        if not sum(looks.values()):
            return missing(f"the map of {name} has no attention of useful last-layer heads", f"carrylens map {name}")
        total = sum(looks.values())
        shares = {where: look / total for where, look in looks.items()}
        most = max(shares, key=lambda where: shares[where])
        return PaperAnswer(
            Agreement.AGREES if most == ("lower digits" if lower_digits else "= and sign") else Agreement.DIFFERS,
            "attention of useful last-layer heads where digits below the top are predicted, of what the map keeps: "
            + ", ".join(f"{where} {share:.2f}" for where, share in shares.items())
            + f" ({name})",
            len(found.behaviours),
            "nodes",
            command=f"carrylens map {name}",
            single=True,
        )

    return read


_SORTS = ("lower digits", "= and sign", "the digit above", "others")


def _looks(found: NodeMap) -> dict[str, float]:
    names, digits = found.task.layout.place_names, len(found.causal.outputs) - 2
    sign = names[2 * digits + 2]
    total = dict.fromkeys(_SORTS, 0.0)
    for seen in found.behaviours:
        node = seen.node
        digit = 3 * digits + 2 - node.position  # what is predicted there
        if node.layer == found.n_layers - 1 and node.head is not None and node in found.useful and 0 < digit < digits:
            for each in seen.attention:
                for look in each.looks if each.operation == "sub" else ():
                    total[_sort_of(look.place, digit, names[node.position], sign)] += look.share
    return total


def _sort_of(place: str, digit: int, own: str, sign: str) -> str:
    if place == own:
        return "the digit above"
    column = place.removeprefix("D").removeprefix("'")
    if place.startswith("D"):
        return "lower digits" if int(column) < digit else "others"
    return "= and sign" if place in ("=", sign) else "others"


def answer_sum_nodes_learn(name: str) -> PaperReader:
    """A node of SA learns MD and ND as well."""
    return _nodes_learn(name, "SA", _CLASSES)


def answer_carry_nodes_learn(name: str) -> PaperReader:
    """Nodes of ST adapt to borrows."""
    return _nodes_learn(name, "ST", _BORROWS)


def _nodes_learn(name: str, family: str, classes: Collection[str]) -> PaperReader:
    def read(evidence: PaperEvidence) -> PaperAnswer:
        member = evidence.member(name)
        if member is None or member.map is None:
            return _not_mapped(name)
        held = _held(member)
        mine = [families & set(classes) for families in held.values() if family in families]
        if not mine:
            return missing(f"no node of {name} carries {family} alone", f"carrylens map {name}")
        counts = Counter(len(each) for each in mine)
        several = sum(n for size, n in counts.items() if size > 1)
        return PaperAnswer(
            Agreement.AGREES if 2 * several > len(mine) else Agreement.DIFFERS,
            f"of {len(mine)} nodes that alone carry some {family}, "
            + ", ".join(f"{counts[size]} carry {what}" for size, what in _HOW_MANY if counts[size])
            + f" of {', '.join(classes)} ({name})",
            len(mine),
            "nodes",
            command=f"carrylens map {name}",
            single=True,
        )

    return read


_HOW_MANY = ((3, "all three"), (2, "two"), (1, "it alone"))


def answer_selector_heads(name: str) -> PaperReader:
    """Some heads serve all three classes, others hold the operator and the sign."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        member = evidence.member(name)
        if member is None or member.map is None:
            return _not_mapped(name)
        held = {node: families for node, families in _held(member).items() if node.head is not None}
        several = sum(len({_BRANCH[each] for each in families if each in _BRANCH}) > 1 for families in held.values())
        choosing = sum(bool(families & set(_SELECTORS)) for families in held.values())
        return PaperAnswer(
            Agreement.AGREES if several and choosing else Agreement.DIFFERS,
            f"of {len(held)} heads that alone carry a variable {several} serve several classes, {choosing} "
            f"the operator or the sign ({name})",
            len(held),
            "heads",
            command=f"carrylens map {name}",
            single=True,
        )

    return read


def answer_top_digit_nodes(name: str) -> PaperReader:
    """The top digit is calculated with 5 heads and 5 MLP layers."""

    def read(evidence: PaperEvidence) -> PaperAnswer:
        found = _map_of(evidence, name)
        if found is None:
            return _not_mapped(name)
        top = [each.node for each in found.nodes if each.tokens and each.tokens[1].hits]
        heads = sum(node.head is not None for node in top)
        return PaperAnswer(
            Agreement.AGREES if (heads, len(top) - heads) == (5, 5) else Agreement.DIFFERS,
            f"{heads} heads and {len(top) - heads} MLPs change the top digit when ablated ({name})",
            len(found.nodes),
            "nodes",
            command=f"carrylens map {name}",
            why="another training run; the paper's worked example has no sign before the digits",
            single=True,
        )

    return read


def _held(member: Member) -> dict[Node, set[str]]:
    assert member.map is not None
    held: dict[Node, set[str]] = {}
    for role in member.map.roles:
        if len(role.nodes) == 1 and surely_most(role.hit):
            held.setdefault(role.nodes[0], set()).add(role.variable.name)
    return held


def _map_of(evidence: PaperEvidence, name: str) -> NodeMap | None:
    member = evidence.member(name)
    return None if member is None else member.map


def _not_mapped(name: str) -> PaperAnswer:
    return missing(f"{name} is not mapped", f"carrylens map {name}")
