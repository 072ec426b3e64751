"""Attribution patching with integrated gradients: a node whose change would move the answer is said to carry.

Takes  a model and an algorithm.
Gives  for every node and variable: what its change from base to source would do to the logits that must change.
Never  makes that change: gradients stand for it.

1. Draw pairs of the variable as swaps do: what must be written then, with the base's sign, differs in some tokens.
2. The goal is the logit of the counterfactual token less that of the base's, over those tokens.
3. Run inputs between base and source (their embeddings, in equal steps), and average the goal's gradient at each
   node's output over them.
4. The score is that gradient times the node's change from base to source, over how far the base is from the goal.
"""

from __future__ import annotations

import torch
from torch import Tensor

from carrylens.arithmetic.tokens import answer_positions
from carrylens.benchmark.method_result import Given, Scored
from carrylens.benchmark.node_outputs import asked_variables, knows, output_of, point_of, tokens_of
from carrylens.discovery.interchange import answer_tokens
from carrylens.errors import CarryLensError
from carrylens.model.hooks import HookPoint
from carrylens.model.transformer import Transformer
from carrylens.tasks.pairs import Pairs, interchange_pairs

_PAIRS = 32
_STEPS = 5


def attribute(given: Given) -> Scored:
    """The attribution of every variable to every node that could know it."""
    causal, scores = given.causal, {}
    points = sorted({point_of(node) for node in given.nodes})
    for variable in asked_variables(causal):
        try:
            pairs = interchange_pairs(causal, variable, _PAIRS, given.seed)
        except CarryLensError:  # a variable whose value no question can show
            continue
        attributions = attributions_of(given.model, pairs, points)
        for node in given.nodes:
            if knows(causal, node, variable):
                scores[node, variable] = float(output_of(node, attributions[point_of(node)]).sum(-1).mean())
    return Scored(scores)


def attributions_of(model: Transformer, pairs: Pairs, points: list[str]) -> dict[str, Tensor]:
    """Gradient times change at every point, for each pair that shows, over how far its base is from the goal."""
    ours, theirs = (torch.from_numpy(answer_tokens(pairs.base, side)).long() for side in (pairs.written(), None))
    shown = (ours != theirs).any(-1)
    base, source = (tokens_of(model, side)[shown] for side in (pairs.base, pairs.source))
    ours, theirs = ours[shown], theirs[shown]
    with torch.no_grad():
        logits, before = model.run_with_cache(base, [*points, "hook_embed"])
        _, after = model.run_with_cache(source, [*points, "hook_embed"])
        distance = -_goal(logits, ours, theirs, pairs).clamp_max(-1e-6)
    slopes = {point: torch.zeros_like(before[point]) for point in points}
    for step in range(_STEPS):
        share = (step + 0.5) / _STEPS
        mixed = (1 - share) * before["hook_embed"] + share * after["hook_embed"]
        for point, slope in _slopes(model, base, mixed, points, ours, theirs, pairs).items():
            slopes[point] += slope / _STEPS
    wide = {point: distance.view(-1, *[1] * (slopes[point].dim() - 1)) for point in points}
    return {point: (slopes[point] * (after[point] - before[point]) / wide[point]).detach() for point in points}


def _slopes(
    model: Transformer, tokens: Tensor, embedded: Tensor, points: list[str], ours: Tensor, theirs: Tensor, pairs: Pairs
) -> dict[str, Tensor]:
    held: dict[str, Tensor] = {}

    def hold(activation: Tensor, hook: HookPoint) -> None:
        held[hook.name] = activation

    def put(_activation: Tensor, /, hook: HookPoint) -> Tensor:  # noqa: ARG001
        return embedded.clone().requires_grad_()

    with torch.enable_grad():
        logits = model.run_with_hooks(tokens, [("hook_embed", put), *((point, hold) for point in points)])
        goal = _goal(logits, ours, theirs, pairs).sum()
        found = torch.autograd.grad(goal, [held[point] for point in points], allow_unused=True)
    return {
        point: torch.zeros_like(held[point]) if slope is None else slope
        for point, slope in zip(points, found, strict=True)
    }


def _goal(logits: Tensor, ours: Tensor, theirs: Tensor, pairs: Pairs) -> Tensor:
    # For each pair, the counterfactual tokens' logits less those of the base's, where they differ.
    here = logits[:, list(answer_positions(pairs.base.digits))]
    gap = here.gather(-1, ours[..., None])[..., 0] - here.gather(-1, theirs[..., None])[..., 0]
    return (gap * (ours != theirs)).sum(-1)
