"""Attribution patching with integrated gradients: a node whose change would move the outputs is said to carry.

Takes  what a method is given.
Gives  for every node and variable: what its change from base to source would do to the logits that must change.
Never  makes that change: gradients stand for it.

1. Draw pairs of the variable as for interchange interventions: the counterfactual outputs, with earlier outputs held at
   the base's values, differ from the base's in some places.
2. The goal is the logit of the counterfactual token less that of the base's, over those outputs.
3. Run inputs between base and source (their embeddings, in equal steps), and average the goal's gradient at each
   node's output over them.
4. The score is that gradient times the node's change from base to source, over how far the base is from the goal.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carrylens.benchmark.candidates import can_know, candidate_variables
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.node_outputs import hook_point_of, model_ids, output_of
from carrylens.errors import CarryLensError
from carrylens.model.hooks import HookPoint
from carrylens.model.transformer import Transformer
from carrylens.tasks.pairs import Pairs, interchange_pairs

_PAIRS = 32
_STEPS = 5


@dataclass(frozen=True, eq=False)
class _Goal:
    """The tokens whose logits must rise and fall, and the positions at which they are read: [pair, output]."""

    wanted: Tensor
    own: Tensor
    positions: list[int]

    def of(self, logits: Tensor) -> Tensor:
        """For each pair, the counterfactual tokens' logits less those of the base's, where they differ."""
        here = logits[:, self.positions]
        gap = here.gather(-1, self.wanted[..., None])[..., 0] - here.gather(-1, self.own[..., None])[..., 0]
        return (gap * (self.wanted != self.own)).sum(-1)


def score_attribution(given: Given) -> Found:
    """The attribution of every variable to every node that could know it."""
    scores = {}
    points = sorted({hook_point_of(node) for node in given.nodes})
    for variable in candidate_variables(given.causal):
        try:
            pairs = interchange_pairs(given.causal, variable, _PAIRS, given.seed)
        except CarryLensError:  # a variable whose value no question can show
            continue
        attributions = attributions_of(given, pairs, points)
        for node in given.nodes:
            if can_know(given, node, variable):
                scores[node, variable] = float(output_of(node, attributions[hook_point_of(node)]).sum(-1).mean())
    return Found(role_scores=scores)


def attributions_of(given: Given, pairs: Pairs, points: list[str]) -> dict[str, Tensor]:
    """Gradient times change at every point, for each pair that shows, over how far its base is from the goal."""
    model, task = given.model, given.task
    outputs = (task.output_ids(pairs.base, pairs.counterfactual()), task.output_ids(pairs.base))
    wanted, own = (torch.from_numpy(ids).long() for ids in outputs)
    shown = (wanted != own).any(-1)
    base, source = (model_ids(given, side)[shown] for side in (pairs.base, pairs.source))
    goal = _Goal(wanted[shown], own[shown], list(task.layout.read_positions))
    with torch.no_grad():
        logits, before = model.run_with_cache(base, [*points, "hook_embed"])
        _, after = model.run_with_cache(source, [*points, "hook_embed"])
        distance = -goal.of(logits).clamp_max(-1e-6)
    slopes = {point: torch.zeros_like(before[point]) for point in points}
    for step in range(_STEPS):
        share = (step + 0.5) / _STEPS
        mixed = (1 - share) * before["hook_embed"] + share * after["hook_embed"]
        for point, slope in _slopes(model, base, mixed, points, goal).items():
            slopes[point] += slope / _STEPS
    wide = {point: distance.view(-1, *[1] * (slopes[point].dim() - 1)) for point in points}
    return {point: (slopes[point] * (after[point] - before[point]) / wide[point]).detach() for point in points}


def _slopes(model: Transformer, ids: Tensor, embedded: Tensor, points: list[str], goal: _Goal) -> dict[str, Tensor]:
    held: dict[str, Tensor] = {}

    def hold(activation: Tensor, hook: HookPoint) -> None:
        held[hook.name] = activation

    def put(_activation: Tensor, /, hook: HookPoint) -> Tensor:  # noqa: ARG001
        return embedded.clone().requires_grad_()

    with torch.enable_grad():
        logits = model.run_with_hooks(ids, [("hook_embed", put), *((point, hold) for point in points)])
        found = torch.autograd.grad(goal.of(logits).sum(), [held[point] for point in points], allow_unused=True)
    return {
        point: torch.zeros_like(held[point]) if slope is None else slope
        for point, slope in zip(points, found, strict=True)
    }
