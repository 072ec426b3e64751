"""Published maps: `behaviors.json` and `features.json`, as the paper's tools write and read them.

Takes  a node map, or the text of such files.
Gives  the text of such files, with unambiguous fields of our own beside the tags; or from a file what its tags say.
Never  guesses: a tag that can be read in two ways, or in none, is kept as it stands.

An entry is {"position", "layer", "is_head", "num", "tags"}; ours has "carrylens" as well, which those tools pass over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import Struct

from carrylens.discovery.behaviours import Behaviour
from carrylens.discovery.node_map import NodeMap, Role, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.json_records import Count, Schema, to_plain, to_text
from carrylens.nodes import Node
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Variable

BEHAVIORS, FEATURES = "behaviors.json", "features.json"
_EXTRA = "carrylens"

TAGS = {"SA": "SA", "SC": "SC", "ST": "ST", "MD": "MD", "MC": "MB", "MB": "MT", "ND": "ND", "NC": "NB", "S9": "SS"}
"""Our names of variables, and the published tags: the published MB is binary, MT has three values."""
_NAMES = {tag: name for name, tag in TAGS.items()}
_PCA = {"ST": ("Math.Add", "SP"), "MB": ("Math.Sub", "MP")}
_PCA_NAMES = {tag: name for name, (_, tag) in _PCA.items()}
_CLASS_TAGS = {"S": "Math.Add", "M": "Math.Sub", "N": "Math.Neg"}
_MOST_LOOKS = 4


@dataclass(frozen=True)
class PublishedNode:
    """What the tags of one node say.

    `hits` are the answer's places that go wrong without it, or None where the run of digits can be read in two ways;
    `impact` is that run as it stands. `attention` has positions and percent. `other` are tags of another kind.
    """

    node: Node
    fail_percent: float | None = None
    impact: str = ""
    hits: tuple[str, ...] | None = ()
    classes: tuple[str, ...] = ()
    attention: tuple[tuple[int, float], ...] = ()
    clusters: tuple[Variable, ...] = ()
    roles: tuple[Variable, ...] = ()
    other: tuple[str, ...] = ()


class _OwnFields(Struct):
    hits: tuple[str, ...] | None = None


class _PublishedEntry(Struct):
    position: Count
    layer: Count
    is_head: bool
    num: Count
    tags: tuple[str, ...]
    carrylens: _OwnFields | None = None


_SCHEMA = Schema(list[_PublishedEntry], "published map", f"Give a {BEHAVIORS} or a {FEATURES}.", others=True)


def behaviors_json(found: NodeMap) -> str:
    """The text of a `behaviors.json`: the useful nodes, and what each does."""
    behaviours, useful = {each.node: each for each in found.behaviours}, found.useful
    entries = [
        _entry(
            each.node,
            _behaviour_tags(each, behaviours.get(each.node, Behaviour(each.node)), found.task.layout),
            _behaviour_fields(each, behaviours.get(each.node, Behaviour(each.node)), found.task.layout),
        )
        for each in found.nodes
        if each.node in useful
    ]
    return to_text(entries, indent=1) + "\n"


def features_json(found: NodeMap) -> str:
    """The text of a `features.json`: the useful nodes and those of every set with a role, and what each carries.

    Our field `useful` tells the two apart: a node may have a part in what a set carries, though nothing fails without
    it.
    """
    entries, useful = [], found.useful
    for node in sorted(useful.union(*(role.nodes for role in found.roles))):
        own = [role for role in found.roles if role.nodes == (node,)]
        tags = dict.fromkeys(tag for role in own if (tag := role_tag(role.variable)) is not None)
        roles = [_role_fields(role, node, found.task.layout) for role in found.roles if node in role.nodes]
        entries.append(_entry(node, list(tags), {"useful": node in useful, "roles": roles}))
    return to_text(entries, indent=1) + "\n"


def published_files(found: NodeMap) -> dict[str, bytes]:
    """Both files by name."""
    return {BEHAVIORS: behaviors_json(found).encode(), FEATURES: features_json(found).encode()}


def role_tag(variable: Variable) -> str | None:
    """The published tag of a variable, if there is one.

    >>> role_tag(Variable("MB", 3)), role_tag(Variable("OPR")), role_tag(Variable("SV", 3))
    ('Algo:A3.MT', 'Algo:OPR', None)
    """
    if variable.index is None:
        return f"Algo:{variable}"
    return f"Algo:A{variable.index}.{TAGS[variable.name]}" if variable.name in TAGS else None


def read_published(digits: int, *texts: str | bytes) -> list[PublishedNode]:
    """What the files say of each node, the tags of all files together."""
    found: dict[Node, PublishedNode] = {}
    for text in texts:
        for entry in _SCHEMA.decode(text, "This"):
            node = Node(entry.position, entry.layer, entry.num if entry.is_head else None)
            known = found.get(node, PublishedNode(node))
            with _SCHEMA.refusing("This"):
                for tag in entry.tags:
                    known = _read_tag(known, tag, digits)
            exact = entry.carrylens.hits if entry.carrylens else None  # a file of ours says which places it means
            found[node] = known if exact is None else replace(known, hits=exact)
    return [found[node] for node in sorted(found)]


def _read_tag(known: PublishedNode, tag: str, digits: int) -> PublishedNode:
    if match := re.fullmatch(r"Fail%:([0-9.]+)", tag):
        return replace(known, fail_percent=float(match[1]))
    if match := re.fullmatch(r"Impact:A?([0-9]*)", tag):
        names = tuple(f"A{k}" for k in sorted(set(map(int, match[1])), reverse=True))
        return replace(known, impact=match[1], hits=names if digits + 1 <= 9 else None)  # the sign of 9 digits is A10
    if match := re.fullmatch(r"Math\.(?:Add|Sub|Neg):([SMN])([0-9]+)", tag):
        return replace(known, classes=(*known.classes, *(match[1] + depth for depth in match[2])))
    if match := re.fullmatch(r"Attn:P([0-9]+)=([0-9.]+)", tag):
        return replace(known, attention=(*known.attention, (int(match[1]), float(match[2]))))
    if (match := re.fullmatch(r"Math\.(?:Add|Sub):A([0-9]+)\.(SP|MP)", tag)) and int(match[1]) < digits:
        return replace(known, clusters=(*known.clusters, Variable(_PCA_NAMES[match[2]], int(match[1]))))
    if match := re.fullmatch(r"Algo:(OPR|SGN)(?:\..*)?", tag):
        return replace(known, roles=(*known.roles, Variable(match[1])))
    match = re.fullmatch(r"Algo:A([0-9]+)\.([A-Z]{2})(?:\..*)?", tag)
    if match and match[2] in _NAMES and int(match[1]) < digits:
        return replace(known, roles=(*known.roles, Variable(_NAMES[match[2]], int(match[1]))))
    return replace(known, other=(*known.other, tag))


def _entry(node: Node, tags: Sequence[str], fields: Mapping[str, object]) -> dict[str, object]:
    return {
        "position": node.position,
        "layer": node.layer,
        "is_head": not node.is_mlp,
        "num": node.head or 0,
        "tags": list(tags),
        _EXTRA: {"node": str(node), **fields},
    }


def _behaviour_tags(usefulness: Usefulness, behaviour: Behaviour, layout: Layout) -> list[str]:
    tags = [f"Fail%:{round(100 * usefulness.mean.value)}"]
    if hits := usefulness.hit_places(layout):
        tags.append("Impact:A" + "".join(place.removeprefix("A") for place in hits))
    classes = usefulness.hit_classes
    for letter, major in _CLASS_TAGS.items():
        if depths := "".join(name[1:] for name in classes if name[0] == letter):
            tags.append(f"{major}:{letter}{depths}")
    shares: dict[str, float] = {}
    for each in behaviour.attention:
        for look in each.looks:
            shares[look.place] = shares.get(look.place, 0.0) + look.share / len(behaviour.attention)
    for place in sorted(shares, key=lambda name: -shares[name])[:_MOST_LOOKS]:
        tags.append(f"Attn:P{layout.position(place)}={round(100 * shares[place])}")
    for clusters in behaviour.clusters:
        if clusters.are_clear:
            major, tag = _PCA[clusters.variable.name]
            tags.append(f"{major}:A{clusters.variable.index}.{tag}")
    return tags


def _behaviour_fields(usefulness: Usefulness, behaviour: Behaviour, layout: Layout) -> dict[str, object]:
    node = usefulness.node
    fields: dict[str, object] = {
        "place": layout.place_names[node.position],
        "fails": {name: _rate(getattr(usefulness, name)) for name in ("mean", "resample", "clean")},
        "hits": list(usefulness.hit_places(layout)),
        "tokens": dict(zip(layout.output_places, map(_rate, usefulness.tokens), strict=True)),
        "classes": {name: _rate(rate) for name, rate in usefulness.classes.items()},
        "attention": {each.operation: to_plain(each.looks) for each in behaviour.attention},
        "clusters": [{**to_plain(each), "are_clear": each.are_clear} for each in behaviour.clusters],
    }
    if behaviour.backups is not None:
        found = behaviour.backups
        rates = {name: _rate(value) for name, value in vars(found).items() if name != "nodes"}
        named = {"nodes": list(map(str, found.nodes)), **rates, "p": found.p, "is_useful": found.is_useful}
        fields["with_stand_ins"] = named
    return fields


def _role_fields(role: Role, node: Node, layout: Layout) -> dict[str, object]:
    return {
        "variable": str(role.variable),
        "token": layout.output_places[role.token],
        "hit": _rate(role.hit),
        "null": _rate(role.null),
        "p": role.p,
        "same_as": list(map(str, role.same_as)),
        "way": role.way.value,
        "together_with": [str(other) for other in role.nodes if other != node],
    }


def _rate(rate: Rate) -> dict[str, float]:
    low, high = rate.interval
    return {"hits": rate.hits, "n": rate.n, "low": round(low, 6), "high": round(high, 6)}
