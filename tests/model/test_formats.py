"""Weights that others saved: under whichever names, they give the model that they were."""

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model import Transformer, load_foreign, read_foreign, to_transformer_lens_state
from carrylens.model.config import ModelConfig
from interventions.random_edits import random_model
from model.foreign_states import State, as_bridge, gpt2_logits, random_gpt2
from model.shapes import SHAPES

TOKENS = torch.randint(7, (4, 9), generator=torch.Generator().manual_seed(3))


def saved(state: State, path: Path) -> Path:
    if path.suffix == ".safetensors":
        save_file({name: tensor.contiguous() for name, tensor in state.items()}, path)
    else:
        torch.save(state, path)
    return path


def refusal(path: Path, **given: Any) -> str:
    with pytest.raises(CarryLensError) as caught:
        load_foreign(path, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def silent(config: ModelConfig) -> dict[str, Any]:
    """What weights do not show."""
    return {"act_fn": config.act_fn, "normalization": config.normalization, "eps": config.eps}


def check_same(found: Transformer, model: Transformer) -> None:
    assert found.config == model.config
    assert all(torch.equal(tensor, model.state_dict()[name]) for name, tensor in found.state_dict().items())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weights.pt"


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_state_dict_of_transformer_lens_is_read_in_every_shape(tmp_path: Path, name: str, suffix: str) -> None:
    model = random_model(SHAPES[name], seed=1)
    path = saved(to_transformer_lens_state(model), tmp_path / f"weights{suffix}")
    assert read_foreign(path).format == "TransformerLens"
    check_same(load_foreign(path, model.config.reads, **silent(model.config)), model)


def test_masks_of_version_one_are_ignored(path: Path) -> None:
    model = random_model(SHAPES["plain"], seed=1)
    masks = {f"blocks.{layer}.attn.IGNORE": torch.tensor(-1e5) for layer in range(2)}
    saved(to_transformer_lens_state(model) | masks, path)
    check_same(load_foreign(path, model.config.reads), model)


def test_mlps_that_version_four_makes_up_are_left_out(path: Path) -> None:
    model = random_model(SHAPES["attention only"], seed=1)
    shapes = {"W_in": (12, 48), "b_in": (48,), "W_out": (48, 12), "b_out": (12,)}
    made_up = {
        f"blocks.{layer}.mlp.{name}": torch.zeros(shape, dtype=torch.float64)
        for layer in range(2)
        for name, shape in shapes.items()
    }
    saved(dict(model.state_dict()) | made_up, path)
    check_same(load_foreign(path, model.config.reads), model)
    made_up["blocks.1.mlp.b_out"] += 1.0
    saved(dict(model.state_dict()) | made_up, path)
    assert "blocks.0.ln2.w" in refusal(path)


@pytest.mark.parametrize("name", [name for name in SHAPES if "folded" not in name])
def test_a_bridges_state_dict_is_read_in_every_shape(path: Path, name: str) -> None:
    model = random_model(SHAPES[name], seed=1)
    saved(as_bridge(model), path)
    assert read_foreign(path, n_heads=model.config.n_heads).format == "TransformerBridge"
    given = {"n_heads": model.config.n_heads, **silent(model.config)}
    check_same(load_foreign(path, model.config.reads, **given), model)


def test_a_bridge_around_gpt2_is_told_by_the_way_its_mlp_lies(path: Path) -> None:
    model = random_model(SHAPES["plain"], seed=1)
    saved(as_bridge(model, around_gpt2=True), path)
    check_same(load_foreign(path, model.config.reads, n_heads=3), model)
    square = random_model(ModelConfig(1, 1, 4, 4, 4, 5, 7, 7, range(5)), seed=1)
    saved(as_bridge(square), path)
    assert "tl_named_parameters" in refusal(path, n_heads=1)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("prefixed", [False, True])
def test_gpt2_computes_what_its_definition_says(path: Path, tied: bool, prefixed: bool) -> None:
    state = random_gpt2(tied=tied)
    named = state if prefixed else {name.removeprefix("transformer."): tensor for name, tensor in state.items()}
    masks = {"transformer.h.0.attn.bias": torch.ones(1, 1, 9, 9), "transformer.h.0.attn.masked_bias": torch.zeros(())}
    model = load_foreign(saved(named | (masks if prefixed else {}), path), range(4, 9), n_heads=3)
    assert (model.config.act_fn, model.config.reads, model.config.d_vocab_out) == ("gelu_new", range(4, 9), 7)
    for tokens in TOKENS:
        torch.testing.assert_close(model(tokens[None])[0], gpt2_logits(state, tokens, 3), rtol=0, atol=1e-10)


def test_another_number_of_heads_is_another_model(path: Path) -> None:
    state = random_gpt2()
    model = load_foreign(saved(state, path), n_heads=2)
    assert float((model(TOKENS[:1])[0] - gpt2_logits(state, TOKENS[0], 3)).detach().abs().max()) > 1e-3


def test_nanogpt_has_its_matrices_the_other_way_round_and_may_lack_biases(path: Path) -> None:
    state = random_gpt2()
    turned = {
        name: tensor.T.contiguous() if ".attn." in name or ".mlp." in name else tensor
        for name, tensor in state.items()
        if not name.endswith(".bias")
    }
    unbiased = {name: torch.zeros_like(t) if name.endswith(".bias") else t for name, t in state.items()}
    model = load_foreign(saved(turned, path), n_heads=3)
    torch.testing.assert_close(model(TOKENS[:1])[0], gpt2_logits(unbiased, TOKENS[0], 3), rtol=0, atol=1e-10)


def test_a_folder_says_itself_how_many_heads_there_are(tmp_path: Path) -> None:
    state = random_gpt2()
    saved(state, tmp_path / "model.safetensors")
    told = {"model_type": "gpt2", "n_head": 3, "activation_function": "relu", "layer_norm_epsilon": 1e-6}
    (tmp_path / "config.json").write_text(json.dumps(told))
    model = load_foreign(tmp_path)
    assert (model.config.n_heads, model.config.act_fn, model.config.eps) == (3, "relu", 1e-6)
    assert load_foreign(tmp_path, act_fn="gelu_new", eps=1e-5).config.act_fn == "gelu_new"


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is True"),
        ({"activation_function": "silu"}, "activation_function is 'silu'"),
        ({"n_head": 5}, "do not make 5 heads"),
    ],
)
def test_a_folder_that_says_it_computes_otherwise_is_refused(
    tmp_path: Path, told: dict[str, object], complaint: str
) -> None:
    saved(random_gpt2(), tmp_path / "pytorch_model.bin")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_head": 3} | told))
    assert complaint in refusal(tmp_path)


def planted(change: dict[str, Tensor | None]) -> State:
    state = random_gpt2() | change
    return {name: tensor for name, tensor in state.items() if tensor is not None}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"transformer.h.1.mlp.c_fc.weight": None}, "h.1.mlp.c_fc.weight"),
        ({"transformer.h.0.crossattention.c_attn.weight": torch.zeros(2)}, "h.0.crossattention.c_attn.weight"),
        (
            {"transformer.h.0.attn.c_attn.weight": torch.zeros(12, 24)},
            "[12, 36]",
        ),
        ({"transformer.wte.weight": torch.zeros(7)}, "wte.weight"),
        ({"transformer.ln_f.weight": torch.full((12,), torch.nan, dtype=torch.float64)}, "ln_final.w"),
        ({"transformer.wpe.weight": torch.zeros(9, 13, dtype=torch.float64)}, "embed.W_E"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_planted_wrong_weight_is_refused_in_one_line(
    path: Path, change: dict[str, Tensor | None], complaint: str
) -> None:
    saved(planted(change), path)
    assert complaint in refusal(path, n_heads=3)


def test_heads_that_nothing_shows_must_be_given(path: Path) -> None:
    saved(random_gpt2(), path)
    assert "n_heads" in refusal(path)
    assert "5 heads" in refusal(path, n_heads=5)


def test_a_normalization_that_the_weights_contradict_is_refused(path: Path) -> None:
    saved(dict(random_model(SHAPES["plain"], 1).state_dict()), path)
    assert "LN" in refusal(path, normalization="none")
    saved(dict(random_model(SHAPES["no norm"], 1).state_dict()), path)
    assert "LNPre" in refusal(path, normalization="LN")


def test_names_that_nobody_gives_are_refused(path: Path) -> None:
    saved({"layers.0.self_attn.q_proj.weight": torch.zeros(2, 2)}, path)
    assert re.search("TransformerLens.*TransformerBridge.*GPT-2", refusal(path))


@pytest.mark.parametrize("wrapper", ["model", "state_dict", "model_state_dict"])
@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod.", "_orig_mod.module."])
def test_the_checkpoint_of_a_training_loop_is_read(path: Path, wrapper: str, prefix: str) -> None:
    model = random_model(SHAPES["no norm"], 1)
    state = {f"{prefix}{name}": tensor for name, tensor in to_transformer_lens_state(model).items()}
    torch.save({wrapper: state, "iter_num": 5, "model_args": {"n_layer": 2}, "optimizer": {"state": {}}}, path)
    check_same(load_foreign(path, model.config.reads, **silent(model.config)), model)


def test_a_checkpoint_with_two_models_or_a_hidden_one_is_refused(path: Path) -> None:
    state = dict(random_model(SHAPES["no norm"], 1).state_dict())
    endless: dict[str, Any] = {}
    endless["model"] = endless
    for given in ({"model": state, "state_dict": state}, {"model": {"model": state}}, {"ema": state}, endless):
        torch.save(given, path)
        assert path.name in refusal(path)


def test_code_beside_a_state_dict_is_refused_and_does_not_run(path: Path) -> None:
    witness = path.with_name("witness")
    state = dict(random_model(SHAPES["no norm"], 1).state_dict())
    torch.save({"model": state, "config": Hostile(f"touch '{witness}'")}, path)
    assert "(posix.system)" in refusal(path)
    assert not witness.exists()


class Hostile:
    """A pickle of this runs `command` when it is opened without care."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def test_a_hostile_pickle_is_refused_and_does_not_run(path: Path) -> None:
    witness = path.with_name("witness")
    torch.save({"embed.W_E": Hostile(f"touch '{witness}'")}, path)
    assert "(posix.system)" in refusal(path)
    assert not witness.exists()


@pytest.mark.parametrize("name", ["weights.pt", "weights.safetensors"])
def test_a_damaged_or_missing_file_is_named(tmp_path: Path, name: str) -> None:
    assert os.strerror(errno.ENOENT) in refusal(tmp_path / name)
    (tmp_path / name).write_bytes(b"\x00\x01 not a model")
    assert name in refusal(tmp_path / name)
    assert "model.safetensors" in refusal(tmp_path)
