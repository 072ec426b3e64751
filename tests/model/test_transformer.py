import math
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.errors import CarryLensError
from carrylens.model import Transformer
from carrylens.model.weights import weight_shapes

Vector = NDArray[np.float64]
MakeModel = Callable[..., Transformer]


def normalised(x: Vector, w: Vector, b: Vector) -> Vector:
    centred = x - x.mean()
    return centred / math.sqrt((centred**2).mean() + 1e-5) * w + b


def logits_by_the_book(model: Transformer, tokens: list[int]) -> Vector:
    """The published architecture in plain loops over positions and heads, one question at a time."""
    weights = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    stream = [weights["embed.W_E"][token] + weights["pos_embed.W_pos"][place] for place, token in enumerate(tokens)]
    for layer in range(model.config.n_layers):
        w = {name.removeprefix(f"blocks.{layer}."): value for name, value in weights.items()}
        read = [normalised(x, w["ln1.w"], w["ln1.b"]) for x in stream]
        after = []
        for place, x in enumerate(stream):
            written = x + w["attn.b_O"]
            for head in range(model.config.n_heads):
                query = read[place] @ w["attn.W_Q"][head] + w["attn.b_Q"][head]
                keys = [seen @ w["attn.W_K"][head] + w["attn.b_K"][head] for seen in read[: place + 1]]
                values = [seen @ w["attn.W_V"][head] + w["attn.b_V"][head] for seen in read[: place + 1]]
                shares = [math.exp(query @ key / math.sqrt(len(key))) for key in keys]
                for share, value in zip(shares, values, strict=True):
                    written = written + share / sum(shares) * (value @ w["attn.W_O"][head])
            hidden = np.maximum(normalised(written, w["ln2.w"], w["ln2.b"]) @ w["mlp.W_in"] + w["mlp.b_in"], 0)
            after.append(written + hidden @ w["mlp.W_out"] + w["mlp.b_out"])
        stream = after
    last = [normalised(x, weights["ln_final.w"], weights["ln_final.b"]) for x in stream]
    return np.stack(last) @ weights["unembed.W_U"] + weights["unembed.b_U"]


@pytest.mark.parametrize(("n_layers", "n_heads", "d_head"), [(1, 3, 4), (2, 3, 4), (3, 4, 5), (4, 4, 3)])
def test_the_logits_are_those_of_the_published_architecture(
    make_model: MakeModel, n_layers: int, n_heads: int, d_head: int
) -> None:
    model = make_model(n_layers, n_heads, d_head)
    question = [1, 9, 10, 8, 1, 12, 10, 1, 0, 0]
    found = model(torch.tensor([question])).detach().numpy()[0]
    np.testing.assert_allclose(found, logits_by_the_book(model, question), rtol=0, atol=1e-12)


def test_a_watched_pass_and_an_unwatched_pass_agree(model: Transformer, tokens: Tensor) -> None:
    watched, _ = model.run_with_cache(tokens)
    torch.testing.assert_close(watched, model(tokens), rtol=0, atol=1e-12)


def test_asking_for_each_heads_output_changes_nothing(model: Transformer, tokens: Tensor) -> None:
    logits, cache = model.run_with_cache(tokens, lambda name: "hook_result" in name or "attn_out" in name)
    torch.testing.assert_close(logits, model(tokens), rtol=0, atol=1e-12)
    together = cache["result", 1].sum(2) + model.state_dict()["blocks.1.attn.b_O"]
    torch.testing.assert_close(together, cache["attn_out", 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
@pytest.mark.parametrize("positions", [range(5, 9), [9], [7, 2, 4], [3, 3, 0]])
@pytest.mark.parametrize("watched", [False, True])
def test_the_last_layer_at_some_positions_agrees_with_the_full_pass(
    make_model: MakeModel, tokens: Tensor, n_layers: int, positions: range | list[int], watched: bool
) -> None:
    model = make_model(n_layers)
    some = model.run_with_cache(tokens, positions=positions)[0] if watched else model(tokens, positions=positions)
    torch.testing.assert_close(some, model(tokens)[:, list(positions)], rtol=0, atol=1e-12)


def test_gradients_at_some_positions_agree_with_those_of_the_full_pass(model: Transformer, tokens: Tensor) -> None:
    places = range(5, 9)
    some = torch.autograd.grad(model(tokens, positions=places).square().sum(), list(model.parameters()))
    full = torch.autograd.grad(model(tokens)[:, list(places)].square().sum(), list(model.parameters()))
    for one, other in zip(some, full, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


def test_hooks_in_the_last_layer_see_only_the_positions_asked_for(model: Transformer, tokens: Tensor) -> None:
    _, whole = model.run_with_cache(tokens)
    _, cache = model.run_with_cache(tokens, positions=[6, 8])
    assert cache["pattern", 1].shape == (5, 3, 2, 10)
    assert cache["k", 1].shape == (5, 10, 3, 4)
    assert cache["resid_post", 0].shape == (5, 10, 12)
    torch.testing.assert_close(cache["z", 1], whole["z", 1][:, [6, 8]], rtol=0, atol=1e-12)


def test_no_position_sees_what_comes_after_it(model: Transformer, tokens: Tensor) -> None:
    other = tokens.clone()
    other[:, 6:] = (other[:, 6:] + 1) % 15
    assert torch.equal(model(tokens)[:, :6], model(other)[:, :6])
    assert not torch.isclose(model(tokens)[:, 6:], model(other)[:, 6:]).any()


def test_the_beginning_of_a_question_gives_the_beginning_of_its_logits(model: Transformer, tokens: Tensor) -> None:
    torch.testing.assert_close(model(tokens[:, :4]), model(tokens)[:, :4], rtol=0, atol=1e-12)


@pytest.mark.parametrize("positions", [[], [10], [-1], [0, 99]])
def test_a_position_outside_the_question_is_refused(model: Transformer, tokens: Tensor, positions: list[int]) -> None:
    with pytest.raises(CarryLensError, match=rf"{re.escape(str(positions))}.*\b9\b"):
        model(tokens, positions=positions)


@pytest.mark.parametrize(
    ("tokens", "complaint"),
    [
        (torch.zeros(10, dtype=torch.long), "[batch, pos]"),
        (torch.zeros(2, 10), "torch.float32"),
        (torch.zeros(2, 10, dtype=torch.bool), "torch.bool"),
        (torch.zeros(2, 11, dtype=torch.long), "at most 10 positions"),
        (torch.zeros(2, 0, dtype=torch.long), "shape [2, 0]"),
        (torch.full((2, 10), 15), "from 15 to 15. Give ids from 0 to 14"),
        (torch.full((2, 10), -1), "from -1 to -1"),
    ],
)
def test_tokens_that_are_no_question_are_refused(model: Transformer, tokens: Tensor, complaint: str) -> None:
    with pytest.raises(CarryLensError) as caught:
        model(tokens)
    assert complaint in str(caught.value)


def test_no_question_gives_no_logits(model: Transformer) -> None:
    assert model(torch.zeros(0, 10, dtype=torch.long)).shape == (0, 10, 15)


def test_a_seed_gives_one_model_and_leaves_other_randomness_alone() -> None:
    shape = {"digits": 2, "n_layers": 1, "n_heads": 3, "width": 12}
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, same, other = (Transformer(config_of_width(**shape, seed=seed)).state_dict() for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["embed.W_E"], other["embed.W_E"])


def test_weights_are_drawn_as_published() -> None:
    config = config_of_width(digits=6, n_layers=1, n_heads=4, width=128)
    for name, tensor in Transformer(config).state_dict().items():
        if "W_" in name:
            assert tensor.std().item() == pytest.approx(0.8 / math.sqrt(128), rel=0.1), name
            assert abs(tensor.mean().item()) < 0.01, name
        else:
            assert torch.equal(tensor, torch.full_like(tensor, 1.0 if name.endswith(".w") else 0.0)), name


def test_the_published_models_have_the_published_number_of_weights() -> None:
    sizes = [config_of_width(6, 2, 3), config_of_width(6, 3, 4)]
    counts = [sum(math.prod(shape) for _, shape in weight_shapes(config)) for config in sizes]
    assert [round(count / 1e6, 2) for count in counts] == [6.28, 10.45]
