"""Decoding: a model's own answers to questions, as text.

Takes  a model and questions.
Gives  the text of each answer as the model writes it.
Never  sees the right answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.tokens import decode, encode
from carrylens.model.decoding import decode_tokens
from carrylens.model.transformer import Transformer


def decode_answers(model: Transformer, questions: Questions) -> list[str]:
    """Greedy decoding: at each place the likeliest token is written down and read again."""
    return decode(np.asarray(decode_tokens(model, torch.from_numpy(encode(questions))).cpu()))


@dataclass(frozen=True)
class Decoder:
    """What `Transformer.answer` asks: it reads a question such as `45+7` and gives sign and digits."""

    def answer(self, model: Transformer, question: str) -> str:
        """What the model answers."""
        return decode_answers(model, Questions.parse([question], digits_of(model.config)))[0]
