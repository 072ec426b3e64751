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

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from carrylens.errors import CarryLensError
from carrylens.model.config import ModelConfig
from carrylens.model.decoding import decode_outputs
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


class Transformer(nn.Module):
    """A small transformer that reads tokens and predicts others.

    `task` is what the model is for, if that is known: then it takes questions as text, and can be edited.
    """

    task: Task | None = None

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
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
        self, tokens: Int[Tensor, "batch pos"], *, positions: Sequence[int] | None = None, tap: Tap = UNWATCHED
    ) -> Float[Tensor, "batch pos vocab"]:
        """The logits at every position, or only at `positions`, in the order given.

        With `positions` the last layer's queries, its MLP and the unembedding are computed there alone; the values are
        those of the full pass. Hooks on these parts then see as many positions as were asked for. A pass that is
        watched and one that is not agree to rounding; two watched ones agree to the bit until an edit parts them.
        """
        at = self._check(tokens, positions)
        resid = self._enter(tokens, tap)
        for layer, block in enumerate(self.blocks):
            is_last = layer == self.config.n_layers - 1
            resid = block(resid, tap.inside(f"blocks.{layer}"), at if is_last else EVERYWHERE)
        logits: Tensor = self.unembed(self.ln_final(resid, tap.inside("ln_final")))
        return logits

    def answer(self, question: str) -> str:
        """What the model answers to a question as its task writes one, such as `45+7`, decoded token by token."""
        if self.task is None:
            raise CarryLensError(
                "This model does not say what it was made for, so it takes no questions as text. "
                "Set model.task, load it with carrylens.load, or give it token ids."
            )
        return self.task.layout.output_text(decode_outputs(self, self.task, self.task.parse([question])))[0]

    def run_with_hooks(
        self,
        tokens: Int[Tensor, "batch pos"],
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
        tokens: Int[Tensor, "batch pos"],
        names_filter: NamesFilter = None,
        *,
        fwd_hooks: Iterable[tuple[NamesFilter, HookFunction]] = (),
        positions: Sequence[int] | None = None,
    ) -> tuple[Float[Tensor, "batch pos vocab"], Cache]:
        """The logits of a pass, and the activations the filter picks as they were after any `fwd_hooks`.

        Each head's own output (`attn.hook_result`) is there when it is asked for by name or by a function.
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
        return logits, Cache(kept)

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


def _places(positions: Sequence[int], n_pos: int, device: torch.device) -> slice | Tensor:
    wanted = list(positions)
    if not wanted or min(wanted) < 0 or max(wanted) >= n_pos:
        raise CarryLensError(f"Positions {wanted} are not all among 0 to {n_pos - 1}. Give at least one of them.")
    if wanted == list(range(wanted[0], wanted[-1] + 1)):  # neighbours need no gathering, which is slow to train through
        return slice(wanted[0], wanted[-1] + 1)
    return torch.tensor(wanted, device=device)
