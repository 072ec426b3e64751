"""Habits of TransformerLens: text where tokens are expected, stacked weights, decoding."""

import pytest
import torch

import carrylens as cl
from carrylens.arithmetic import Questions
from carrylens.errors import CarryLensError
from carrylens.model import Transformer


@pytest.fixture(scope="module")
def model() -> Transformer:
    return cl.load("add_d6_l2_h3_w96_t2K_s1")


def test_text_is_read_as_the_tokens_it_stands_for(model: Transformer) -> None:
    tokens = model.to_tokens(["555555+444448", "1+2"])
    assert tokens.shape == (2, model.cfg.n_ctx)
    assert model.to_string(tokens) == ["555555+444448=+1000003", "000001+000002=+0000003"]
    assert torch.equal(model(["555555+444448", "1+2"]), model(tokens))
    assert torch.equal(model(Questions.parse(["555555+444448", "1+2"], 6)), model(tokens))
    logits, cache = model.run_with_cache("555555+444448")
    assert torch.equal(cache["pattern", 1], model.run_with_cache(tokens[:1])[1]["pattern", 1])
    assert torch.allclose(logits, model(tokens[:1]), atol=1e-4)


def test_an_answer_that_is_written_is_read_and_none_is_where_none_is_wanted(model: Transformer) -> None:
    assert model.to_string(model.to_tokens("1+2=+0000009")) == ["000001+000002=+0000009"]
    assert model.to_tokens("1+2", answers=False).shape == (1, 14)
    assert "".join(model.to_str_tokens("1+2")) == "000001+000002=+0000003"
    for wrong in ("1+2=+9", "1+2=+00000x9"):
        with pytest.raises(CarryLensError, match="answer"):
            model.to_tokens(wrong)


def test_it_writes_its_own_answer_for_text_and_for_tokens(model: Transformer) -> None:
    assert model.generate("555555+444448") == "555555+444448=+1000003"
    assert model.generate(["1+2", "3+4"]) == ["000001+000002=+0000003", "000003+000004=+0000007"]
    prompt = model.to_tokens("1+2", answers=False)
    assert model.to_string(model.generate(prompt)) == ["000001+000002=+0000003"]


def test_weights_of_all_layers_are_stacked_under_the_names_they_have_there(model: Transformer) -> None:
    cfg = model.cfg
    assert model.W_Q.shape == model.W_K.shape == model.W_V.shape == (cfg.n_layers, cfg.n_heads, cfg.d_model, cfg.d_head)
    assert model.W_O.shape == (cfg.n_layers, cfg.n_heads, cfg.d_head, cfg.d_model)
    assert model.b_Q.shape == (cfg.n_layers, cfg.n_heads, cfg.d_head)
    assert model.W_in.shape == (cfg.n_layers, cfg.d_model, cfg.d_mlp)
    state = model.state_dict()
    assert torch.equal(model.W_out[1], state["blocks.1.mlp.W_out"])
    assert torch.equal(model.b_O[0], state["blocks.0.attn.b_O"])
    assert model.W_E is model.embed.W_E
    assert model.W_U.shape == (cfg.d_model, cfg.d_vocab_out)
    assert (cfg.normalization_type, cfg.act_fn) == ("LN", "relu")


def test_without_a_task_text_is_refused_and_tokens_are_not(model: Transformer) -> None:
    bare = Transformer(model.config)
    assert bare(torch.zeros(1, 3, dtype=torch.int64)).shape == (1, 3, 15)
    for call in (bare, bare.run_with_cache, bare.generate, bare.to_tokens, bare.to_str_tokens):
        with pytest.raises(CarryLensError, match="task"):
            call("1+2")


def test_the_last_layer_is_minus_one_and_one_question_needs_no_axis_of_its_own(model: Transformer) -> None:
    _, cache = model.run_with_cache("1+2")
    _, alone = model.run_with_cache("1+2", remove_batch_dim=True)
    assert torch.equal(cache["resid_post", -1], cache["resid_post", model.cfg.n_layers - 1])
    assert set(alone) == set(cache)
    assert all(torch.equal(alone[name], cache[name][0]) for name in cache)
    with pytest.raises(KeyError):
        cache["resid_post", -model.cfg.n_layers - 1]
    with pytest.raises(CarryLensError, match="remove_batch_dim"):
        model.run_with_cache(["1+2", "3+4"], remove_batch_dim=True)


@pytest.mark.parametrize(
    ("name", "instead"),
    [("add_hook", "run_with_hooks"), ("hook_dict", "hook_names"), ("to_single_token", "vocabulary")],
)
def test_what_is_called_otherwise_there_is_named_here(model: Transformer, name: str, instead: str) -> None:
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=instead):
        getattr(model, name)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = model.nothing_like_it
