"""Objectives: what is minimised at a step.

Takes  a plan, a device, a model and a step.
Gives  the loss to follow, and the losses of every output to note.
Never  changes a weight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from carrylens.model.answer_pass import answer_logits
from carrylens.model.transformer import Transformer
from carrylens.training.batches import TrainingBatches
from carrylens.training.interchange import Interchange, InterchangeBatches, interchange_losses
from carrylens.training.losses import output_logits, token_losses
from carrylens.training.plan import TrainingPlan


@dataclass(frozen=True, eq=False)
class StepLosses:
    """The `total` to follow; each output's own losses and each question's condition; `also` noted beside them."""

    total: Tensor
    outputs: Tensor
    condition: Tensor
    also: dict[str, Tensor] = field(default_factory=dict)


class Objective(Protocol):
    """What a run minimises."""

    def losses(self, model: Transformer, step: int) -> StepLosses:
        """The losses of a step; gradients flow through the total."""
        ...


def objective_of(plan: TrainingPlan, device: torch.device) -> Objective:
    """The right outputs, or under an alignment the counterfactual ones, too."""
    if plan.interchange is None:
        return AnswerObjective(plan, device)
    return InterchangeObjective(plan, plan.interchange, device)


class AnswerObjective:
    """The right outputs."""

    def __init__(self, plan: TrainingPlan, device: torch.device) -> None:
        self._layout = plan.task.layout
        self._batches = TrainingBatches(plan.task, plan.population, plan.seed, plan.recipe.batch, device)

    def losses(self, model: Transformer, step: int) -> StepLosses:
        """The losses of the step's batch."""
        examples = self._batches.at(step)
        losses = token_losses(output_logits(answer_logits(model, examples.tokens), self._layout), examples.wanted)
        return StepLosses(losses.mean(), losses, examples.condition)


class InterchangeObjective:
    """The algorithm's outputs, and its counterfactual ones where sites are interchanged."""

    def __init__(self, plan: TrainingPlan, how: Interchange, device: torch.device) -> None:
        self._task, self._how = plan.task, how
        self._batches = InterchangeBatches(plan, how, device)

    def losses(self, model: Transformer, step: int) -> StepLosses:
        """The losses of the step's batch, both sorts weighing the same."""
        batch = self._batches.at(step)
        plain, moved = interchange_losses(model, self._task, self._how, batch)
        also = {"interchange": moved.detach()}
        return StepLosses(plain.mean() + moved.mean(), plain, batch.condition, also)
