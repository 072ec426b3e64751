"""Interchange one carry: take what a column says of its carry from another question, and see the answer follow.

    python examples/interchange_one_carry.py [FOLDER] [VARIABLE]

Finds the nodes that carry the variable best in a saved map, interchanges them on fresh pairs of a base and a source
question, and prints how often each output becomes the predicted one, beside its matched null.
"""

from __future__ import annotations

import sys
from pathlib import Path

import carrylens as cl
from carrylens.arithmetic.task import find_task
from carrylens.discovery.interchange_outcomes import draw_stimuli, rate_steps
from carrylens.discovery.node_map import MAP
from carrylens.discovery.saved_map import read_map
from carrylens.discovery.search import SearchContext
from carrylens.discovery.stimulus_spec import StimulusSpec
from carrylens.interventions import Engine
from carrylens.nodes import print_nodes
from carrylens.tasks.variables import Variable

FRESH = 1_000_003  # a seed that no map is made with


def main(folder: str = "maps/add_d6_l2_h3_w96_t2K_s1", name: str = "ST[2]", count: int = 64) -> list[str]:
    """The lines that are printed: one for the pair, then one for each output."""
    found = read_map(Path(folder) / MAP, find_task)
    task, variable = found.task, Variable.parse(name)
    model = cl.load(folder if (Path(folder) / "model.safetensors").exists() else found.model)
    roles = [role for role in found.roles if role.variable == variable]
    if not roles:
        return [f"No node was found to carry {variable} in {found.model}."]
    nodes = max(roles, key=lambda role: role.hit.interval[0]).nodes
    stimuli = draw_stimuli(task, found.causal, variable, StimulusSpec(count, FRESH))
    base, source = (task.question_text(batch[0])[0] for batch in (stimuli.effect.base, stimuli.effect.source))
    predicted = task.layout.output_text(stimuli.expected[:1])[0]
    lines = [f"{print_nodes(nodes)} and {variable}: base {base} with source {source} must give {predicted}"]
    with Engine(model, task) as engine:
        search = SearchContext(engine, found.causal)
        (found_rates,) = search.together([rate_steps([nodes], stimuli, least=6)])
        for rates in found_rates:
            lines.append(f"{task.outputs[rates.token]}: predicted {rates.hit}, null {rates.null}")
    return lines


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(line)  # noqa: T201
