"""Slow and obvious interchanges, for one node or one edge, with nothing but hooks and plain products."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.model import HookFunction, HookPoint, Transformer
from carrylens.nodes import Node
from carrylens.tokens import answer_positions, encode

Hook = tuple[str, HookFunction]


def tokens_of(questions: Questions, given: Answers | None = None) -> Tensor:
    return torch.from_numpy(encode(questions, answers(questions) if given is None else given))


def answer_tokens(questions: Questions, given: Answers) -> Tensor:
    """The tokens of an answer, sign first."""
    return tokens_of(questions, given)[:, -(questions.digits + 2) :]


def questions_of(operation: Operation, digits: int, count: int, seed: int) -> Questions:
    return Stream(StreamKind.ENRICHED, operation, digits, seed).take(0, count)


@torch.inference_mode()
def answered(model: Transformer, questions: Questions, hooks: Collection[Hook] = ()) -> Tensor:
    """The token the model would write at each place of the answer, the true ones before it given."""
    places = list(answer_positions(questions.digits))
    logits = model.run_with_hooks(tokens_of(questions), list(hooks))
    return logits[:, places].argmax(-1)


@torch.inference_mode()
def swapped(model: Transformer, base: Questions, source: Questions, nodes: Collection[Node]) -> Tensor:
    """What the model answers to `base` with these nodes' outputs from `source`."""
    _, cache = model.run_with_cache(tokens_of(source))
    return answered(model, base, [_put(node, cache[_output(node)]) for node in nodes])


@torch.inference_mode()
def removed(model: Transformer, questions: Questions, nodes: Collection[Node]) -> Tensor:
    """What the model answers when these nodes write nothing."""
    _, cache = model.run_with_cache(tokens_of(questions))
    return answered(model, questions, [_put(node, torch.zeros_like(cache[_output(node)])) for node in nodes])


@torch.inference_mode()
def edge_swapped(
    model: Transformer, base: Questions, source: Questions, sender: Node, receiver: Node | None, inputs: str
) -> Tensor:
    """What the model answers to `base` if `receiver` alone, at these inputs, sees what `sender` writes for `source`."""
    (_, ours), (_, theirs) = model.run_with_cache(tokens_of(base)), model.run_with_cache(tokens_of(source))
    place = sender.position
    difference = _written(model, sender, theirs[_output(sender)]) - _written(model, sender, ours[_output(sender)])
    if receiver is None:
        last = f"blocks.{model.config.n_layers - 1}.hook_resid_post"
        seen = _normalized(ours[last][:, place] + difference)
        return answered(model, base, [("ln_final.hook_normalized", _setting((slice(None), place), seen))])
    block = model.blocks[receiver.layer]
    if receiver.head is None:
        seen = _normalized(ours[f"blocks.{receiver.layer}.hook_resid_mid"][:, place] + difference)
        pre = seen @ block.mlp.W_in + block.mlp.b_in  # type: ignore[union-attr, operator]
        return answered(model, base, [(f"blocks.{receiver.layer}.mlp.hook_pre", _setting((slice(None), place), pre))])
    seen = _normalized(ours[f"blocks.{receiver.layer}.hook_resid_pre"][:, place] + difference)
    hooks: list[Hook] = []
    for side in inputs:
        weight = getattr(block.attn, f"W_{side.upper()}")[receiver.head]
        bias = getattr(block.attn, f"b_{side.upper()}")[receiver.head]
        where = (slice(None), place, receiver.head)
        hooks.append((f"blocks.{receiver.layer}.attn.hook_{side}", _setting(where, seen @ weight + bias)))
    # Every place that looks with this head would see the change; only the receiver is to.
    output = _output(receiver)
    _, cache = model.run_with_cache(tokens_of(base), [output], fwd_hooks=hooks)
    return answered(model, base, [_put(receiver, cache[output])])


def _normalized(x: Tensor) -> Tensor:
    x = x - x.mean(-1, keepdim=True)
    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()


def _output(node: Node) -> str:
    return f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}"


def _written(model: Transformer, node: Node, output: Tensor) -> Tensor:
    if node.head is None:
        return output[:, node.position]
    product: Tensor = output[:, node.position, node.head] @ model.blocks[node.layer].attn.W_O[node.head]  # type: ignore[union-attr, index, operator]
    return product


def _put(node: Node, output: Tensor) -> Hook:
    where = (slice(None), node.position) + (() if node.head is None else (node.head,))
    return _output(node), _setting(where, output[where])


def _setting(where: tuple[slice | int, ...], value: Tensor) -> HookFunction:
    def function(activation: Tensor, hook: HookPoint) -> Tensor:
        changed = activation.clone()
        changed[where] = value
        return changed

    return function


