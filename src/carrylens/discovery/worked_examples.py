"""Worked examples: one question followed through a model, as its algorithm is followed through a trace.

Takes  a model, its node map and questions.
Gives  what the model puts out one by one, and for each variable of the algorithm what it puts out once the nodes that
       carry the variable take it from another question; as plain data.
Never  proves anything: one question is an example. The rates beside it are the map's.

1. Decode the outputs, and note how sure the model is of every one.
2. For each variable with a role take the set that hits most often.
3. Draw a source that differs in the variable's own inputs and must show it in an output that the role serves;
   interchange.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from carrylens.discovery.node_map import NodeMap, Role
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.model.decoding import decode_outputs
from carrylens.model.transformer import Transformer
from carrylens.nodes import print_nodes
from carrylens.tasks.batches import Batch
from carrylens.tasks.grid import grid_of
from carrylens.tasks.pairs import counterfactual_outputs
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

WORKED = "worked.json"
_PROPOSALS = 512

Example = dict[str, Any]


def work_questions(
    model: Transformer, found: NodeMap, questions: Batch, texts: Sequence[str], about: Mapping[str, object]
) -> Example:
    """The record of worked questions, which people wrote as `texts`; `about` is kept beside it."""
    worked = [_work(model, found, questions[at : at + 1], text) for at, text in enumerate(texts)]
    return {**about, "questions": worked}


def _work(model: Transformer, found: NodeMap, question: Batch, text: str) -> Example:
    task, causal = found.task, found.causal
    values = causal.run(question)
    with Engine(model, task) as engine:
        interchanges = [
            record
            for variable in causal.variables
            if (role := _best(found, variable)) is not None
            and (record := _interchanged(engine, found, question, role, int(values[variable][0])))
        ]
    return {
        "question": task.question_text(question)[0],
        "given": text,
        "answer": task.layout.output_text(decode_outputs(model, task, question))[0],
        "right": task.layout.output_text(task.output_ids(question))[0],
        "tokens": _certainties(model, task, question),
        "swaps": interchanges,
    }


@torch.inference_mode()
def _certainties(model: Transformer, task: Task, question: Batch) -> list[Example]:
    ids = torch.from_numpy(task.token_ids(question)).to(next(model.parameters()).device)
    chances = torch.softmax(model(ids)[0].double(), -1).cpu().numpy()
    layout, told = task.layout, []
    vocabulary = layout.output_vocabulary or layout.vocabulary
    for place, position in zip(layout.output_places, layout.read_positions, strict=True):
        best = int(chances[position].argmax())
        told.append({"place": place, "token": vocabulary[best], "p": round(float(chances[position, best]), 6)})
    return told


def _best(found: NodeMap, variable: Variable) -> Role | None:
    roles = [role for role in found.roles if role.variable == variable]
    return max(roles, key=lambda role: (role.hit.interval[0], -len(role.nodes)), default=None)


def _interchanged(engine: Engine, found: NodeMap, base: Batch, role: Role, value: int) -> Example | None:
    source = _source(found, base, role)
    if source is None:
        return None
    task, layout, causal = found.task, found.task.layout, found.causal
    there, family = causal.run(source), causal.family(role.variable)
    given = engine.run([interchange(role.nodes)], base, source).tokens[0, 0]
    wanted = task.output_ids(base, counterfactual_outputs(causal, role.variable, base, source))[0]
    return {
        "variable": str(role.variable),
        "value": family.label(value),
        "nodes": print_nodes(role.nodes),
        "place": layout.place_names[max(node.position for node in role.nodes)],
        "source": task.question_text(source)[0],
        "source_value": family.label(int(there[role.variable][0])),
        "token": layout.output_places[role.token],
        "expected": layout.output_text(wanted[None])[0],
        "given": layout.output_text(given[None])[0],
        "agrees": bool(given[role.token] == wanted[role.token]),
        "hit": {"hits": role.hit.hits, "n": role.hit.n},
        "null": {"hits": role.null.hits, "n": role.null.n},
    }


def _source(found: NodeMap, base: Batch, role: Role) -> Batch | None:
    # The base with the inputs of the variable drawn anew, so that the variable differs and the role's output shows it.
    task, causal, grid = found.task, found.causal, grid_of(found.causal)
    own = grid.indices_of(causal.inputs_of(role.variable))
    random = np.random.default_rng([7, *own])
    bases = base[np.zeros(_PROPOSALS, dtype=np.intp)]
    cells = grid.cells(bases).copy()
    fewest = np.arange(_PROPOSALS) % max(1, len(own)) + 1  # from one index up: the nearest source is preferred
    for at, count in enumerate(fewest):
        chosen = own[-count:] if at % 2 else own[:count]
        cells[:, at, chosen] = grid.draw_some(random, len(chosen))
    proposals = grid.with_cells(bases, cells)
    differs = causal.run(proposals)[role.variable] != causal.run(bases)[role.variable]
    moved = task.output_ids(bases, counterfactual_outputs(causal, role.variable, bases, proposals))
    fit = np.flatnonzero(differs & causal.admits(proposals) & (moved != task.output_ids(bases))[:, role.token])
    if not len(fit):
        return None
    best = min(fit, key=lambda at: (fewest[at], at))
    return proposals[best : best + 1]
