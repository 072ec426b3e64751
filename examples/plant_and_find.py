"""Plant and find: compute a model whose circuit is known, and see how much of it a search finds.

    python examples/plant_and_find.py [DIGITS]

Plants an adder, finds by interchange interventions which node carries which variable, and compares that with what was
planted.
"""

from __future__ import annotations

import sys

from carrylens.arithmetic import Operation
from carrylens.arithmetic.planted import describe, plant
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.roles import find_roles
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.interventions import Engine
from carrylens.nodes import print_nodes


def main(digits: int = 2) -> list[str]:
    """The lines that are printed: planted roles that were found, and those that were not."""
    planted, task = plant(describe(Operation.ADD, digits)), arithmetic_task(Operation.ADD, digits)
    sets = [(node,) for node in sorted(planted.truth.roles)]
    settings = RoleSettings(n_find=24, n_confirm=32, n_compete=12, level=0.01)
    with Engine(planted.model, task) as engine:
        roles = find_roles(SearchContext(engine, task.causal, settings), sets)
    found = {(role.nodes, variable) for role in roles for variable in (role.variable, *role.same_as)}
    lines = []
    for node, variables in sorted(planted.truth.roles.items()):
        for variable in sorted(variables):
            seen = "found" if ((node,), variable) in found else "not found"
            lines.append(f"{print_nodes([node])} carries {variable}: {seen}")
    hits = sum(line.endswith(": found") for line in lines)
    return [*lines, f"{hits} of {len(lines)} planted roles were found, each beside its null."]


if __name__ == "__main__":
    for line in main(*map(int, sys.argv[1:])):
        print(line)  # noqa: T201
