import importlib.util

import pytest
import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model import Transformer, from_transformer_lens, to_transformer_lens, to_transformer_lens_state


def test_a_state_dict_goes_there_and_comes_back(model: Transformer, tokens: Tensor) -> None:
    back = from_transformer_lens(to_transformer_lens_state(model), model.config.reads, model.config.seed)
    assert back.config == model.config
    assert torch.equal(back(tokens), model(tokens))


def test_an_exported_state_has_the_masks_and_is_a_copy(model: Transformer) -> None:
    state = to_transformer_lens_state(model)
    assert set(state) - set(model.state_dict()) == {
        f"blocks.{layer}.attn.{name}" for layer in (0, 1) for name in ("mask", "IGNORE")
    }
    assert torch.equal(state["blocks.1.attn.mask"], torch.ones(10, 10, dtype=torch.bool).tril())
    state["embed.W_E"].zero_()
    assert model.embed.W_E.any()


@pytest.mark.skipif(importlib.util.find_spec("transformer_lens") is not None, reason="TransformerLens is here")
def test_without_transformer_lens_an_export_says_what_to_install(model: Transformer) -> None:
    with pytest.raises(CarryLensError, match="pip install 'transformer-lens>=2.16,<3'"):
        to_transformer_lens(model)


def test_what_is_no_hooked_transformer_is_refused(model: Transformer) -> None:
    with pytest.raises(CarryLensError, match="Linear.*HookedTransformer"):
        from_transformer_lens(torch.nn.Linear(2, 2))
