"""A `TransformerBridge` of TransformerLens 4.x computes what our models do: their weights here, ours there."""

import importlib
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from carrylens.arithmetic.zoo import load
from carrylens.model import ModelConfig, Transformer, load_foreign
from interventions.random_edits import random_model
from model.foreign_states import as_bridge
from model.shapes import SHAPES

CLOSE = 1e-5
LACKING = ("fast GELU, folded norms",)  # no bridge of theirs has this activation function


def bridge_of(lens: Any, shape: ModelConfig, seed: int = 1) -> Any:
    """A native bridge of this shape, with weights of its own."""
    config = lens.TransformerBridgeConfig(
        d_model=shape.d_model,
        d_head=shape.d_head,
        n_heads=shape.n_heads,
        n_layers=shape.n_layers,
        n_ctx=shape.n_ctx,
        d_mlp=shape.d_mlp or None,
        attn_only=not shape.has_mlp,
        d_vocab=shape.d_vocab,
        d_vocab_out=shape.d_vocab_out,
        act_fn=shape.act_fn,
        eps=shape.eps,
        normalization_type=None if shape.normalization == "none" else shape.normalization,
        seed=seed,
    )
    return lens.TransformerBridge.boot_native(config)


def shake(theirs: Any) -> None:
    """Every weight random: norms and biases too, which are 1 and 0 in a new model."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.add_(0.3 * torch.randn(weight.shape, generator=generator))


def difference(ours: Transformer, theirs: Any) -> float:
    """The largest difference of a logit on random tokens."""
    tokens = torch.randint(ours.config.d_vocab, (6, ours.config.n_ctx), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        given: Tensor = theirs(tokens)
        return float((given - ours(tokens)).abs().max())


@pytest.fixture(params=[name for name in SHAPES if name not in LACKING])
def shape(request: pytest.FixtureRequest) -> ModelConfig:
    return SHAPES[request.param]


def test_our_weights_compute_the_same_there(lens: Any, shape: ModelConfig) -> None:
    ours, theirs = random_model(shape, seed=4).float(), bridge_of(lens, shape)
    assert difference(ours, theirs) > 100 * CLOSE, "the weights are others before they are loaded"
    theirs.load_state_dict(as_bridge(ours))
    assert difference(ours, theirs) < CLOSE


@pytest.mark.parametrize("names", ["state_dict", "tl_named_parameters"])
def test_their_weights_compute_the_same_here(lens: Any, shape: ModelConfig, names: str, tmp_path: Path) -> None:
    theirs = bridge_of(lens, shape)
    shake(theirs)
    state = theirs.state_dict() if names == "state_dict" else dict(theirs.tl_named_parameters())
    torch.save({name: tensor.detach() for name, tensor in state.items()}, tmp_path / "theirs.pt")
    given = {"act_fn": shape.act_fn, "normalization": shape.normalization, "eps": shape.eps}
    ours = load_foreign(tmp_path / "theirs.pt", n_heads=shape.n_heads, **given)  # type: ignore[arg-type]
    assert difference(ours, theirs) < CLOSE


def test_a_lie_in_one_weight_is_seen(lens: Any) -> None:
    ours = random_model(SHAPES["plain"], seed=4).float()
    theirs = bridge_of(lens, SHAPES["plain"])
    theirs.load_state_dict(as_bridge(ours))
    with torch.no_grad():
        ours.state_dict()["blocks.0.attn.W_V"][1, 0, 0] += 0.01
    assert difference(ours, theirs) > CLOSE


@pytest.mark.parametrize("name", ["add_d6_l2_h3_w96_t3K_s1", "mix_d6_l3_h4_w96_t4K_s1"])
def test_a_trained_model_of_ours_computes_the_same_there(lens: Any, name: str) -> None:
    ours = load(name)
    theirs = bridge_of(lens, ours.config)
    theirs.load_state_dict(as_bridge(ours))
    assert difference(ours, theirs) < 1e-4


def test_a_bridge_around_gpt2_computes_the_same_here(lens: Any, tmp_path: Path) -> None:
    theirs = bridge_around_gpt2(lens, tmp_path)
    torch.save(theirs.state_dict(), tmp_path / "theirs.pt")
    ours = load_foreign(tmp_path / "theirs.pt", n_heads=2, act_fn="gelu_new")
    assert difference(ours, theirs) < CLOSE


def bridge_around_gpt2(lens: Any, folder: Path) -> Any:
    """A small GPT-2 of Hugging Face, every weight random, in a bridge."""
    theirs, pieces = importlib.import_module("transformers"), importlib.import_module("tokenizers")
    sizes = {"n_layer": 2, "n_head": 2, "n_embd": 12, "n_positions": 9, "vocab_size": 7}
    model = theirs.GPT2LMHeadModel(theirs.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
    shake(model)
    model.save_pretrained(folder)
    words = pieces.Tokenizer(pieces.models.WordLevel({str(at): at for at in range(7)}, unk_token="0"))
    special = dict.fromkeys(("bos_token", "eos_token", "pad_token"), "0")
    theirs.PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
    with warnings.catch_warnings(action="ignore"):
        return lens.TransformerBridge.boot_transformers(str(folder), device="cpu")
