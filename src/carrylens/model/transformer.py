"""Transformer: a small decoder with learned positions, with or without MLPs and LayerNorm.

Takes  a config and token ids with axes [batch, pos].
Gives  logits with axes [batch, pos, vocab], and every value on the way to those who ask.
Never  trains, never knows what a token means, and never remembers a pass: hooks are an argument, so none can be left
       behind.

1. A token's vector and its position's vector are added: the residual stream.
2. Each block reads the stream through a norm, if there is one, and adds to it, first with attention, then, if there is
   one, with an MLP.
3. A last norm and the unembedding turn the stream into a score for each next token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import torch
from jaxtyping import Float
from torch import Tensor, nn

from carrylens.errors import CarryLensError
from carrylens.model.config import ModelConfig, check_memory
from carrylens.model.hooks import (
    UNWATCHED,
    Cache,
    HookFunction,
    HookPoint,
    NamesFilter,
    Tap,
    gather_hooks,
    hook_names,
    select_names,
)
from carrylens.model.layers import EVERYWHERE, MLP, Attention, Embed, PosEmbed, Unembed, make_norm
from carrylens.model.lens_habits import LensHabits, TextOrTokens
from carrylens.tasks.task import Task


class Block(nn.Module):
    """One layer: attention, then an MLP if the model has any, each adding to the residual stream."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.ln1, self.attn = make_norm(config), Attention(config)
        self.ln2 = make_norm(config) if config.has_mlp else None
        self.mlp = MLP(config) if config.has_mlp else None

    def forward(
        self, resid_pre: Float[Tensor, "batch pos d_model"], tap: Tap, at: slice | Tensor = EVERYWHERE
    ) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream after this layer, at the positions `at`."""
        resid_pre = tap("hook_resid_pre", resid_pre)
        normalized = self.ln1(resid_pre, tap.inside("ln1"))
        attn_out = tap("hook_attn_out", self.attn(normalized, tap.inside("attn"), at))
        if self.ln2 is None or self.mlp is None:
            return tap("hook_resid_post", resid_pre[:, at] + attn_out)
        resid_mid = tap("hook_resid_mid", resid_pre[:, at] + attn_out)
        normalized = self.ln2(resid_mid, tap.inside("ln2"))
        mlp_out = tap("hook_mlp_out", self.mlp(normalized, tap.inside("mlp")))
        return tap("hook_resid_post", resid_mid + mlp_out)


class Transformer(LensHabits, nn.Module):
    """A small transformer that reads tokens and predicts others.

    `task` is what the model is for, if that is known: then it takes questions as text, and can be edited. `given` is
    the name or folder it was loaded by.
    """

    task: Task | None = None
    given: str | None = None

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        check_memory(config)
        self.config = config
        self.embed, self.pos_embed = Embed(config), PosEmbed(config)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.ln_final, self.unembed = make_norm(config), Unembed(config)
        self._draw_weights()

    @property
    def hook_names(self) -> tuple[str, ...]:
        """The name of every point a hook can be at, in the order in which a pass reaches them."""
        return hook_names(self.config.n_layers, self.config.has_mlp, self.config.normalization != "none")

    def forward(
        self,
        tokens: TextOrTokens,
        *,
        positions: Sequence[int] | None = None,
        tap: Tap = UNWATCHED,
    ) -> Float[Tensor, "batch pos vocab"]:
        """The logits at every position, or only at `positions`, in the order given. Text is read as `to_tokens` does.

        With `positions` the last layer's queries, its MLP and the unembedding are computed there alone; the values are
        those of the full pass. Hooks on these parts then see as many positions as were asked for. A pass that is
        watched and one that is not agree to rounding; two watched ones agree to the bit until an edit parts them.
        """
        if not isinstance(tokens, Tensor):
            tokens = self.to_tokens(tokens)
        at = self._check(tokens, positions)
        resid = self._enter(tokens, tap)
        for layer, block in enumerate(self.blocks):
            is_last = layer == self.config.n_layers - 1
            resid = block(resid, tap.inside(f"blocks.{layer}"), at if is_last else EVERYWHERE)
        logits: Tensor = self.unembed(self.ln_final(resid, tap.inside("ln_final")))
        return logits

    def run_with_hooks(
        self,
        tokens: TextOrTokens,
        fwd_hooks: Iterable[tuple[NamesFilter, HookFunction]],
        *,
        positions: Sequence[int] | None = None,
    ) -> Float[Tensor, "batch pos vocab"]:
        """The logits of a pass in which each hook may replace the activation at the points its name or filter picks.

        A hook is called as `function(activation, hook=place)`, where `place` has a `name` and a `layer()`. It gives
        back a tensor of the same shape, or None to leave things as they are.
        """
        logits: Tensor = self(tokens, positions=positions, tap=Tap(gather_hooks(fwd_hooks, self.hook_names)))
        return logits

    def run_with_cache(
        self,
        tokens: TextOrTokens,
        names_filter: NamesFilter = None,
        *,
        fwd_hooks: Iterable[tuple[NamesFilter, HookFunction]] = (),
        positions: Sequence[int] | None = None,
        remove_batch_dim: bool = False,
    ) -> tuple[Float[Tensor, "batch pos vocab"], Cache]:
        """The logits of a pass, and the activations the filter picks as they were after any `fwd_hooks`.

        Each head's own output (`attn.hook_result`) is there when it is asked for by name or by a function. With
        `remove_batch_dim` the activations of a single question have no axis for it.
        """
        hooks = gather_hooks(fwd_hooks, self.hook_names)
        may_change = bool(hooks)
        kept: dict[str, Tensor] = {}

        def keep(activation: Tensor, hook: HookPoint) -> None:
            # A hook may write into a tensor that an earlier point shares, and what was kept must not follow it.
            kept[hook.name] = activation.detach().clone() if may_change else activation.detach()

        for name in select_names(names_filter, self.hook_names):
            hooks.setdefault(name, []).append(keep)
        logits: Tensor = self(tokens, positions=positions, tap=Tap(hooks))
        if remove_batch_dim and len(logits) != 1:
            raise CarryLensError(f"remove_batch_dim is for one question, not {len(logits)}. Leave it out.")
        return logits, Cache({name: each[0] for name, each in kept.items()} if remove_batch_dim else kept)

    def __repr__(self) -> str:
        return f"<{describe_model(self)}>"

    def _repr_html_(self) -> str:
        return f"<code>{escape(describe_model(self))}</code>"

    def _enter(self, tokens: Tensor, tap: Tap) -> Tensor:
        token_part, place_part = self.embed(tokens), self.pos_embed(tokens)
        if tap.watched:  # one row shared by the whole batch becomes a row each, which a hook may write into
            place_part = place_part.clone()
        stream: Tensor = tap("hook_embed", token_part) + tap("hook_pos_embed", place_part)
        return stream

    def _check(self, tokens: Tensor, positions: Sequence[int] | None) -> slice | Tensor:
        longest = self.config.n_ctx
        whole = tokens.dtype in (torch.int32, torch.int64)
        if not whole or tokens.dim() != 2 or not 1 <= tokens.shape[1] <= longest:
            raise CarryLensError(
                f"Tokens are {tokens.dtype} with shape {list(tokens.shape)}. "
                f"Give torch.int64 with shape [batch, pos], and at most {longest} positions."
            )
        highest = self.config.d_vocab - 1
        if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) <= highest:
            raise CarryLensError(
                f"Token ids run from {int(tokens.min())} to {int(tokens.max())}. Give ids from 0 to {highest}."
            )
        return EVERYWHERE if positions is None else _places(positions, tokens.shape[1], tokens.device)

    def _draw_weights(self) -> None:
        # Norms and biases are born 1 and 0; every matrix is drawn from one generator, so a seed always gives one model.
        generator = torch.Generator().manual_seed(self.config.seed)
        for name, parameter in self.named_parameters():
            if "W_" in name:
                nn.init.normal_(parameter, std=self.config.init_range, generator=generator)


def describe_model(model: Transformer) -> str:
    """What a model is, in a line."""
    config, n_weights = model.config, sum(each.numel() for each in model.parameters())
    what = "" if model.task is None else f" for {model.task.name}"
    layers = f"{config.n_layers} layer{'s' * (config.n_layers > 1)}, {config.n_heads} heads, width {config.d_model}"
    mlp = "" if config.has_mlp else ", no MLP"
    return f"Transformer{what}: {layers}{mlp}, {n_weights:,} weights"


def _places(positions: Sequence[int], n_pos: int, device: torch.device) -> slice | Tensor:
    wanted = list(positions)
    if not wanted or min(wanted) < 0 or max(wanted) >= n_pos:
        raise CarryLensError(f"Positions {wanted} are not all among 0 to {n_pos - 1}. Give at least one of them.")
    if wanted == list(range(wanted[0], wanted[-1] + 1)):  # neighbours need no gathering, which is slow to train through
        return slice(wanted[0], wanted[-1] + 1)
    return torch.tensor(wanted, device=device)
