import re

import pytest
import torch
from torch import Tensor

from carrylens.arithmetic.model_shapes import arithmetic_config, config_of_width
from carrylens.errors import CarryLensError
from carrylens.model import ModelConfig, Transformer
from carrylens.model.weights import infer_config, model_from_weights, weight_shapes

State = dict[str, Tensor]


@pytest.fixture
def state(model: Transformer) -> State:
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("config", [config_of_width(6, 2, 3, width=96), arithmetic_config(3, 4, 4, 30, 10, 50)])
def test_a_models_weights_are_those_its_config_calls_for(config: ModelConfig) -> None:
    state = Transformer(config).state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == dict(weight_shapes(config))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weights_come_back_from_a_model_as_they_went_in(model: Transformer, state: State, dtype: torch.dtype) -> None:
    given = {name: tensor.to(dtype) for name, tensor in state.items()}
    built = model_from_weights(model.config, given, "here")
    assert all(torch.equal(tensor, given[name]) for name, tensor in built.state_dict().items())
    assert {tensor.dtype for tensor in built.state_dict().values()} == {dtype}


def test_a_model_keeps_its_own_copy_of_the_weights(model: Transformer, state: State) -> None:
    built = model_from_weights(model.config, state, "here")
    state["embed.W_E"].zero_()
    assert torch.equal(built.embed.W_E, model.embed.W_E)


def test_the_shape_is_seen_in_the_weights_and_masks_are_ignored(model: Transformer, state: State) -> None:
    state["blocks.0.attn.mask"] = torch.ones(10, 10, dtype=torch.bool)
    state["blocks.0.attn.IGNORE"] = torch.tensor(-torch.inf)
    inferred = infer_config(state, model.config.reads, seed=model.config.seed, source="here")
    assert inferred == model.config
    model_from_weights(inferred, state, "here")


def test_a_missing_weight_is_named(model: Transformer, state: State) -> None:
    del state["blocks.1.ln2.b"]
    with pytest.raises(CarryLensError, match=r"here.*blocks\.1\.ln2\.b"):
        model_from_weights(model.config, state, "here")


def test_a_weight_of_another_model_is_named(model: Transformer, state: State) -> None:
    state["blocks.2.ln2.b"] = torch.zeros(12, dtype=torch.float64)
    with pytest.raises(CarryLensError, match=r"here.*blocks\.2\.ln2\.b"):
        model_from_weights(model.config, state, "here")


def test_a_misshapen_weight_is_named_with_both_shapes(model: Transformer, state: State) -> None:
    state["blocks.0.attn.W_O"] = state["blocks.0.attn.W_O"].transpose(1, 2)
    with pytest.raises(CarryLensError, match=r"W_O.*\[3, 12, 4\].*\[3, 4, 12\]"):
        model_from_weights(model.config, state, "here")


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_number_that_is_not_finite_is_refused(model: Transformer, state: State, bad: float) -> None:
    state["unembed.b_U"][14] = bad
    with pytest.raises(CarryLensError, match=r"unembed\.b_U"):
        model_from_weights(model.config, state, "here")


def test_a_precision_that_models_do_not_use_is_refused(model: Transformer, state: State) -> None:
    with pytest.raises(CarryLensError, match=r"embed\.W_E.*torch\.float16"):
        model_from_weights(model.config, {name: tensor.half() for name, tensor in state.items()}, "here")


def test_mixed_precisions_are_refused(model: Transformer, state: State) -> None:
    state["ln_final.w"] = state["ln_final.w"].float()
    with pytest.raises(CarryLensError, match=r"torch\.float32.*torch\.float64"):
        model_from_weights(model.config, state, "here")


@pytest.mark.parametrize(
    "name", ["embed.W_E", "pos_embed.W_pos", "blocks.0.attn.W_Q", "blocks.0.mlp.W_in", "unembed.W_U"]
)
def test_a_shape_cannot_be_seen_without_the_weights_that_show_it(state: State, name: str) -> None:
    with pytest.raises(CarryLensError, match=re.escape(name)):
        infer_config({other: tensor for other, tensor in state.items() if other != name}, source="here")
    with pytest.raises(CarryLensError, match=rf"{name}.*\[7\]"):
        infer_config(state | {name: torch.zeros(7)}, source="here")
