"""Models of every shape: each fast route gives what the definition gives."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from carrylens.interventions import Edit
from carrylens.model import ModelConfig, Transformer, load_model, save_model
from carrylens.model.answer_pass import answer_logits, many_answer_logits, shared_places
from carrylens.model.weights import infer_config, weight_shapes
from interventions.random_edits import random_model
from interventions.slow_interventions import Asked, looped_logits
from model.shapes import SHAPES


@pytest.fixture(params=list(SHAPES.values()), ids=list(SHAPES))
def shaped(request: pytest.FixtureRequest) -> Transformer:
    config: ModelConfig = request.param
    return random_model(config, seed=4)


def some_tokens(model: Transformer, count: int) -> Tensor:
    shape = (count, model.config.n_ctx)
    return torch.randint(model.config.d_vocab, shape, generator=torch.Generator().manual_seed(3))


def test_the_logits_are_those_of_the_definition(shaped: Transformer) -> None:
    for row in some_tokens(shaped, 3):
        slow = looped_logits(Asked(shaped, row[None], [], [], []), Edit(()))
        found = shaped(row[None])[0, list(shaped.config.reads)].detach()
        torch.testing.assert_close(found, slow, rtol=0, atol=1e-10)


def test_logits_at_some_positions_are_those_of_the_whole_pass(shaped: Transformer) -> None:
    tokens, reads = some_tokens(shaped, 4), shaped.config.reads
    whole = shaped(tokens)
    torch.testing.assert_close(shaped(tokens, positions=reads), whole[:, list(reads)], rtol=0, atol=1e-12)


def test_the_answer_pass_and_its_gradients_are_those_of_the_whole_pass(shaped: Transformer) -> None:
    tokens = some_tokens(shaped, 6)
    fast = answer_logits(shaped, tokens[:, : shaped.config.reads.stop])
    fast.square().sum().backward()  # type: ignore[no-untyped-call]
    fast_gradients = {name: p.grad for name, p in shaped.named_parameters()}
    shaped.zero_grad()
    whole = shaped(tokens)[:, list(shaped.config.reads)]
    whole.square().sum().backward()
    torch.testing.assert_close(fast, whole, rtol=0, atol=1e-11)
    for name, parameter in shaped.named_parameters():
        torch.testing.assert_close(fast_gradients[name], parameter.grad, rtol=1e-9, atol=1e-9, msg=name)


def test_shared_beginnings_change_nothing(shaped: Transformer) -> None:
    tokens = some_tokens(shaped, 90) % 3
    expected = shared_places(shaped, tokens)
    assert expected == (2 if shaped.config.n_layers > 1 and shaped.config.reads.start >= 2 else 0)
    with torch.no_grad():
        whole = answer_logits(shaped, tokens)
    torch.testing.assert_close(many_answer_logits(shaped, tokens), whole, rtol=0, atol=1e-11)


def test_a_pass_reaches_every_hook_that_is_named_and_no_other(shaped: Transformer) -> None:
    tokens = some_tokens(shaped, 2)
    watched, cache = shaped.run_with_cache(tokens, lambda _: True)
    assert tuple(cache) == shaped.hook_names
    torch.testing.assert_close(watched, shaped(tokens), rtol=0, atol=1e-11)
    assert any("mlp" in name for name in cache) == shaped.config.has_mlp
    assert any("ln" in name for name in cache) == (shaped.config.normalization != "none")


def test_the_shape_is_seen_in_the_weights_and_survives_a_folder(shaped: Transformer, tmp_path: Path) -> None:
    state, config = shaped.state_dict(), shaped.config
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == dict(weight_shapes(config))
    hidden = {"act_fn": config.act_fn, "normalization": config.normalization, "eps": config.eps}
    assert infer_config(state, config.reads, **hidden) == config  # type: ignore[arg-type]
    save_model(shaped, tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.config == config
    assert all(torch.equal(tensor, state[name]) for name, tensor in loaded.state_dict().items())


def test_a_changed_activation_function_or_norm_is_noticed() -> None:
    tokens, found = some_tokens(random_model(SHAPES["plain"], 4), 2), []
    for name in ("plain", "GELU", "GELU by tanh"):
        found.append(random_model(SHAPES[name], seed=4)(tokens).detach())
    for name in ("no norm", "fast GELU, folded norms"):
        model = Transformer(SHAPES[name]).double()
        state = random_model(SHAPES["plain"], 4).state_dict()
        model.load_state_dict({name: tensor for name, tensor in state.items() if name in model.state_dict()})
        found.append(model(tokens).detach())
    gaps = [float((one - other).abs().max()) for at, one in enumerate(found) for other in found[:at]]
    assert min(gaps) > 1e-5
