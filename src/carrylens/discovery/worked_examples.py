"""Worked questions: one question followed through a model, as its algorithm is followed through a trace.

Takes  a model, its node map and a question.
Gives  what the model answers token by token, and for each variable of the algorithm what it answers once the nodes that
       carry the variable take it from another question; as plain data.
Never  proves anything: one question is an example. The rates beside it are the map's.

1. Decode the answer, and note how sure the model is of every token.
2. For each variable with a role take the set that hits most often.
3. Draw a source that differs in the variable's own columns and must show it in a token that the role serves; swap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from carrylens.arithmetic.algorithms import algorithm, answers
from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.decoding import decode_answers
from carrylens.arithmetic.pairs import written
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import VOCABULARY, answer_positions, encode, place_names
from carrylens.arithmetic.variables import Variable, label
from carrylens.discovery.interchange import answer_tokens
from carrylens.discovery.node_map import NodeMap, Role
from carrylens.interventions.edits import swap
from carrylens.interventions.engine import Engine
from carrylens.model.transformer import Transformer
from carrylens.nodes import print_nodes

WORKED = "worked.json"
_PROPOSALS = 512

Record = dict[str, Any]


def example_questions(operation: Operation, digits: int) -> list[str]:
    """One question for each operation in which a carry or borrow from the units travels through every column.

    >>> example_questions(Operation.MIX, 4)
    ['5555+4448', '5555-1558']
    """
    adding = f"{'5' * digits}+{'4' * (digits - 1)}8"
    first = "1" if digits > 1 else ""  # 5 over 1 keeps the answer positive
    subtracting = f"{'5' * digits}-{first}{'5' * max(0, digits - 2)}8"
    return {Operation.ADD: [adding], Operation.SUB: [subtracting], Operation.MIX: [adding, subtracting]}[operation]


def work_questions(model: Transformer, found: NodeMap, texts: Sequence[str], about: Mapping[str, object]) -> Record:
    """The record of worked questions; `about` is kept beside it."""
    return {**about, "questions": [_work(model, found, text) for text in texts]}


def _work(model: Transformer, found: NodeMap, text: str) -> Record:
    questions = Questions.parse([text], found.digits)
    causal, engine = algorithm(found.operation, found.digits), Engine(model)
    right, given = answers(questions).text()[0], decode_answers(model, questions)[0]
    values = causal.run(questions)
    swaps = [
        record
        for variable in causal.variables
        if (role := _best(found, variable)) is not None
        and (record := _swapped(engine, causal, questions, role, label(variable, int(values[variable][0]))))
    ]
    return {
        "question": questions.text()[0],
        "given": text,
        "answer": given,
        "right": right,
        "tokens": _tokens(model, questions, found.digits),
        "swaps": swaps,
    }


@torch.inference_mode()
def _tokens(model: Transformer, questions: Questions, digits: int) -> list[Record]:
    ids = torch.from_numpy(encode(questions, answers(questions))).to(next(model.parameters()).device)
    chances = torch.softmax(model(ids)[0].double(), -1).cpu().numpy()
    names, told = place_names(digits), []
    for position in answer_positions(digits):
        best = int(chances[position].argmax())
        told.append(
            {"place": names[position + 1], "token": VOCABULARY[best], "p": round(float(chances[position, best]), 6)}
        )
    return told


def _best(found: NodeMap, variable: Variable) -> Role | None:
    roles = [role for role in found.roles if role.variable == variable]
    return max(roles, key=lambda role: (role.hit.interval[0], -len(role.nodes)), default=None)


def _swapped(engine: Engine, causal: CausalModel, base: Questions, role: Role, value: str) -> Record | None:
    source = _source(causal, base, role)
    if source is None:
        return None
    there = causal.run(source)
    given = engine.run([swap(role.nodes)], base, source).tokens[0, 0]
    wanted = answer_tokens(base, written(causal, role.variable, base, source))[0]
    at = answer_positions(base.digits).start + 1 + role.token
    return {
        "variable": str(role.variable),
        "value": value,
        "nodes": print_nodes(role.nodes),
        "place": place_names(base.digits)[max(node.position for node in role.nodes)],
        "source": source.text()[0],
        "source_value": label(role.variable, int(there[role.variable][0])),
        "token": place_names(base.digits)[at],
        "expected": "".join(VOCABULARY[token] for token in wanted),
        "given": "".join(VOCABULARY[token] for token in given),
        "agrees": bool(given[role.token] == wanted[role.token]),
        "hit": {"hits": role.hit.hits, "n": role.hit.n},
        "null": {"hits": role.null.hits, "n": role.null.n},
    }


def _source(causal: CausalModel, base: Questions, role: Role) -> Questions | None:
    # The base with the columns of the variable drawn anew, so that the variable differs and the role's token shows it.
    reached = causal.ancestors(role.variable) | {role.variable}
    columns = sorted({each.digit for each in reached if each.name in ("D", "D'") and each.digit is not None})
    random = np.random.default_rng([7, *columns])
    first, second = (np.repeat(side, _PROPOSALS, 0) for side in (base.first, base.second))
    fewest = np.arange(_PROPOSALS) % max(1, len(columns)) + 1  # from one column up: the nearest source is preferred
    for at, count in enumerate(fewest):
        chosen = columns[-count:] if at % 2 else columns[:count]
        first[at, chosen], second[at, chosen] = random.integers(0, 10, (2, len(chosen)))
    minus = np.repeat(base.minus, _PROPOSALS)
    proposals, bases = Questions(first, second, minus), _repeated(base, _PROPOSALS)
    run = causal.run(proposals)
    differs = run[role.variable] != causal.run(bases)[role.variable]
    shown = answer_tokens(bases, written(causal, role.variable, bases, proposals)) != answer_tokens(bases)
    fit = np.flatnonzero(differs & shown[:, role.token])
    if not len(fit):
        return None
    best = min(fit, key=lambda at: (fewest[at], at))
    return Questions(first[best : best + 1], second[best : best + 1], base.minus)


def _repeated(questions: Questions, count: int) -> Questions:
    return questions[np.zeros(count, dtype=np.intp)]
