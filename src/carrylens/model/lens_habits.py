"""Habits of TransformerLens: `cfg`, stacked weights, and text where tokens are expected.

Takes  a model that knows its task; questions as text, a batch of them, or token ids.
Gives  token ids, text, greedy decoding, and weights with axes [layer, head, ...], under the names of TransformerLens.
Never  adds a BOS token, and never draws at random: decoding takes the likeliest token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from carrylens.errors import CarryLensError, quote
from carrylens.model.decoding import decode_outputs, decode_tokens
from carrylens.tasks.batches import Batch

if TYPE_CHECKING:
    from carrylens.model.config import ModelConfig
    from carrylens.tasks.task import Task

TextOrTokens = str | Sequence[str] | Batch | Tensor
"""What a model reads: questions as people write them, a batch of them, or token ids with axes [batch, pos]."""


_HOOKS = "hooks are arguments of one pass: model.run_with_hooks(text, fwd_hooks=[(name, function)])"
_INSTEAD = {
    **dict.fromkeys(("add_hook", "add_perma_hook", "hooks", "reset_hooks"), _HOOKS),
    **dict.fromkeys(("hook_dict", "hook_points"), "the names of all hooks are model.hook_names"),
    **dict.fromkeys(("tokenizer", "to_single_token"), "token ids are places in model.task.layout.vocabulary"),
    "set_use_attn_result": "model.run_with_cache(text, 'blocks.0.attn.hook_result') asks for it by name",
}
"""What models have in TransformerLens and not here, and what to write instead."""


class StackedWeights:
    """One weight of every layer, stacked: `model.W_Q` has axes [layer, head, d_model, d_head]."""

    def __init__(self, part: str) -> None:
        self.part = part

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, _owner: type | None = None) -> Any:
        """The stacked weights of a model; of the class, this description."""
        if model is None:
            return self
        if self.part == "mlp" and not model.config.has_mlp:
            raise CarryLensError(f"This model has no MLP, so it has no {self.name}. See model.cfg.")
        return torch.stack([getattr(getattr(block, self.part), self.name) for block in model.blocks])


class OwnWeight(StackedWeights):
    """The one weight of a part that is there once: `model.W_E`."""

    def __get__(self, model: Any, _owner: type | None = None) -> Any:
        """The weight of a model; of the class, this description."""
        return self if model is None else getattr(getattr(model, self.part), self.name)


class LensHabits:
    """What people who know TransformerLens type; a `Transformer` is one of these."""

    if TYPE_CHECKING:
        config: ModelConfig
        task: Task | None

    W_E, W_pos = OwnWeight("embed"), OwnWeight("pos_embed")
    W_U, b_U = OwnWeight("unembed"), OwnWeight("unembed")
    W_Q, W_K, W_V, W_O = (StackedWeights("attn") for _ in range(4))
    b_Q, b_K, b_V, b_O = (StackedWeights("attn") for _ in range(4))
    W_in, b_in, W_out, b_out = (StackedWeights("mlp") for _ in range(4))

    def __getattr__(self, name: str) -> Any:
        if instead := _INSTEAD.get(name):
            raise AttributeError(f"A model has no {name} here: {instead}. See docs/from_transformerlens.md.")
        return super().__getattr__(name)  # type: ignore[misc] # PyTorch's, which has parameters and modules

    @property
    def cfg(self) -> ModelConfig:
        """The shape of the model, by the name that it has in TransformerLens."""
        return self.config

    def to_tokens(self, text: TextOrTokens, *, answers: bool = True) -> Int[Tensor, "batch pos"]:
        """The token ids of questions: each with its right answer, so that every position is there.

        What stands after `=` is taken as the answer instead, token by token in the model's own order:
        `555555+444448=+0999999`. With `answers=False` a question
        ends where its answer begins.
        """
        if isinstance(text, Tensor):
            return text
        task = self._known_task()
        if isinstance(text, Batch):
            batch, written = text, [""] * len(text)
        else:
            parts = [_split_answer(each) for each in ([text] if isinstance(text, str) else text)]
            batch, written = task.parse([asked for asked, _ in parts]), [answer for _, answer in parts]
        ids = torch.from_numpy(np.asarray(task.token_ids(batch) if answers else task.layout.encode(batch)))
        ids = ids.to(torch.int64).clone()
        for row, answer in enumerate(written):
            if answer and answers:
                ids[row, task.layout.n_question :] = torch.tensor(_answer_ids(answer, task))
        return ids.to(self.W_E.device)

    def to_string(self, tokens: Int[Tensor, "batch pos"]) -> list[str]:
        """The text of each row of token ids."""
        return self._known_task().layout.text(np.atleast_2d(np.asarray(tokens.detach().cpu())))

    def to_str_tokens(self, text: str) -> list[str]:
        """The tokens of one question with its answer, as text: one for each position."""
        vocabulary = self._known_task().layout.vocabulary
        return [vocabulary[each] for each in self.to_tokens(text)[0].tolist()]

    def generate(self, question: TextOrTokens) -> Any:
        """Questions with the answers that the model writes by itself: text for text, token ids for token ids.

        >>> import carrylens as cl
        >>> cl.load("add_d6_l2_h3_w96_t2K_s1").generate("555555+444448")  # doctest: +SKIP
        '555555+444448=+1000003'
        """
        if isinstance(question, Tensor):
            return torch.cat([question.to(self.W_E.device), decode_tokens(self, question)], dim=1)  # type: ignore[arg-type]
        task = self._known_task()
        texts = [question] if isinstance(question, str) else question
        batch = texts if isinstance(texts, Batch) else task.parse(list(texts))
        answers = task.layout.output_text(decode_outputs(self, task, batch))  # type: ignore[arg-type]
        whole = [f"{asked}{answer}" for asked, answer in zip(task.question_text(batch), answers, strict=True)]
        return whole[0] if isinstance(question, str) else whole

    def answer(self, question: str) -> str:
        """What the model answers to a question as its task writes one, such as `45+7`, decoded token by token."""
        task = self._known_task()
        return task.layout.answer_text(decode_outputs(self, task, task.parse([question])))[0]  # type: ignore[arg-type]

    def _known_task(self) -> Task:
        if self.task is None:
            raise CarryLensError(
                "This model does not say what it was made for, so it takes no questions as text. "
                "Set model.task, load it with carrylens.load, or give it token ids."
            )
        return self.task


def _split_answer(text: str) -> tuple[str, str]:
    # The question, and the answer that was written after it, if one was.
    if not isinstance(text, str):
        raise CarryLensError(f"{text!r} is not a text. Give questions such as '45+7', or token ids as a tensor.")
    asked, equals, answer = text.rpartition("=")
    return (asked + equals, answer.strip()) if equals and answer.strip() else (text, "")


def _answer_ids(answer: str, task: Task) -> list[int]:
    layout = task.layout
    tokens = answer.split() if " " in answer else list(answer)
    wanted = layout.n_positions - layout.n_question
    strangers = [each for each in tokens if each not in layout.vocabulary]
    if strangers or len(tokens) != wanted:
        wrong = f"{quote(strangers[0])} is not a token" if strangers else f"it has {len(tokens)} tokens, not {wanted}"
        raise CarryLensError(f"The answer {quote(answer)} cannot be read: {wrong}. Write all {wanted} of them.")
    return [layout.vocabulary.index(each) for each in tokens]
