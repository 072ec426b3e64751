"""The optimiser: AdamW for everything, or Muon for the blocks' matrices and AdamW for the rest.

Takes  a model with gradients and the share of the learning rate in force.
Gives  changed weights, and its own state as named tensors.
Never  computes a gradient.

Muon, step by step, on matrices of one shape stacked together:
1. Keep a running mean of the gradients, and look one step ahead along it (Nesterov).
2. Make the result orthogonal by five Newton-Schulz steps, in fp32: bf16 is slower on most CPUs.
3. Scale it by the root of how much taller than wide the matrix is, and step.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer
from carrylens.training.recipe import TrainingRecipe

_MOMENTUM, _MUON_DECAY = 0.95, 0.01
_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # the quintic that Muon's authors tuned


class Optimiser:
    """Trains one model by one recipe."""

    def __init__(self, model: Transformer, recipe: TrainingRecipe) -> None:
        self._recipe = recipe
        self._named = dict(model.named_parameters())
        self._muon = Muon(model) if recipe.muon_rate is not None else None
        by_muon = self._muon.names if self._muon else frozenset()
        rest = {name: parameter for name, parameter in self._named.items() if name not in by_muon}
        decays = [parameter for name, parameter in rest.items() if "W_" in name]
        plain = [parameter for name, parameter in rest.items() if "W_" not in name]
        groups: list[dict[str, Any]] = [{"params": decays}, {"params": plain, "weight_decay": _plain_decay(recipe)}]
        self._adam = torch.optim.AdamW(
            groups, lr=recipe.adam_rate, betas=recipe.betas, weight_decay=recipe.weight_decay, fused=True
        )

    def step(self, share: float) -> float:
        """Change the weights along their gradients, clear these, and give back how long the gradient was."""
        parameters = list(self._named.values())
        norm = nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
        length = float(norm)
        if self._recipe.clip is not None and length == length:
            nn.utils.clip_grads_with_norm_(parameters, self._recipe.clip, norm)
        for group in self._adam.param_groups:
            group["lr"] = self._recipe.adam_rate * share
        self._adam.step()
        if self._muon is not None and self._recipe.muon_rate is not None:
            self._muon.step(self._recipe.muon_rate * share)
        for parameter in parameters:
            parameter.grad = None
        return length

    def state(self) -> dict[str, Tensor]:
        """All that must be kept to go on later as if nothing had happened."""
        kept = dict(self._muon.state()) if self._muon else {}
        for place, slots in self._adam.state_dict()["state"].items():
            kept |= {f"adam.{place}.{slot}": tensor for slot, tensor in slots.items()}
        return kept

    def load_state(self, kept: Mapping[str, Tensor]) -> None:
        """Go on from what `state` gave."""
        slots: dict[int, dict[str, Tensor]] = {}
        for name, tensor in kept.items():
            owner, place, slot = name.split(".", 2)
            if owner == "adam":
                slots.setdefault(int(place), {})[slot] = tensor
        whole = self._adam.state_dict()
        if set(slots) != set(range(sum(len(group["params"]) for group in whole["param_groups"]))):
            raise CarryLensError("The checkpoint's optimiser is not that of this model. Train anew with --restart.")
        self._adam.load_state_dict({**whole, "state": slots})
        if self._muon is not None:
            self._muon.load_state(kept)


class Muon:
    """Muon in fp32 on the matrices of a model's blocks."""

    def __init__(self, model: Transformer) -> None:
        self._matrices = [(name, p) for name, p in model.named_parameters() if "blocks." in name and "W_" in name]
        self._means = {name: torch.zeros_like(parameter) for name, parameter in self._matrices}
        stacks: dict[tuple[int, ...], list[str]] = {}
        for name, parameter in self._matrices:
            stacks.setdefault(tuple(tall_matrix(name, parameter).shape), []).append(name)
        self._stacks = list(stacks.values())

    @property
    def names(self) -> frozenset[str]:
        """The weights that Muon trains."""
        return frozenset(self._means)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One step along the orthogonalised running mean of the gradients."""
        parameters = dict(self._matrices)
        for stack in self._stacks:
            ahead = []
            for name in stack:
                gradient = parameters[name].grad
                assert gradient is not None
                mean = self._means[name].lerp_(gradient, 1 - _MOMENTUM)
                ahead.append(tall_matrix(name, gradient.lerp(mean, _MOMENTUM)))
            for name, update in zip(stack, orthogonalised(torch.stack(ahead)), strict=True):
                parameter = parameters[name]
                parameter.mul_(1 - rate * _MUON_DECAY)
                parameter.add_(as_weight(name, update, parameter), alpha=-rate * _scale(name, update))

    def state(self) -> dict[str, Tensor]:
        """The running means."""
        return {f"muon.{name}": mean for name, mean in self._means.items()}

    def load_state(self, kept: Mapping[str, Tensor]) -> None:
        """Go on from what `state` gave."""
        for name, mean in self._means.items():
            if f"muon.{name}" not in kept:
                raise CarryLensError(
                    "The checkpoint's optimiser is not that of this recipe. Train anew with --restart."
                )
            mean.copy_(kept[f"muon.{name}"])


def _plain_decay(recipe: TrainingRecipe) -> float:
    return recipe.weight_decay if recipe.decays_all else 0.0


def tall_matrix(name: str, weight: Tensor) -> Tensor:
    """A weight as one matrix at least as tall as wide: heads side by side, the smaller side last."""
    if name.endswith("W_O"):
        return weight.flatten(0, 1)
    if weight.dim() == 3:
        return weight.transpose(1, 2).flatten(0, 1)
    return weight.T if name.endswith("W_in") else weight


def as_weight(name: str, matrix: Tensor, weight: Tensor) -> Tensor:
    """The inverse of `tall_matrix`: the matrix in the form that the weight has."""
    if name.endswith("W_O"):
        return matrix.view_as(weight)
    if weight.dim() == 3:
        heads, d_model, d_head = weight.shape
        return matrix.view(heads, d_head, d_model).transpose(1, 2)
    return matrix.T if name.endswith("W_in") else matrix


def _scale(name: str, matrix: Tensor) -> float:
    # Rows over columns of the matrix as it maps inputs to outputs; W_out and W_O map to the smaller side.
    rows, columns = matrix.shape
    return 1.0 if name.endswith(("W_out", "W_O")) else sqrt(max(1.0, rows / columns))


def orthogonalised(stack: Tensor) -> Tensor:
    """Matrices of one shape, each made nearly orthogonal by five Newton-Schulz steps."""
    a, b, c = _NEWTON_SCHULZ
    x = stack / (stack.flatten(1).norm(dim=1).view(-1, 1, 1) + 1e-7)
    for _ in range(5):
        gram = x.transpose(1, 2) @ x
        x = torch.baddbmm(x, x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), beta=a)
    return x
