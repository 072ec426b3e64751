"""Page data: all that a page holds, as plain data.

Takes  a model, its task, what it is called, and what was saved about it.
Gives  one record: model, layout, causal model, questions, golden answers, evidence, tour, challenge.
Never  holds a path, a date or anything else of the machine it was made on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from carrylens import __version__
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.discovery.node_map import NodeMap
from carrylens.explorer.causal_record import causal_record
from carrylens.explorer.golden import check_half, golden_answers
from carrylens.explorer.layout_record import layout_record
from carrylens.explorer.map_record import map_record
from carrylens.explorer.model_record import check_size, halved, in_double, model_record
from carrylens.explorer.question_record import SEED, chosen_samplers, question_record, reference_of
from carrylens.explorer.tour import start_record, tour_record
from carrylens.explorer.verdict_record import verdict_record
from carrylens.model.transformer import Transformer
from carrylens.model.weights import hash_of
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task


@dataclass(frozen=True, eq=False)
class Explored:
    """What a page is about: a model with its task and name, and what was saved about it, if anything.

    `algorithm` is run beside the model where it is another than the task's; a map of its variables needs it.
    """

    model: Transformer
    task: Task
    name: str
    map: NodeMap | None = None
    claims: dict[str, Any] = field(default_factory=dict)
    alignment: MeasuredAlignment | None = None
    sha256: str = ""
    has_report: bool = False
    half: bool = False
    challenge: dict[str, Any] | None = None
    algorithm: CausalModel | None = None

    @property
    def has_story(self) -> bool:
        """Whether the tour of the task's own algorithm is told."""
        return self.challenge is None and self.algorithm is None

    @property
    def causal(self) -> CausalModel:
        """The algorithm beside the model."""
        return self.algorithm or self.task.causal


def page_data(explored: Explored) -> dict[str, Any]:
    """Everything the page holds."""
    task, name = explored.task, explored.name
    check_size(explored.model, name)
    model = explored.model.cpu().eval()
    if explored.half:
        check_half(model, half := halved(model), task, name)
        model = half
    reference = reference_of(task)
    pool = next(iter(chosen_samplers(task).values())).draw(SEED + 10, 0, 2)
    return {
        "version": __version__,
        "name": name,
        "sha256": explored.sha256 or hash_of(explored.model),
        "model": model_record(model, task, reference, half=explored.half),
        "layout": layout_record(task),
        "causal": causal_record(explored.causal),
        "truth": None if explored.algorithm is None else causal_record(task.causal),
        "questions": question_record(task),
        "golden": list(golden_answers(in_double(model), task, pool, reference)),
        "map": None if explored.map is None else map_record(explored.map, explored.causal),
        "start": start_record(task),
        "verdict": verdict_record(explored.claims, explored.alignment),
        "report": explored.has_report,
        "tour": tour_record(model, task, explored.map) if explored.has_story else [],
        "challenge": explored.challenge,
    }
