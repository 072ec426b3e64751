"""Fallen: variables that no set was found to carry, and yet some set moved a token as they would.

Takes  every measurement of a search, and the roles that were granted.
Gives  `Fallen`: for each variable and token without a role the set that did best on the confirming split.
Never  names one that hits no more often than its null: that is silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carrylens.discovery.node_map import Fallen, Nodes, Role
from carrylens.evidence.facts import Fact
from carrylens.nodes import parse_nodes
from carrylens.tasks.variables import Variable


def find_fallen(facts: Iterable[Fact], roles: Sequence[Role]) -> list[Fallen]:
    """The best of those that were confirmed by their rates and got no role, one for each variable and token."""
    held = {(variable, role.token) for role in roles for variable in (role.variable, *role.same_as)}
    best: dict[tuple[Variable, int], Fallen] = {}
    for fact in facts:
        if fact.kind != "swap" or fact.about["split"] != "confirm":
            continue
        each = Fallen(*asked_about(fact), fact.effect, fact.null)
        key = (each.variable, each.token)
        if key not in held and _worth(each)[0] > 0 and (key not in best or _worth(each) > _worth(best[key])):
            best[key] = each
    return list(best.values())


def asked_about(fact: Fact) -> tuple[Nodes, Variable, int]:
    """The set, variable and token that the fact of a swap is about."""
    nodes, variable, token = (str(fact.about[name]) for name in ("nodes", "variable", "token"))
    return tuple(sorted(parse_nodes(nodes))), Variable.parse(variable), int(token)


def _worth(each: Fallen) -> tuple[float, int]:
    # How far it is surely above its null; of those that are as far, the smaller set.
    return each.hit.interval[0] - each.null.interval[1], -len(each.nodes)
