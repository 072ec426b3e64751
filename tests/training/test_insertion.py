"""Insertion copies every weight of the addition model, and puts back what it should."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from carrylens.pipeline import training_plan

import carrylens as cl
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.errors import CarryLensError
from carrylens.model import Transformer
from carrylens.model.weights import hash_of
from carrylens.training.insertion import Placement, insert, put_back
from carrylens.training.run import Plan, resume, start, train


class Hasty:
    """Stops a run after its first step."""

    def note(self, *_: object) -> None:
        pass

    def stop_wanted(self) -> bool:
        return True


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


@pytest.mark.parametrize(("insertion", "mlps_back"), [(2, False), (3, True)])
def test_heads_are_put_back_and_mlps_only_by_ins3(insertion: int, mlps_back: bool) -> None:
    larger, smaller = pair()
    insert(larger, smaller)
    with torch.no_grad():
        for parameter in larger.parameters():
            parameter.add_(0.5)
    drifted = {name: tensor.clone() for name, tensor in larger.state_dict().items()}
    put_back(larger, smaller, insertion)
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


def test_a_model_that_does_not_fit_is_refused() -> None:
    larger, _ = pair()
    with pytest.raises(CarryLensError, match="does not fit: d_model 24 into 12"):
        insert(larger, Transformer(config_of_width(2, 2, 3, width=24)))
    with pytest.raises(CarryLensError, match="n_layers 4 into 3"):
        insert(larger, Transformer(config_of_width(2, 4, 3, width=12)))


def test_only_an_addition_model_is_inserted() -> None:
    with pytest.raises(CarryLensError, match="sub_d6_l2_h3_w96_t5K_s1 is no addition model. Give --insert a model"):
        training_plan("ins1_mix_d6_l3_h4_w96_t6K_s1", "compact", "sub_d6_l2_h3_w96_t5K_s1", "early")
    plan = training_plan("ins1_mix_d6_l3_h4_w96_t6K_s1", "compact", "add_d6_l2_h3_w96_t2K_s1", "early")
    assert plan.identity()["inserted_sha256"] == hash_of(cl.load("add_d6_l2_h3_w96_t2K_s1"))


def test_a_run_is_not_resumed_with_another_model_of_the_same_name(tmp_path: Path) -> None:
    name, (_, smaller) = ModelName.parse("ins1_mix_d2_l3_h4_w12_t10_s1"), pair()
    first = Plan(name, inserted=smaller, inserted_from="add_d2_l2_h3_w12_t10_s1")
    assert not train(start(first, tmp_path, torch.device("cpu")), Hasty(), checkpoint_seconds=1e9)
    assert resume(first, tmp_path, torch.device("cpu")).step == 1
    with torch.no_grad():
        other = pair()[1]
        other.unembed.b_U[3] += 1e-3
    with pytest.raises(CarryLensError, match="another model called add_d2_l2_h3_w12_t10_s1 inserted: its weights"):
        resume(replace(first, inserted=other), tmp_path, torch.device("cpu"))


def test_a_name_and_its_insertion_go_together() -> None:
    _, smaller = pair()
    with pytest.raises(CarryLensError, match="do not go together"):
        Plan(ModelName.parse("ins1_mix_d2_l3_h4_w12_t10_s1"))
    with pytest.raises(CarryLensError, match="do not go together"):
        Plan(ModelName.parse("mix_d2_l3_h4_w12_t10_s1"), inserted=smaller)
