"""Greedy decoding is writing the likeliest token at the end, again and again."""

import pytest
import torch

from carrylens.errors import CarryLensError
from carrylens.model import ModelConfig, Transformer
from carrylens.model.decoding import decode_tokens


def a_model(n_ctx: int) -> Transformer:
    return Transformer(ModelConfig(2, 2, 12, 5, 0, n_ctx, 7, 7, reads=range(3, 6), act_fn="gelu", seed=3))


@pytest.mark.parametrize("n_ctx", [6, 7, 9])
def test_decoding_agrees_with_writing_one_token_at_a_time_by_hand(n_ctx: int) -> None:
    model, prompts = a_model(n_ctx), torch.randint(7, (5, 4), generator=torch.Generator().manual_seed(1))
    found = decode_tokens(model, prompts)
    assert found.shape == (5, 3)
    for prompt, written in zip(prompts.tolist(), found.tolist(), strict=True):
        ids = list(prompt)
        for _ in range(3):
            with torch.no_grad():
                ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
        assert written == ids[4:]


@pytest.mark.parametrize("length", [3, 7])
def test_a_prompt_that_does_not_end_where_outputs_are_read_is_refused(length: int) -> None:
    with pytest.raises(CarryLensError, match=rf"\b{length} tokens"):
        decode_tokens(a_model(9), torch.zeros(1, length, dtype=torch.int64))


def test_a_model_without_a_task_cannot_be_asked_in_words() -> None:
    with pytest.raises(CarryLensError, match="model.task"):
        a_model(6).answer("45+7")
