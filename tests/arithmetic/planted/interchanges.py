"""Slow and obvious interchanges, for one node or one edge, with nothing but hooks and plain products."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.tokens import answer_positions, encode
from carrylens.model import HookFunction, HookPoint, Transformer
from carrylens.model.hooks import UNWATCHED, Tap, gather_hooks
from carrylens.nodes import Node

Hook = tuple[str, HookFunction]


def tokens_of(questions: Questions, given: Answers | None = None) -> Tensor:
    return torch.from_numpy(encode(questions, answers(questions) if given is None else given))


def answer_tokens(questions: Questions, given: Answers) -> Tensor:
    """The tokens of an answer, sign first."""
    return tokens_of(questions, given)[:, -(questions.digits + 2) :]


def questions_of(operation: Operation, digits: int, count: int, seed: int) -> Questions:
    return Population(PopulationKind.ENRICHED, operation, digits).draw(seed, 0, count)


@torch.inference_mode()
def answered(model: Transformer, questions: Questions, hooks: Collection[Hook] = ()) -> Tensor:
    """The token the model would write at each place of the answer, the true ones before it given."""
    places = list(answer_positions(questions.digits))
    logits = model.run_with_hooks(tokens_of(questions), list(hooks))
    return logits[:, places].argmax(-1)


class Interchanges:
    """Interchanges between the same base and source questions, one pass of each remembered.

    What stands before the first part that an intervention changes is what the remembered pass of the base had there.
    """

    @torch.inference_mode()
    def __init__(self, model: Transformer, base: Questions, source: Questions) -> None:
        self.model, self.places = model, list(answer_positions(base.digits))
        (logits, self.ours), (_, self.theirs) = (model.run_with_cache(tokens_of(side)) for side in (base, source))
        self.untouched = logits[:, self.places].argmax(-1)

    def of_nodes(self, nodes: Collection[Node]) -> Tensor:
        """What the model answers to the base with these nodes' outputs from the source."""
        return self._writing(nodes, self.theirs)

    def without(self, nodes: Collection[Node]) -> Tensor:
        """What the model answers to the base when these nodes write nothing."""
        return self._writing(nodes, {name: torch.zeros_like(output) for name, output in self.ours.items()})

    @torch.inference_mode()
    def of_edge(self, sender: Node, receiver: Node | None, inputs: str) -> Tensor:
        """What it answers if the receiver alone, at these inputs, sees what the sender writes for the source."""
        model, place = self.model, sender.position
        theirs, ours = (_written(model, sender, cache[_output(sender)]) for cache in (self.theirs, self.ours))
        if receiver is None:
            last = f"blocks.{model.config.n_layers - 1}.hook_resid_post"
            seen = _normalized(self.ours[last][:, place] + theirs - ours)
            given = self.untouched.clone()
            given[:, self.places.index(place)] = model.unembed(seen).argmax(-1)
            return given
        block, name = model.blocks[receiver.layer], f"blocks.{receiver.layer}"
        if receiver.head is None:
            seen = _normalized(self.ours[f"{name}.hook_resid_mid"][:, place] + theirs - ours)
            pre = seen @ block.mlp.W_in + block.mlp.b_in  # type: ignore[union-attr, operator]
            return self._answers([(f"{name}.mlp.hook_pre", _setting((slice(None), place), pre))], receiver)
        seen = _normalized(self.ours[f"{name}.hook_resid_pre"][:, place] + theirs - ours)
        hooks: list[Hook] = []
        for side in inputs:
            weight, bias = (getattr(block.attn, f"{kind}_{side.upper()}")[receiver.head] for kind in "Wb")
            where = (slice(None), place, receiver.head)
            hooks.append((f"{name}.attn.hook_{side}", _setting(where, seen @ weight + bias)))
        # Every place that looks with this head would see the change; only the receiver is to.
        kept: list[Tensor] = []

        def keep(activation: Tensor, hook: HookPoint) -> None:
            kept.append(activation)

        hooks.append((_output(receiver), keep))
        tap = Tap(gather_hooks(hooks, model.hook_names)).inside(f"{name}.attn")
        block.attn(block.ln1(self.ours[f"{name}.hook_resid_pre"], UNWATCHED), tap)  # type: ignore[operator]
        return self._answers([_put(receiver, kept[0])], receiver)

    @torch.inference_mode()
    def _writing(self, nodes: Collection[Node], outputs: Mapping[str, Tensor]) -> Tensor:
        hooks = [_put(node, outputs[_output(node)]) for node in nodes]
        return self._answers(hooks, min(nodes, key=lambda node: (node.layer, node.is_mlp))) if nodes else self.untouched

    def _answers(self, hooks: Collection[Hook], first: Node) -> Tensor:
        # From the first part that a hook changes: the MLP of a layer, or its attention.
        model, tap = self.model, Tap(gather_hooks(hooks, self.model.hook_names))
        name, block = f"blocks.{first.layer}", model.blocks[first.layer]
        if first.is_mlp:
            resid, inside = self.ours[f"{name}.hook_resid_mid"], tap.inside(name)
            written = block.mlp(block.ln2(resid, UNWATCHED), inside.inside("mlp"))  # type: ignore[operator]
            resid = resid + inside("hook_mlp_out", written)
        else:
            resid = block(self.ours[f"{name}.hook_resid_pre"], tap.inside(name))
        for layer in range(first.layer + 1, model.config.n_layers):
            resid = model.blocks[layer](resid, tap.inside(f"blocks.{layer}"))
        given: Tensor = model.unembed(model.ln_final(resid[:, self.places], UNWATCHED)).argmax(-1)
        return given


def _normalized(x: Tensor) -> Tensor:
    x = x - x.mean(-1, keepdim=True)
    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()


def _output(node: Node) -> str:
    return f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}"


def _written(model: Transformer, node: Node, output: Tensor) -> Tensor:
    if node.head is None:
        return output[:, node.position]
    product: Tensor = output[:, node.position, node.head] @ model.blocks[node.layer].attn.W_O[node.head]  # type: ignore[union-attr, index]
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
