"""Decoding: what a model puts out on its own.

Takes  a model, and prompts as token ids or questions of a task.
Gives  the ids that it writes, one after the other where outputs are fed back.
Never  sees what it should write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch
from carrylens.tasks.task import Task

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer


def decode_outputs(model: Transformer, task: Task, questions: Batch) -> NDArray[np.int64]:
    """The token ids of every output, as the model writes them by itself: [batch, output]."""
    ids = torch.from_numpy(task.layout.encode(questions))
    if task.layout.is_fed_back:
        return np.asarray(decode_tokens(model, ids).cpu())
    with torch.inference_mode():
        logits = model(ids.to(model.unembed.W_U.device), positions=task.layout.read_positions)
    return np.asarray(likeliest_of(logits).cpu())


def likeliest_of(logits: Float[Tensor, "batch pos vocab"]) -> Int[Tensor, "batch pos"]:
    """The token with the highest logit; an error where a logit is not finite, for then there is none."""
    if not bool(logits.isfinite().all()):
        raise CarryLensError(
            "The model's logits are not finite, so it answers nothing. Give weights that do not overflow."
        )
    return logits.argmax(-1)


@torch.inference_mode()
def decode_tokens(model: Transformer, prompts: Int[Tensor, "batch pos"]) -> Int[Tensor, "batch pos"]:
    """Greedy decoding: at each place the likeliest token is written down and read again."""
    reads, n_given = model.config.reads, prompts.shape[1]
    if not reads.start < n_given <= reads.stop:
        raise CarryLensError(
            f"A prompt of {n_given} tokens does not end where outputs are read. "
            f"Give {reads.start + 1} tokens, or up to {reads.stop} to have only the last outputs decoded."
        )
    tokens = prompts.to(model.unembed.W_U.device)
    for position in range(n_given - 1, reads.stop):
        tokens = torch.cat([tokens, likeliest_of(model(tokens, positions=[position]))], dim=1)
    return tokens[:, n_given:]
