"""At every node of two trained models the engine gives what TransformerLens hooks give with the same weights."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from carrylens.arithmetic import Operation, Population, PopulationKind, Questions, answers
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.tokens import answer_positions, encode
from carrylens.arithmetic.zoo import load
from carrylens.interventions import Edit, Engine, ablate, interchange
from carrylens.interventions.records import CLOSE
from carrylens.model import Transformer, to_transformer_lens
from carrylens.nodes import Node, all_nodes

MODELS = {"add_d6_l2_h3_w96_t3K_s1": Operation.ADD, "mix_d6_l3_h4_w96_t4K_s1": Operation.MIX}
# Both precisions are held against TransformerLens in float64. In float32 it is itself 1.3e-4 away from that, so the
# agreement of two float32 routes would measure its rounding; ours is to be within half of what the engine calls close.
BOUNDS = {torch.float64: 1e-9, torch.float32: CLOSE[torch.float32] / 2}
ASKED, REFERENCE = 4, 16


def nodes_of(model: Transformer) -> list[Node]:
    return all_nodes(model.config.n_ctx, model.config.n_layers, model.config.n_heads)


def questions_of(model: Transformer, operation: Operation, seed: int, count: int) -> Questions:
    return Population(PopulationKind.ENRICHED, operation, digits_of(model.config)).draw(seed, 0, count)


def point_of(node: Node) -> str:
    return f"blocks.{node.layer}.hook_mlp_out" if node.is_mlp else f"blocks.{node.layer}.attn.hook_z"


def tokens_of(questions: Questions) -> Tensor:
    return torch.from_numpy(encode(questions, answers(questions)))


def hooked(theirs: Any, tokens: Tensor, fills: dict[Node, Tensor]) -> Tensor:
    """The logits at the answer's places when nodes hold these values instead, axes [batch, ...] or for all rows one."""

    def replace(activation: Tensor, hook: Any, node: Node, fill: Tensor) -> Tensor:
        if node.is_mlp:
            activation[:, node.position] = fill
        else:
            activation[:, node.position, node.head] = fill
        return activation

    hooks = [(point_of(node), partial(replace, node=node, fill=fill)) for node, fill in fills.items()]
    digits = (tokens.shape[1] - 4) // 3
    with torch.no_grad():
        logits: Tensor = theirs.run_with_hooks(tokens, fwd_hooks=hooks)
    return logits[:, list(answer_positions(digits))]


def at(cache: Any, node: Node) -> Tensor:
    values: Tensor = cache[point_of(node)][:, node.position]
    return values if node.is_mlp else values[:, node.head]


def differences(name: str, dtype: torch.dtype, sets: Callable[[list[Node]], list[list[Node]]]) -> tuple[float, float]:
    """Largest difference from TransformerLens under mean ablation and interchange of each set; largest effect."""
    ours, theirs = load(name).to(dtype), to_transformer_lens(load(name).double())
    asked, sources, reference = (
        questions_of(ours, MODELS[name], seed, count) for seed, count in ((1, ASKED), (2, ASKED), (3, REFERENCE))
    )
    edited = sets(nodes_of(ours))
    edits: list[Edit] = [*map(ablate, edited), *map(interchange, edited)]
    found = Engine(ours).run(edits, asked, sources, reference=reference, logits=True).logits
    assert found is not None
    with torch.no_grad():
        clean, _ = theirs.run_with_cache(tokens_of(asked))
        (_, source_cache), (_, cache) = (theirs.run_with_cache(tokens_of(some)) for some in (sources, reference))
    largest, effect = 0.0, 0.0
    places = list(answer_positions(digits_of(ours.config)))
    fills = [{node: at(cache, node).mean(0) for node in nodes} for nodes in edited]
    fills += [{node: at(source_cache, node) for node in nodes} for nodes in edited]
    for row, fill in zip(found, fills, strict=True):
        there = hooked(theirs, tokens_of(asked), fill).numpy()
        largest = max(largest, float(np.abs(row - there).max()))
        effect = max(effect, float(np.abs(there - clean[:, places].numpy()).max()))
    return largest, effect


@pytest.mark.parametrize("name", MODELS)
def test_mean_ablation_and_interchange_agree_at_every_node(
    lens: Any, name: str, record_property: Callable[[str, object], None]
) -> None:
    assert lens
    largest, effect = differences(name, torch.float64, lambda nodes: [[node] for node in nodes])
    record_property("interventions in torch.float64", largest)
    assert largest <= BOUNDS[torch.float64]
    assert effect > 1  # nodes that matter were among them


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_mean_ablation_and_interchange_agree_for_sets_of_nodes(
    name: str, dtype: torch.dtype, record_property: Callable[[str, object], None]
) -> None:
    rng = np.random.default_rng(0)

    def some_sets(nodes: list[Node]) -> list[list[Node]]:
        return [[nodes[at] for at in rng.choice(len(nodes), 6, replace=False)] for _ in range(20)]

    largest, effect = differences(name, dtype, some_sets)
    record_property(f"interventions in {dtype}", largest)
    assert largest <= BOUNDS[dtype]
    assert effect > 1


def test_a_neighbouring_node_is_not_taken_for_the_one_meant() -> None:
    ours = load("add_d6_l2_h3_w96_t3K_s1").double()
    theirs = to_transformer_lens(ours)
    asked, sources = (questions_of(ours, Operation.ADD, seed, ASKED) for seed in (1, 2))
    with torch.no_grad():
        _, cache = theirs.run_with_cache(tokens_of(sources))
    found = Engine(ours).run([interchange("P14L0H1")], asked, sources, logits=True).logits
    assert found is not None
    for lie in (Node(14, 0, 0), Node(15, 0, 1), Node(14, 1, 1), Node(14, 0, None)):
        there = hooked(theirs, tokens_of(asked), {lie: at(cache, lie)}).numpy()
        assert np.abs(found[0] - there).max() > 1e-6
