"""Models of every shape compute what TransformerLens and Hugging Face's GPT-2 compute with the same weights."""

import importlib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from carrylens.interventions.sites import Site
from carrylens.model import Transformer, from_transformer_lens, load_foreign, to_transformer_lens
from carrylens.nodes import Node
from interventions.array_runs import ArrayCase
from interventions.random_edits import RandomEdits, random_model
from interventions.slow_interventions import changes_by_site, point_of
from model.shapes import SHAPES


@pytest.fixture(params=list(SHAPES))
def ours(request: pytest.FixtureRequest) -> Transformer:
    return random_model(SHAPES[request.param], seed=4)


def some_tokens(model: Transformer, count: int = 4) -> Tensor:
    shape = (count, model.config.n_ctx)
    return torch.randint(model.config.d_vocab, shape, generator=torch.Generator().manual_seed(5))


def test_every_activation_and_the_logits_agree(lens: Any, ours: Transformer) -> None:
    theirs = to_transformer_lens(ours)
    assert isinstance(theirs, lens.HookedTransformer)
    theirs.set_use_attn_result(True)
    tokens = some_tokens(ours)
    with torch.no_grad():
        our_logits, our_cache = ours.run_with_cache(tokens, lambda _: True)
        their_logits, their_cache = theirs.run_with_cache(tokens)
    assert list(our_cache) == list(their_cache.keys())
    for name in our_cache:
        torch.testing.assert_close(our_cache[name], their_cache[name], rtol=0, atol=1e-9, msg=name)
    torch.testing.assert_close(our_logits, their_logits, rtol=0, atol=1e-9)
    torch.testing.assert_close(ours(tokens).detach(), their_logits, rtol=0, atol=1e-9)


def test_a_model_goes_there_and_comes_back(ours: Transformer) -> None:
    back = from_transformer_lens(to_transformer_lens(ours), ours.config.reads)
    if not ours.config.has_mlp:  # nothing is activated, and nothing is said about it
        assert back.config.act_fn == "relu"
    assert back.config == ours.config
    assert all(torch.equal(tensor, ours.state_dict()[name]) for name, tensor in back.state_dict().items())


def test_a_saved_state_dict_of_theirs_is_read(ours: Transformer, tmp_path: Path) -> None:
    torch.save(to_transformer_lens(ours).state_dict(), tmp_path / "theirs.pt")
    config = ours.config
    given = {"act_fn": config.act_fn, "normalization": config.normalization, "eps": config.eps}
    assert load_foreign(tmp_path / "theirs.pt", config.reads, **given).config == config  # type: ignore[arg-type]


def test_nodes_replaced_by_zero_have_the_same_effect(ours: Transformer) -> None:
    theirs, case = to_transformer_lens(ours), ArrayCase(ours, some_tokens(ours), [], some_tokens(ours, 6))
    make = RandomEdits(ours.config, np.random.default_rng(1))
    for _ in range(5):
        edit = make.draw(("zero",))
        hooks = [_hook(site, ours) for site in changes_by_site(edit, ours)]
        with torch.no_grad():
            there = theirs.run_with_hooks(case.tokens, fwd_hooks=hooks)[:, list(ours.config.reads)]
        torch.testing.assert_close(case.run([edit])[0], there, rtol=0, atol=1e-9)


def _hook(site: Site, model: Transformer) -> tuple[str, Any]:
    head = site.head if isinstance(site, Node) else None

    def zeroed(value: Tensor, hook: Any) -> Tensor:
        value = value.clone()
        if head is None:
            value[:, site.position] = 0
        else:
            value[:, site.position, head] = 0
        return value

    return point_of(site, model), zeroed


@pytest.mark.parametrize("safe", [True, False])
def test_a_gpt2_of_hugging_face_loads_from_its_folder(tmp_path: Path, safe: bool) -> None:
    with warnings.catch_warnings(action="ignore"):
        transformers = importlib.import_module("transformers")
    config = transformers.GPT2Config(
        vocab_size=12, n_positions=14, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=1
    )
    theirs = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    if safe:
        theirs.save_pretrained(tmp_path)
    else:
        config.save_pretrained(tmp_path)
        torch.save(theirs.state_dict(), tmp_path / "pytorch_model.bin")
    ours = load_foreign(tmp_path)
    tokens = torch.randint(12, (5, 14), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens), theirs(tokens).logits, rtol=0, atol=1e-4)
