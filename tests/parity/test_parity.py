"""With the same weights, every activation and the logits are those of TransformerLens."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.errors import CarryLensError
from carrylens.model import Transformer, from_transformer_lens, to_transformer_lens

BOUNDS = {torch.float64: 1e-9, torch.float32: 1e-4}
# Layers, heads, width and width of a head: with a head as wide as a third of the model, as published, four are too many
# to fit. The last is the published shape itself.
SHAPES = [
    (layers, heads, d_model, d_head)
    for layers in (1, 2, 3, 4)
    for heads, d_model, d_head in ((3, 30, 10), (4, 30, 10), (4, 32, 8), (3, 32, 10))
] + [(2, 3, 510, 170)]

# Inputs that TransformerLens can show separately, and we cannot.
LACKING = ("hook_attn_in", "hook_q_input", "hook_k_input", "hook_v_input", "hook_mlp_in")


def shaken_model(shape: tuple[int, int, int, int], dtype: torch.dtype, digits: int = 4) -> Transformer:
    """A model with every weight random: norms and biases too, which are 1 and 0 in a new one."""
    layers, heads, d_model, d_head = shape
    model = Transformer(arithmetic_config(digits, layers, heads, d_model, d_head, 4 * d_model, seed=layers)).to(dtype)
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            size = model.config.init_range if "W_" in name else 0.3
            parameter.add_(size * torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(dtype))
    return model


def some_tokens(model: Transformer) -> Tensor:
    return torch.randint(15, (6, model.config.n_ctx), generator=torch.Generator().manual_seed(5))


def differences(ours: Transformer, theirs: Any) -> dict[str, float]:
    """The largest difference at every point and in the logits, where a difference in kind counts as infinite."""
    theirs.set_use_attn_result(True)
    tokens = some_tokens(ours)
    with torch.no_grad():
        our_logits, our_cache = ours.run_with_cache(tokens, lambda _: True)
        their_logits, their_cache = theirs.run_with_cache(tokens)
    assert set(our_cache) == set(their_cache.keys())
    pairs = {name: (our_cache[name], their_cache[name]) for name in our_cache}
    pairs |= {"logits": (our_logits, their_logits), "unwatched logits": (ours(tokens).detach(), their_logits)}
    return {name: largest_difference(*pair) for name, pair in pairs.items()}


def largest_difference(ours: Tensor, theirs: Tensor) -> float:
    closed = theirs.isneginf()  # the positions a query may not see
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype or not torch.equal(ours.isneginf(), closed):
        return float("inf")
    gap = (ours - theirs).masked_fill(closed, 0.0).abs().max().item()
    return gap if gap == gap else float("inf")


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_activation_and_the_logits_agree(
    lens: Any, shape: tuple[int, int, int, int], dtype: torch.dtype, record_property: Callable[[str, object], None]
) -> None:
    ours = shaken_model(shape, dtype)
    theirs = to_transformer_lens(ours)
    assert isinstance(theirs, lens.HookedTransformer)
    found = differences(ours, theirs)
    record_property(str(dtype), max(found.values()))
    assert {name: gap for name, gap in found.items() if not gap <= BOUNDS[dtype]} == {}


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
def test_a_planted_lie_in_any_weight_is_seen(dtype: torch.dtype) -> None:
    ours = shaken_model((2, 4, 30, 10), dtype)
    for name, _ in ours.named_parameters():
        theirs = to_transformer_lens(ours)
        with torch.no_grad():
            dict(theirs.named_parameters())[name].flatten()[0] += 0.05
        assert max(differences(ours, theirs).values()) > BOUNDS[dtype], name


def test_our_hook_names_are_theirs_but_for_the_inputs_we_lack() -> None:
    ours = shaken_model((3, 4, 30, 10), torch.float64)
    theirs = to_transformer_lens(ours)
    lacking = {f"blocks.{layer}.{point}" for layer in range(3) for point in LACKING}
    assert set(theirs.hook_dict) - set(ours.hook_names) == lacking
    assert set(ours.hook_names) - set(theirs.hook_dict) == set()


def test_points_are_reached_in_the_same_order() -> None:
    ours = shaken_model((2, 3, 30, 10), torch.float64)
    _, our_cache = ours.run_with_cache(some_tokens(ours))
    _, their_cache = to_transformer_lens(ours).run_with_cache(some_tokens(ours))
    assert list(our_cache) == list(their_cache.keys())


def test_an_edit_at_any_point_has_the_same_effect() -> None:
    ours = shaken_model((2, 4, 30, 10), torch.float64)
    theirs = to_transformer_lens(ours)
    theirs.set_use_attn_result(True)
    tokens = some_tokens(ours)

    def edit(activation: Tensor, hook: Any) -> Tensor:
        return activation.roll(1, 0) * 1.5

    with torch.no_grad():
        for name in ours.hook_names:
            here = ours.run_with_hooks(tokens, [(name, edit)])
            there = theirs.run_with_hooks(tokens, fwd_hooks=[(name, edit)])
            assert largest_difference(here, there) <= 1e-9, name


def test_a_query_with_every_position_closed_has_the_same_effect() -> None:
    ours = shaken_model((2, 4, 30, 10), torch.float64)
    hooks = [("blocks.0.attn.hook_attn_scores", lambda scores, hook: torch.full_like(scores, -torch.inf))]  # noqa: ARG005
    with torch.no_grad():
        here = ours.run_with_hooks(some_tokens(ours), hooks)
        there = to_transformer_lens(ours).run_with_hooks(some_tokens(ours), fwd_hooks=hooks)
    assert largest_difference(here, there) <= 1e-9


@pytest.mark.parametrize("as_state", [False, True])
def test_a_hooked_transformer_of_their_own_making_loads_here(lens: Any, as_state: bool) -> None:
    config = lens.HookedTransformerConfig(
        n_layers=3,
        n_heads=4,
        d_model=30,
        d_head=10,
        d_mlp=120,
        n_ctx=22,
        d_vocab=15,
        act_fn="relu",
        seed=1,
        device="cpu",
    )
    theirs = lens.HookedTransformer(config)
    ours = from_transformer_lens(theirs.state_dict() if as_state else theirs, range(13, 21), seed=1)
    assert ours.config == arithmetic_config(6, 3, 4, 30, 10, 120, seed=1)
    assert max(differences(ours, theirs).values()) <= BOUNDS[torch.float32]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("act_fn", "silu"),
        ("attention_dir", "bidirectional"),
        ("attn_scale", 1.0),
        ("positional_embedding_type", "shortformer"),
        ("attn_scores_soft_cap", 30.0),
        ("normalization_type", "RMS"),
    ],
)
def test_a_hooked_transformer_that_computes_otherwise_is_refused(lens: Any, setting: str, value: object) -> None:
    settings = {"act_fn": "relu", "device": "cpu", setting: value}
    shape = {"n_layers": 1, "n_heads": 3, "d_model": 30, "d_head": 10, "d_mlp": 120, "n_ctx": 22, "d_vocab": 15}
    theirs = lens.HookedTransformer(lens.HookedTransformerConfig(**shape, **settings))
    with pytest.raises(CarryLensError, match=setting):
        from_transformer_lens(theirs)


def test_building_a_hooked_transformer_leaves_other_randomness_alone() -> None:
    ours = shaken_model((1, 3, 30, 10), torch.float32)
    before = torch.get_rng_state()
    to_transformer_lens(ours)
    assert torch.equal(torch.get_rng_state(), before)
