"""Golden answers: what the model puts out here, for the page to find again when it opens.

Takes  a model, its task and the reference questions.
Gives  a few questions, clean and under every kind of edit, with their logits; whether half precision keeps the answers.
Never  lets a page show numbers that were not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carrylens.errors import CarryLensError
from carrylens.explorer.packed import packed_floats, packed_values
from carrylens.interventions.edits import Edit, Fill, Replace
from carrylens.interventions.engine import Engine
from carrylens.interventions.plan import computed_positions
from carrylens.model.decoding import decode_outputs
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.batches import Batch
from carrylens.tasks.task import Task

FILLS = (Fill.ZERO, Fill.MEAN, Fill.RESAMPLE, Fill.SOURCE)
_SEED = 90_004
_HALF_QUESTIONS = 500


def read_nodes(model: Transformer) -> list[Node]:
    """The nodes whose writes some later component, or the logits, read."""
    config = model.config
    every = all_nodes(config.n_ctx, config.n_layers, config.n_heads, config.has_mlp)
    return [node for node in every if node.position in computed_positions(config, node.layer)]


def golden_answers(model: Transformer, task: Task, pool: Batch, reference: Batch) -> Iterator[dict[str, Any]]:
    """A question, clean and under an edit of each kind of one node each, with its logits.

    The model is to be in double precision, as the page computes: planted weights are so large that single precision
    moves logits by a tenth.
    """
    random, nodes = np.random.default_rng(_SEED), read_nodes(model)
    base, source = pool[:1], pool[1:2]
    with Engine(model, task) as engine:
        for fill in FILLS:
            node = nodes[int(random.integers(len(nodes)))]
            edit = Edit((Replace((node,), fill),))
            found = engine.run([edit], base, source, reference=reference, logits=True)
            assert found.logits is not None
            yield _record(base, source, [[str(node), fill.value]], found.logits[0, 0])
        clean = engine.run([Edit((Replace((nodes[0],), Fill.SOURCE),))], base, base, logits=True)
        assert clean.logits is not None
        yield _record(base, None, [], clean.logits[0, 0])


def _record(base: Batch, source: Batch | None, edits: list[list[str]], logits: Any) -> dict[str, Any]:
    return {
        "inputs": packed_values(base.values),
        "source": None if source is None else packed_values(source.values),
        "edits": edits,
        "logits": packed_floats(logits, "f8"),
    }


def check_half(model: Transformer, half: Transformer, task: Task, name: str) -> None:
    """Refuse half precision if any of the golden questions is answered otherwise with it."""
    for sampler in task.samplers.values():
        questions = sampler.draw(_SEED, 0, _HALF_QUESTIONS)
        differ = (decode_outputs(model, task, questions) != decode_outputs(half, task, questions)).any(axis=1)
        if differ.any():
            example = task.question_text(questions[differ][:1])[0]
            raise CarryLensError(
                f"In half precision {name} answers {int(differ.sum())} of {len(questions)} golden questions "
                f"differently, such as {example}. Leave out --half."
            )
