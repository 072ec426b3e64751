"""Two adders that others made, where they are at hand: they may not be shipped, so elsewhere this is skipped."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from carrylens.model import load_foreign, read_foreign
from carrylens.model.answer_pass import many_answer_logits
from carrylens.model.decoding import decode_tokens

FOLDER = Path(__file__).parents[3] / "shared" / "external"
ATTENTION_ONLY, UNITS_FIRST = FOLDER / "four_digit_attention_only.pt", FOLDER / "four_digit_units_first.pt"
COUNT = 20_000

pytestmark = pytest.mark.skipif(not ATTENTION_ONLY.exists(), reason=f"{FOLDER} is not here")


def numbers(below: int, seed: int) -> Tensor:
    return torch.randint(below, (COUNT,), generator=torch.Generator().manual_seed(seed))


def units_first(number: Tensor, n_digits: int) -> Tensor:
    return torch.stack([number // 10**k % 10 for k in range(n_digits)], 1)


def always(token: int) -> Tensor:
    return torch.full((COUNT, 1), token)


def test_an_attention_only_adder_without_a_sign_adds() -> None:
    model = load_foreign(ATTENTION_ONLY, reads=range(9, 13))
    assert (model.config.n_heads, model.config.d_head, model.config.has_mlp) == (3, 24, False)
    a, b = numbers(5000, seed=0), numbers(5000, seed=1)
    first, second, right = (units_first(number, 4).flip(1) for number in (a, b, a + b))
    tokens = torch.cat([first, always(10), second, always(11), right], 1)
    found = many_answer_logits(model, tokens).argmax(-1)
    assert (found == right).all(1).double().mean() >= 0.9995
    alone = decode_tokens(model, tokens[:500, :10])
    assert torch.equal((alone == right[:500]).all(1), (found[:500] == right[:500]).all(1))


def test_an_adder_with_query_tokens_and_digits_alone_as_outputs_adds() -> None:
    model = load_foreign(UNITS_FIRST, reads=range(9, 14))
    assert (model.config.d_vocab, model.config.d_vocab_out, model.config.reads.stop) == (12, 10, model.config.n_ctx)
    a, b = numbers(10_000, seed=0), numbers(10_000, seed=1)
    tokens = torch.cat([always(10), units_first(a, 4), units_first(b, 4), *[always(11)] * 5], 1)
    found = many_answer_logits(model, tokens).argmax(-1)
    assert (found == units_first(a + b, 5)).all(1).double().mean() >= 0.9995


def test_both_are_known_for_transformer_lens() -> None:
    assert {read_foreign(path).format for path in (ATTENTION_ONLY, UNITS_FIRST)} == {"TransformerLens"}
