from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model import HookFunction, HookPoint, NamesFilter, Transformer
from carrylens.model.hooks import Cache

MakeModel = Callable[..., Transformer]


def doing(edit: Callable[[Tensor], Tensor | None]) -> HookFunction:
    """A hook that does the same to every activation it meets."""

    def function(activation: Tensor, hook: HookPoint) -> Tensor | None:
        return edit(activation)

    return function


LOOKING = doing(lambda _: None)


def test_a_cache_holds_every_point_with_its_published_axes(model: Transformer, tokens: Tensor) -> None:
    _, cache = model.run_with_cache(tokens)
    shapes = {name: tuple(cache[name].shape) for name in cache if not name.startswith("blocks.0")}
    stream, scale, heads, square = (5, 10, 12), (5, 10, 1), (5, 10, 3, 4), (5, 3, 10, 10)
    assert shapes == {
        "hook_embed": stream,
        "hook_pos_embed": stream,
        "blocks.1.hook_resid_pre": stream,
        "blocks.1.ln1.hook_scale": scale,
        "blocks.1.ln1.hook_normalized": stream,
        "blocks.1.attn.hook_q": heads,
        "blocks.1.attn.hook_k": heads,
        "blocks.1.attn.hook_v": heads,
        "blocks.1.attn.hook_attn_scores": square,
        "blocks.1.attn.hook_pattern": square,
        "blocks.1.attn.hook_z": heads,
        "blocks.1.hook_attn_out": stream,
        "blocks.1.hook_resid_mid": stream,
        "blocks.1.ln2.hook_scale": scale,
        "blocks.1.ln2.hook_normalized": stream,
        "blocks.1.mlp.hook_pre": (5, 10, 20),
        "blocks.1.mlp.hook_post": (5, 10, 20),
        "blocks.1.hook_mlp_out": stream,
        "blocks.1.hook_resid_post": stream,
        "ln_final.hook_scale": scale,
        "ln_final.hook_normalized": stream,
    }


def test_a_pass_reaches_the_points_in_the_order_of_their_names(model: Transformer, tokens: Tensor) -> None:
    reached: list[str] = []

    def note(activation: Tensor, hook: HookPoint) -> None:
        reached.append(hook.name)

    model.run_with_hooks(tokens, [(lambda _: True, note)])
    assert tuple(reached) == model.hook_names


@pytest.mark.parametrize(
    ("names_filter", "kept"),
    [
        ("blocks.0.attn.hook_z", ["blocks.0.attn.hook_z"]),
        (["hook_embed", "blocks.1.attn.hook_result"], ["hook_embed", "blocks.1.attn.hook_result"]),
        (lambda name: name.endswith("hook_pattern"), ["blocks.0.attn.hook_pattern", "blocks.1.attn.hook_pattern"]),
    ],
)
def test_a_filter_keeps_what_it_names(
    model: Transformer, tokens: Tensor, names_filter: NamesFilter, kept: list[str]
) -> None:
    logits, cache = model.run_with_cache(tokens, names_filter)
    assert list(cache) == kept
    torch.testing.assert_close(logits, model(tokens), rtol=0, atol=1e-12)


def test_each_heads_output_is_kept_only_when_asked_for(model: Transformer, tokens: Tensor) -> None:
    name = "blocks.0.attn.hook_result"
    assert name not in model.run_with_cache(tokens)[1]
    assert model.run_with_cache(tokens, name)[1][name].shape == (5, 10, 3, 12)


def test_a_cache_answers_to_short_names(model: Transformer, tokens: Tensor) -> None:
    _, cache = model.run_with_cache(tokens)
    short_names: dict[Any, str] = {
        ("pattern", 1): "blocks.1.attn.hook_pattern",
        ("resid_pre", 0): "blocks.0.hook_resid_pre",
        ("post", 1): "blocks.1.mlp.hook_post",
        ("pre", 1): "blocks.1.mlp.hook_pre",
        ("k", 0): "blocks.0.attn.hook_k",
        ("v", 0): "blocks.0.attn.hook_v",
        ("scale", 1, "ln2"): "blocks.1.ln2.hook_scale",
    }
    for short, full in short_names.items():
        assert cache[short] is cache[full]
    with pytest.raises(KeyError):
        cache["scale", 0]


@pytest.mark.parametrize("unknown", ["blocks.2.attn.hook_z", "blocks.0.hook_z", "", ["hook_embed", "hook_unembed"]])
def test_a_name_that_matches_nothing_is_refused_and_a_near_one_offered(
    model: Transformer, tokens: Tensor, unknown: str | list[str]
) -> None:
    refused = unknown if isinstance(unknown, str) else unknown[-1]
    with pytest.raises(CarryLensError, match=f"'{refused}'.*hook_"):
        model.run_with_hooks(tokens, [(unknown, LOOKING)])
    with pytest.raises(CarryLensError, match=f"'{refused}'"):
        model.run_with_cache(tokens, unknown)


def test_a_filter_that_matches_nothing_is_refused(model: Transformer, tokens: Tensor) -> None:
    with pytest.raises(CarryLensError, match=r"model\.hook_names"):
        model.run_with_hooks(tokens, [(lambda name: "hook_Z" in name, LOOKING)])
    with pytest.raises(CarryLensError, match=r"model\.hook_names"):
        model.run_with_cache(tokens, lambda _: False)


def test_what_a_hook_gives_back_is_used_from_there_on(model: Transformer, tokens: Tensor) -> None:
    other = tokens.flip(0)
    expected, cache = model.run_with_cache(other)
    layers: list[int] = []

    def replaced(activation: Tensor, hook: HookPoint) -> Tensor:
        layers.append(hook.layer())
        return cache[hook.name]

    edited = model.run_with_hooks(tokens, [("blocks.1.hook_resid_pre", replaced)])
    assert torch.equal(edited, expected)
    assert not torch.allclose(edited, model(tokens))
    assert layers == [1]


@pytest.mark.parametrize("name", ["hook_embed", "blocks.0.ln1.hook_scale", "blocks.1.attn.hook_attn_scores"])
def test_putting_back_what_was_there_changes_no_bit(model: Transformer, tokens: Tensor, name: str) -> None:
    logits, cache = model.run_with_cache(tokens)
    assert torch.equal(model.run_with_hooks(tokens, [(name, doing(lambda _: cache[name]))]), logits)


def test_every_point_reaches_the_logits(model: Transformer, tokens: Tensor) -> None:
    plain = model(tokens)
    for name in model.hook_names:
        changed = model.run_with_hooks(tokens, [(name, doing(lambda activation: activation.roll(1, 0) * 1.5))])
        assert not torch.allclose(changed, plain), name


def test_the_place_is_given_by_name_so_that_a_hook_may_have_arguments_before_it(
    model: Transformer, tokens: Tensor
) -> None:
    def scale(activation: Tensor, factor: float, hook: HookPoint) -> Tensor:
        return activation * factor

    name = "blocks.0.hook_mlp_out"
    scaled = model.run_with_hooks(tokens, [(name, partial(scale, factor=2.0))])
    assert torch.equal(scaled, model.run_with_hooks(tokens, [(name, doing(lambda x: x * 2))]))


def test_hooks_at_one_point_are_called_in_the_order_given(model: Transformer, tokens: Tensor) -> None:
    name = "blocks.0.hook_mlp_out"
    hooks: list[tuple[NamesFilter, HookFunction]] = [
        (name, doing(lambda x: x + 1)),
        (lambda given: given == name, doing(lambda x: x * 2)),
    ]
    _, cache = model.run_with_cache(tokens, name)
    _, edited = model.run_with_cache(tokens, name, fwd_hooks=hooks)
    assert torch.equal(edited[name], (cache[name] + 1) * 2)


def test_a_hook_may_write_into_any_activation(model: Transformer, tokens: Tensor) -> None:
    def clear_first_question(activation: Tensor, hook: HookPoint) -> None:
        activation[0] = 0.5

    for name in model.hook_names:
        given_back = model.run_with_hooks(
            tokens, [(name, doing(lambda x: torch.cat([torch.full_like(x[:1], 0.5), x[1:]])))]
        )
        written = model.run_with_hooks(tokens, [(name, clear_first_question)])
        torch.testing.assert_close(written, given_back, rtol=0, atol=1e-12, equal_nan=True, msg=name)


def test_what_was_kept_does_not_follow_a_later_hook(model: Transformer, tokens: Tensor) -> None:
    _, plain = model.run_with_cache(tokens, "blocks.0.hook_resid_post")
    _, cache = model.run_with_cache(
        tokens, "blocks.0.hook_resid_post", fwd_hooks=[("blocks.1.hook_resid_pre", doing(lambda x: x.zero_()))]
    )
    assert torch.equal(cache["resid_post", 0], plain["resid_post", 0])


def test_a_query_with_every_position_closed_attends_to_nothing(model: Transformer, tokens: Tensor) -> None:
    def close(scores: Tensor, hook: HookPoint) -> Tensor:
        return torch.full_like(scores, -torch.inf)

    logits, cache = model.run_with_cache(tokens, fwd_hooks=[("blocks.1.attn.hook_attn_scores", close)])
    assert logits.isfinite().all()
    assert not cache["pattern", 1].any()


def test_numbers_that_broke_are_not_hidden(model: Transformer, tokens: Tensor) -> None:
    broken = model.run_with_hooks(tokens, [("blocks.0.attn.hook_q", doing(lambda q: q * torch.nan))])
    assert broken.isnan().all()


@pytest.mark.parametrize("wrong", [torch.zeros(1, 10, 12), torch.zeros(()), "zeros", 0.0])
def test_a_hook_that_gives_back_another_shape_is_refused(model: Transformer, tokens: Tensor, wrong: Any) -> None:
    with pytest.raises(CarryLensError, match=r"blocks\.0\.hook_mlp_out.*\[5, 10, 12\]"):
        model.run_with_hooks(tokens, [("blocks.0.hook_mlp_out", doing(lambda _: wrong))])


def test_no_hook_outlives_a_call_even_one_that_raises(make_model: MakeModel, tokens: Tensor) -> None:
    model = make_model()
    before, state = model(tokens), dict(model.__dict__)

    def fail(activation: Tensor, hook: HookPoint) -> Tensor:
        activation.zero_()
        raise RuntimeError("inside a hook")

    with pytest.raises(RuntimeError, match="inside a hook"):
        model.run_with_hooks(tokens, [(lambda _: True, fail)])
    model.run_with_hooks(tokens, [("hook_embed", doing(lambda x: x * 0))])
    assert torch.equal(model(tokens), before)
    assert model.__dict__ == state
    assert torch.equal(model.run_with_cache(tokens)[0], make_model().run_with_cache(tokens)[0])


def test_a_point_outside_the_blocks_has_no_layer() -> None:
    assert HookPoint("blocks.13.hook_mlp_out").layer() == 13
    with pytest.raises(CarryLensError, match=r"ln_final\.hook_scale"):
        HookPoint("ln_final.hook_scale").layer()


def test_a_cache_prints_in_a_line() -> None:
    line = repr(Cache({"hook_embed": torch.zeros(1), "b": torch.zeros(1), "c": torch.zeros(1), "d": torch.zeros(1)}))
    assert line == "<Cache of 4 activations: hook_embed, b, c, ...>"
