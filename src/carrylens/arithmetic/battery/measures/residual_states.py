"""States: what the residual stream holds for questions, as arrays.

Takes  a model, questions, places and levels.
Gives  arrays with the axes question, place, level, d_model.
Never  edits anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.tokens import encode
from carrylens.interventions.parts import Parts
from carrylens.model.transformer import Transformer

States = NDArray[np.float64]
_ROWS = 256


def levels_of(n_layers: int) -> list[str]:
    """Every level of the stream after the tokens: behind the heads and behind the MLP of each layer."""
    return [f"blocks.{layer}.hook_resid_{half}" for layer in range(n_layers) for half in ("mid", "post")]


def level_name(level: str) -> str:
    """A level as people write it.

    >>> level_name("blocks.1.hook_resid_mid")
    'L1 behind heads'
    """
    _, layer, hook = level.split(".")
    return f"L{layer} behind {'heads' if hook.endswith('mid') else 'MLP'}"


def read_states(model: Transformer, questions: Questions, places: Sequence[int], levels: Sequence[str]) -> States:
    """The stream at these places and levels, for questions read with their right answers."""
    return np.stack([each.astype(np.float64) for each in read_hooks(model, questions, places, levels)], axis=2)


def read_hooks(
    model: Transformer, questions: Questions, places: Sequence[int], hooks: Sequence[str]
) -> list[NDArray[np.float32]]:
    """What passes each hook, axes question, place and its own, for questions read with their right answers.

    Nothing after the last of the places is read, and the last layer is computed at the places alone.
    """
    tokens = torch.from_numpy(encode(questions, answers(questions))).to(model.unembed.W_U.device)
    last = f"blocks.{model.config.n_layers - 1}."
    narrow = {hook for hook in hooks if hook.startswith(last) and not hook.endswith("hook_resid_pre")}
    found: list[list[Tensor]] = [[] for _ in hooks]
    for chunk in torch.split(tokens[:, : max(places) + 1], _ROWS):
        with torch.inference_mode():
            _, cache = model.run_with_cache(chunk, list(dict.fromkeys(hooks)), positions=list(places))
        for mine, hook in zip(found, hooks, strict=True):
            mine.append(cache[hook] if hook in narrow else cache[hook][:, list(places)])
    return [torch.cat(mine).cpu().numpy() for mine in found]


def lens_logits(model: Transformer, states: NDArray[np.float64]) -> NDArray[np.float32]:
    """The logits that the last norm and the unembedding make of states: the axes of `states`, the last one vocab."""
    parts = Parts(model)
    with torch.inference_mode():
        return parts.logits(torch.from_numpy(states).to(parts.device, parts.dtype)).float().cpu().numpy()
