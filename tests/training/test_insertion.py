"""Insertion copies every weight of the addition model, and puts back what it should."""

import pytest
import torch

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.errors import CarryLensError
from carrylens.model import Transformer
from carrylens.training.insertion import Placement, Restored, insert, put_back


def pair(n_layers: int = 3, n_heads: int = 4) -> tuple[Transformer, Transformer]:
    larger = Transformer(config_of_width(2, n_layers, n_heads, width=12, seed=1))
    smaller = Transformer(config_of_width(2, 2, 3, width=12, seed=2))
    with torch.no_grad():
        for parameter in smaller.parameters():
            parameter.add_(1.0)  # so that norms and biases are not at their defaults
    return larger, smaller


@pytest.mark.parametrize(("placement", "layer", "heads"), [("early", 0, slice(0, 3)), ("late", 1, slice(1, 4))])
def test_every_weight_of_the_smaller_model_is_found_in_the_larger(placement: str, layer: int, heads: slice) -> None:
    larger, smaller = pair()
    insert(larger, smaller, Placement(placement))
    for name, tensor in smaller.state_dict().items():
        parts = name.split(".")
        if parts[0] == "blocks":
            parts[1] = str(int(parts[1]) + layer)
        found = larger.state_dict()[".".join(parts)]
        assert torch.equal(found if found.shape == tensor.shape else found[heads], tensor), name


def test_with_room_for_nothing_else_the_larger_model_becomes_the_smaller() -> None:
    larger, smaller = pair(n_layers=2, n_heads=3)
    insert(larger, smaller)
    tokens = torch.randint(10, (4, 10))
    assert torch.equal(larger(tokens), smaller(tokens))


@pytest.mark.parametrize(("restored", "mlps_back"), [(Restored.HEADS, False), (Restored.HEADS_AND_MLPS, True)])
def test_heads_are_put_back_and_mlps_only_if_wanted(restored: Restored, mlps_back: bool) -> None:
    larger, smaller = pair()
    insert(larger, smaller)
    with torch.no_grad():
        for parameter in larger.parameters():
            parameter.add_(0.5)
    drifted = {name: tensor.clone() for name, tensor in larger.state_dict().items()}
    put_back(larger, smaller, restored)
    for name, tensor in larger.state_dict().items():
        own = smaller.state_dict().get(name)
        is_head = ".attn.W_" in name or name.endswith(("b_Q", "b_K", "b_V"))
        if own is not None and is_head:
            assert torch.equal(tensor[:3], own), name
            assert torch.equal(tensor[3:], drifted[name][3:]), name
        elif own is not None and ".mlp." in name and mlps_back:
            assert torch.equal(tensor, own), name
        else:
            assert torch.equal(tensor, drifted[name]), name


def test_nothing_is_put_back_if_nothing_is_wanted() -> None:
    larger, smaller = pair()
    before = {name: tensor.clone() for name, tensor in larger.state_dict().items()}
    put_back(larger, smaller, Restored.NOTHING)
    assert all(torch.equal(tensor, before[name]) for name, tensor in larger.state_dict().items())


def test_a_model_that_does_not_fit_is_refused() -> None:
    larger, _ = pair()
    with pytest.raises(CarryLensError, match="d_model 24 into 12"):
        insert(larger, Transformer(config_of_width(2, 2, 3, width=24)))
    with pytest.raises(CarryLensError, match="n_layers 4 into 3"):
        insert(larger, Transformer(config_of_width(2, 4, 3, width=12)))
