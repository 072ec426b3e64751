"""Decoding: a model's own answer, one token after the other.

Takes  a model and questions.
Gives  the text of each answer as the model writes it.
Never  sees the right answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.tokens import decode, encode

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer


@torch.inference_mode()
def decode_answers(model: Transformer, questions: Questions) -> list[str]:
    """Greedy decoding: at each place the likeliest token is written down and read again."""
    tokens = torch.from_numpy(encode(questions)).to(model.unembed.W_U.device)
    asked = tokens.shape[1]
    for position in range(asked - 1, model.config.n_ctx - 1):
        likeliest = model(tokens, positions=[position]).argmax(-1)
        tokens = torch.cat([tokens, likeliest], dim=1)
    return decode(np.asarray(tokens[:, asked:].cpu()))
