"""The slow, obvious routes: one edit on one question, a whole pass each.

`hooked_logits` puts plain hooks on the model; it knows no edges. `looped_logits` is a forward pass written from the
definitions, one head at a time, and knows every edit. Neither uses anything of the engine but the edits themselves.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from carrylens.arithmetic import Answers, Questions, answers, classify
from carrylens.arithmetic.tokens import encode
from carrylens.interventions.edits import Add, DifferencePatch, Edge, Edit, Fill, KeepOnly, Norm, Replace
from carrylens.interventions.sites import Input, Receiver, Residual, Site
from carrylens.model import Cache, Transformer
from carrylens.nodes import Node, all_nodes


@dataclass
class Asked:
    """One question of a call, with all that an edit of it may need. The model is run in float64."""

    model: Transformer
    tokens: Tensor
    sources: list[Tensor]
    reference: list[Tensor]
    same_class: list[Tensor]
    caches: dict[tuple[int, ...], Cache] = field(default_factory=dict)
    fills: dict[tuple[Fill, int, int, str], Tensor] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: Transformer,
        row: int,
        questions: Questions,
        slots: Sequence[Questions] = (),
        reference: Questions | None = None,
        read: Answers | None = None,
    ) -> Asked:
        asked = torch.from_numpy(encode(questions, answers(questions) if read is None else read))[row : row + 1]
        sources = [torch.from_numpy(encode(slot, answers(slot)))[row : row + 1] for slot in slots]
        if reference is None:
            return cls(model, asked, sources, [], [])
        every = [row[None] for row in torch.from_numpy(encode(reference, answers(reference)))]
        mine = classify(questions).code[row] == classify(reference).code
        return cls(model, asked, sources, every, [each for each, same in zip(every, mine, strict=True) if same])

    def cache(self, tokens: Tensor) -> Cache:
        key = tuple(tokens[0].tolist())
        if key not in self.caches:
            with torch.no_grad():
                self.caches[key] = self.model.run_with_cache(tokens, lambda _: True)[1]
        return self.caches[key]

    def drawn(self, seed: int) -> Tensor:
        """The reference question a resampling takes from: as `Fill.RESAMPLE` says, never the one asked."""
        end = self.model.config.reads.start + 1
        others = sorted(
            row[0].tolist() for row in self.reference if not torch.equal(row[:, :end], self.tokens[:, :end])
        )
        salted = self.tokens[0, :end].numpy().tobytes() + seed.to_bytes(8, "little")
        number = int.from_bytes(hashlib.blake2b(salted, digest_size=8).digest(), "little")
        return torch.tensor([others[number % len(others)]])

    def fill(self, change: Replace | DifferencePatch, name: str) -> Tensor:
        """What the activation called `name` is for the fill, or how far a difference patch moves it: [pos, ...]."""
        if isinstance(change, DifferencePatch):
            there, here = (self.cache(self.sources[slot])[name][0] for slot in (change.source, change.less))
            return there - here
        key = (change.fill, change.source, change.seed, name)
        if key not in self.fills:
            self.fills[key] = self._fill(change, name)
        return self.fills[key]

    def _fill(self, change: Replace, name: str) -> Tensor:
        if change.fill is Fill.ZERO:
            return torch.zeros_like(self.cache(self.tokens)[name][0])
        if change.fill is Fill.SOURCE:
            return self.cache(self.sources[change.source])[name][0]
        if change.fill is Fill.RESAMPLE:
            return self.cache(self.drawn(change.seed))[name][0]
        over = self.reference if change.fill is Fill.MEAN else self.same_class
        return torch.stack([self.cache(tokens)[name][0] for tokens in over]).mean(0)


def hooked_logits(asked: Asked, edit: Edit) -> Tensor:
    """The logits at the answer's places from one pass with plain hooks."""
    hooks = [_hook(asked, change, site) for site, change in changes_by_site(edit, asked.model).items()]
    with torch.no_grad():
        logits = asked.model.run_with_hooks(asked.tokens, hooks)
    return logits[0, list(asked.model.config.reads)]


def hooked_cache(asked: Asked, edit: Edit) -> Cache:
    """The activations of that pass."""
    hooks = [_hook(asked, change, site) for site, change in changes_by_site(edit, asked.model).items()]
    with torch.no_grad():
        return asked.model.run_with_cache(asked.tokens, fwd_hooks=hooks)[1]


def changes_by_site(edit: Edit, model: Transformer) -> dict[Site, Replace | Add | DifferencePatch]:
    """The change of each site, of which there is at most one, with keep-only written out and edges left out."""
    found: dict[Site, Replace | Add | DifferencePatch] = {}
    for change in edit.changes:
        if isinstance(change, KeepOnly):
            config, kept = model.config, set(change.nodes)
            every = all_nodes(config.n_ctx, config.n_layers, config.n_heads, config.has_mlp)
            outside = tuple(node for node in every if node not in kept)
            found |= dict.fromkeys(outside, Replace(outside, change.fill, seed=change.seed))
        elif not isinstance(change, Edge):
            found |= dict.fromkeys(change.sites, change)
    return found


def _hook(asked: Asked, change: Replace | Add | DifferencePatch, site: Site) -> tuple[str, Any]:
    in_stream = isinstance(change, Add) or (isinstance(change, Replace) and bool(change.basis))
    name = point_of(site, asked.model, in_stream)
    place: Any = (
        (0, site.position) if isinstance(site, Residual) or site.head is None else (0, site.position, site.head)
    )

    def function(activation: Tensor, hook: object) -> Tensor:
        activation = activation.clone()
        fill = None if isinstance(change, Add) else asked.fill(change, name)[place[1:]]
        activation[place] = changed(activation[place], change, fill)
        return activation

    return name, function


def point_of(site: Site, model: Transformer, in_stream: bool = False) -> str:
    """The hook point at which a site's value can be replaced."""
    if isinstance(site, Residual):
        last = model.config.n_layers - 1
        return f"blocks.{site.layer}.hook_resid_pre" if site.layer <= last else f"blocks.{last}.hook_resid_post"
    if site.head is None:
        return f"blocks.{site.layer}.hook_mlp_out"
    return f"blocks.{site.layer}.attn.hook_result" if in_stream else f"blocks.{site.layer}.attn.hook_z"


def changed(own: Tensor, change: Replace | Add | DifferencePatch, fill: Tensor | None) -> Tensor:
    """One site's value after one change."""
    if isinstance(change, Add):
        return own + change.amount * torch.tensor(change.direction, dtype=own.dtype)
    assert fill is not None
    if isinstance(change, DifferencePatch):
        return own + fill
    step = change.share * (fill - own)
    if change.basis:  # the projection by least squares: the combination of basis vectors nearest to the step
        columns = np.array(change.basis).T
        step = torch.from_numpy(columns @ np.linalg.lstsq(columns, step.numpy(), rcond=None)[0])
    return own + step


def can_read(receiver: Receiver, sender: Node) -> bool:
    """Whether the sender's write is in what the receiver reads."""
    here, before = receiver.position == sender.position, receiver.position >= sender.position
    if receiver.layer is None:
        return here
    if receiver.input is Input.MLP:
        return here and (sender.layer, sender.is_mlp) < (receiver.layer, True)
    if sender.layer >= receiver.layer:
        return False
    return here if receiver.input is Input.QUERY else before


@dataclass
class Notes:
    """What a looped pass does at each site, and what it held: streams by (layer, moment), and every node's write."""

    changes: dict[Site, Replace | Add | DifferencePatch]
    streams: dict[tuple[int, str], Tensor] = field(default_factory=dict)
    writes: dict[Node, Tensor] = field(default_factory=dict)


def looped_logits(asked: Asked, edit: Edit) -> Tensor:
    """The logits at the answer's places from a pass written from the definitions."""
    clean, at_sites = Notes({}), changes_by_site(edit, asked.model)
    _loop(asked, Edit(()), clean, clean)
    return _loop(asked, edit, clean, Notes(at_sites))[list(asked.model.config.reads)]


def _loop(asked: Asked, edit: Edit, clean: Notes, notes: Notes) -> Tensor:
    model, n_layers = asked.model, asked.model.config.n_layers
    with torch.no_grad():
        stream = model.embed.W_E[asked.tokens[0]] + model.pos_embed.W_pos
        for layer in range(n_layers):
            stream = _with_residuals(asked, notes, layer, stream)
            notes.streams[layer, "in"] = stream
            heads = [_head(asked, edit, layer, head, clean, notes) for head in range(model.config.n_heads)]
            stream = stream + torch.stack(heads).sum(0) + model.blocks[layer].attn.b_O  # type: ignore[union-attr, operator]
            notes.streams[layer, "mid"] = stream
            if model.config.has_mlp:
                stream = stream + _mlp(asked, edit, layer, clean, notes)
        stream = _with_residuals(asked, notes, n_layers, stream)
        notes.streams[n_layers, "in"] = stream
        rows = []
        for position in range(len(stream)):
            receiver = Receiver(position, None, None, Input.LOGITS)
            read = _read(asked, edit, receiver, position, (n_layers, "in"), clean, notes)
            rows.append(read @ model.unembed.W_U + model.unembed.b_U)
    return torch.stack(rows)


def _with_residuals(asked: Asked, notes: Notes, layer: int, stream: Tensor) -> Tensor:
    stream = stream.clone()
    for site, change in notes.changes.items():
        if isinstance(site, Residual) and site.layer == layer:
            fill = None if isinstance(change, Add) else asked.fill(change, point_of(site, asked.model))[site.position]
            stream[site.position] = changed(stream[site.position], change, fill)
    return stream


def _head(asked: Asked, edit: Edit, layer: int, head: int, clean: Notes, notes: Notes) -> Tensor:
    attn: Any = asked.model.blocks[layer].attn
    stream = _norm(asked, (layer, "in"), notes.streams[layer, "in"])
    receivers = {receiver for change in edit.changes if isinstance(change, Edge) for receiver in change.receivers}
    writes = []
    for position in range(asked.tokens.shape[1]):

        def reads(way: Input, position: int = position) -> Tensor:
            receiver = Receiver(position, layer, head, way)
            if receiver not in receivers:
                return stream[: position + 1]
            every = [_read(asked, edit, receiver, at, (layer, "in"), clean, notes) for at in range(position + 1)]
            return torch.stack(every)

        q = reads(Input.QUERY)[-1] @ attn.W_Q[head] + attn.b_Q[head]
        k = reads(Input.KEY) @ attn.W_K[head] + attn.b_K[head]
        v = reads(Input.VALUE) @ attn.W_V[head] + attn.b_V[head]
        z = torch.softmax(k @ q / q.shape[0] ** 0.5, 0) @ v
        write = _written(asked, notes, Node(position, layer, head), z, lambda z: z @ attn.W_O[head])
        notes.writes[Node(position, layer, head)] = write
        writes.append(write)
    return torch.stack(writes)


def _mlp(asked: Asked, edit: Edit, layer: int, clean: Notes, notes: Notes) -> Tensor:
    mlp: Any = asked.model.blocks[layer].mlp
    writes = []
    for position in range(asked.tokens.shape[1]):
        receiver = Receiver(position, layer, None, Input.MLP)
        read = _read(asked, edit, receiver, position, (layer, "mid"), clean, notes)
        out = _activated(asked.model.config.act_fn, read @ mlp.W_in + mlp.b_in) @ mlp.W_out + mlp.b_out
        write = _written(asked, notes, Node(position, layer, None), out, lambda out: out)
        notes.writes[Node(position, layer, None)] = write
        writes.append(write)
    return torch.stack(writes)


def _activated(act_fn: str, x: Tensor) -> Tensor:
    if act_fn == "relu":
        return x.clamp(min=0)
    if act_fn == "gelu":
        return x * (1 + torch.erf(x / 2**0.5)) / 2
    return x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2


def _written(asked: Asked, notes: Notes, node: Node, value: Tensor, write: Callable[[Tensor], Tensor]) -> Tensor:
    # What a node writes: its value is replaced before it is written, unless the change is stated in the stream's space.
    change = notes.changes.get(node)
    if change is None:
        return write(value)
    at = node.position if node.head is None else (node.position, node.head)
    in_stream = isinstance(change, Add) or (isinstance(change, Replace) and bool(change.basis))
    fill = None if isinstance(change, Add) else asked.fill(change, point_of(node, asked.model, in_stream))[at]
    return changed(write(value), change, fill) if in_stream else write(changed(value, change, fill))


def _read(
    asked: Asked, edit: Edit, receiver: Receiver, at: int, moment: tuple[int, str], clean: Notes, notes: Notes
) -> Tensor:
    # What a receiver reads at a position: the stream, with the writes that are sent to it alone in place of the actual.
    stream, frozen = notes.streams[moment][at], False
    for change in edit.changes:
        if isinstance(change, Edge) and receiver in change.receivers:
            for sender in change.senders:
                assert isinstance(sender, Node)
                if sender.position == at and can_read(receiver, sender):
                    source = asked.cache(asked.sources[change.source])[point_of(sender, asked.model, in_stream=True)]
                    theirs = source[0, at] if sender.head is None else source[0, at, sender.head]
                    stream = stream + change.share * (theirs - notes.writes[sender])
                    frozen = change.norm is Norm.FROZEN
    return _norm(asked, moment, stream, clean.streams[moment][at] if frozen else stream)


def _norm(asked: Asked, moment: tuple[int, str], stream: Tensor, scaled: Tensor | None = None) -> Tensor:
    # The stream centred, over the standard deviation of its own or of another one, then stretched and shifted.
    (number, when), model = moment, asked.model
    if model.config.normalization == "none":
        return stream
    block: Any = model.blocks[number] if number < model.config.n_layers else None
    norm: Any = model.ln_final if block is None else block.ln1 if when == "in" else block.ln2
    variance = (stream if scaled is None else scaled).var(-1, correction=0, keepdim=True)
    normed: Tensor = (stream - stream.mean(-1, keepdim=True)) / (variance + norm.eps).sqrt()
    return normed if model.config.normalization == "LNPre" else normed * norm.w + norm.b
