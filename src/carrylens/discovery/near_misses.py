"""Near misses: variables that no set was found to carry, and yet some set moved an output as they would.

Takes  every measurement of a search, and the roles that were granted.
Gives  `NearMiss`: for each variable and output without a role the set that did best on the confirming split.
Never  names one that hits no more often than its null: that is silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carrylens.discovery.node_map import NearMiss, Nodes, Role
from carrylens.evidence.facts import Fact
from carrylens.nodes import parse_nodes
from carrylens.tasks.variables import Variable


def find_near_misses(facts: Iterable[Fact], roles: Sequence[Role]) -> list[NearMiss]:
    """The best of those that were confirmed by their rates and got no role, one for each variable and token."""
    held = {(variable, role.token) for role in roles for variable in (role.variable, *role.same_as)}
    best: dict[tuple[Variable, int], NearMiss] = {}
    for fact in facts:
        if fact.kind != "swap" or fact.about["split"] != "confirm":
            continue
        each = NearMiss(*subject_of(fact), fact.effect, fact.null)
        key = (each.variable, each.token)
        if key not in held and _worth(each)[0] > 0 and (key not in best or _worth(each) > _worth(best[key])):
            best[key] = each
    return list(best.values())


def subject_of(fact: Fact) -> tuple[Nodes, Variable, int]:
    """The set, variable and output that the fact of an interchange is about."""
    nodes, variable, token = (str(fact.about[name]) for name in ("nodes", "variable", "token"))
    return tuple(sorted(parse_nodes(nodes))), Variable.parse(variable), int(token)


def _worth(each: NearMiss) -> tuple[float, int]:
    # How far it is surely above its null; of those that are as far, the smaller set.
    return each.hit.interval[0] - each.null.interval[1], -len(each.nodes)
