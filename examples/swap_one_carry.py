"""Swap one carry: take what a column says of its carry from another question, and see the answer follow.

    python examples/swap_one_carry.py [MODEL] [VARIABLE]

Finds the node or pair of nodes that carries the variable best in a saved map, swaps it on fresh pairs of questions, and
prints how often the answer becomes the predicted one, beside its matched null.
"""

from __future__ import annotations

import sys
from pathlib import Path

import carrylens as cl
from carrylens.arithmetic import algorithm
from carrylens.discovery.interchange import draw_stimuli, swap_rates
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.interventions import Engine
from carrylens.nodes import print_nodes
from carrylens.tasks.variables import Variable

FRESH = 1_000_003  # a seed that no map is made with


def main(folder: str = "maps/add_d6_l2_h3_w96_t2K_s1", name: str = "ST[2]", pairs: int = 64) -> list[str]:
    """The lines that are printed: a token of the answer each."""
    found = NodeMap.from_json((Path(folder) / MAP).read_bytes())
    variable = Variable.parse(name)
    model = cl.load(folder if (Path(folder) / "model.safetensors").exists() else found.model)
    roles = [role for role in found.roles if role.variable == variable]
    if not roles:
        return [f"Nothing was found to carry {variable} in {found.model}."]
    nodes = max(roles, key=lambda role: role.hit.interval[0]).nodes
    stimuli = draw_stimuli(algorithm(found.operation, found.digits), variable, pairs, FRESH)
    base, source, expected = stimuli.effect.base.text()[0], stimuli.effect.source.text()[0], stimuli.effect.expected
    lines = [f"{print_nodes(nodes)} and {variable}: {base} with {source} put in must be {expected.text()[0]}"]
    for rates in swap_rates(Engine(model), [nodes], stimuli, least=6):
        lines.append(f"token {rates.token}: predicted {rates.hit}, null {rates.null}")
    return lines


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(line)  # noqa: T201
