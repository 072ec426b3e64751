"""The intervention benchmark: nodes x questions a second, against the loop that a TransformerLens user writes.

Takes  a model, an operation and how many questions.
Gives  interventions a second of both sides, whether they agree, the share of peak, and how time grows.
Never  counts the drawing of questions or the means: both sides are given them.

One intervention is one node's mean ablation on one question, read as the answer's tokens. The TransformerLens side runs
one hooked forward pass a node over all questions, in batches of the size that suits it best; nothing is cached. Both
sides do every node whose write is read: nodes of the last layer at question places would cost us nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import encode
from carrylens.bench.peak import peak_flops
from carrylens.interventions.edits import Edit, ablate
from carrylens.interventions.engine import Engine
from carrylens.interventions.plan import computed_positions, plan_edit, route
from carrylens.model.config import ModelConfig
from carrylens.model.exchange import to_transformer_lens
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes

_ROUNDS = 3
_LENS_ROWS = (32, 64, 128, 256, 512)
_TRIED = 6  # nodes
_GROWTH = (64, 128, 256, 512)


@dataclass(frozen=True)
class EditGrowth:
    """The best time of so many nodes on so many questions."""

    n_nodes: int
    n_questions: int
    seconds: float


@dataclass(frozen=True)
class InterventionBench:
    """What one run measured; what TransformerLens did is None where it is not installed."""

    n_nodes: int
    n_questions: int
    threads: int
    rate: float
    share_of_peak: float
    lens_rate: float | None
    lens_rows: int | None
    n_different: int | None
    n_pairs: int
    pair_questions: int
    pair_seconds: float
    growth: tuple[EditGrowth, ...]

    @property
    def ratio(self) -> float | None:
        """How many times as fast ours is."""
        return None if self.lens_rate is None else self.rate / self.lens_rate


def bench_interventions(
    model: Transformer, operation: Operation, n_questions: int, pair_questions: int
) -> InterventionBench:
    """Ablate every node that is read, both ways in turns; then all pairs of useful nodes; then fewer of everything."""
    config = model.config
    nodes = read_nodes(config)
    questions = Population(PopulationKind.ENRICHED, operation, digits_of(config)).draw(1, 0, n_questions)
    reference = Population(PopulationKind.ENRICHED, operation, digits_of(config)).draw(2, 0, n_questions)
    edits = [ablate([node]) for node in nodes]
    engine = Engine(model)

    def ours() -> NDArray[np.int8]:
        return engine.run(edits, questions, reference=reference).tokens

    sides: list[Callable[[], NDArray[np.int8]]] = [ours]
    lens_rows = None
    if find_spec("transformer_lens") is not None:
        loop = _LensLoop(model, nodes, questions, reference)
        lens_rows = loop.best_rows()
        sides.append(partial(loop.run, lens_rows))
    rates, tokens = _best_rates(sides, len(nodes) * n_questions)
    flops = sum(edit_flops(edit, config) for edit in edits) / len(edits)
    failed = (tokens[0] != engine.run(edits[:1], questions, reference=reference).right).any(-1).any(1)
    useful = [node for node, fails in zip(nodes, failed, strict=True) if fails]
    pairs = [ablate(pair) for pair in combinations(useful, 2)]
    return InterventionBench(
        n_nodes=len(nodes),
        n_questions=n_questions,
        threads=torch.get_num_threads(),
        rate=rates[0],
        share_of_peak=rates[0] * flops / peak_flops(),
        lens_rate=rates[1] if lens_rows else None,
        lens_rows=lens_rows,
        n_different=int((tokens[0] != tokens[1]).any(-1).sum()) if lens_rows else None,
        n_pairs=len(pairs),
        pair_questions=pair_questions,
        pair_seconds=_seconds(lambda: engine.run(pairs, questions[:pair_questions], reference=reference)),
        growth=tuple(
            EditGrowth(
                len(some),
                count,
                _seconds(lambda some=some, count=count: engine.run(some, questions[:count], reference=reference)),  # type: ignore[misc]
            )
            for some in (edits[::4], edits[::2], edits)
            for count in _GROWTH
            if count <= n_questions
        ),
    )


def intervention_lines(measured: InterventionBench) -> Iterator[str]:
    """What was measured, in words."""
    yield (
        f"{measured.n_nodes} nodes on {measured.n_questions} questions, {measured.threads} threads: "
        f"{measured.rate:,.0f} interventions a second, {measured.share_of_peak:.0%} of peak."
    )
    yield (
        "TransformerLens is not installed here; make parity installs it."
        if measured.lens_rate is None
        else f"TransformerLens hooks, {measured.lens_rows} questions a pass: {measured.lens_rate:,.0f} a second. Ours "
        f"{measured.ratio:.1f} times as many; {measured.n_different} answers differ."
    )
    yield (
        f"All {measured.n_pairs:,} pairs of useful nodes on {measured.pair_questions} questions: "
        f"{measured.pair_seconds:.0f} s."
    )
    for nodes in sorted({each.n_nodes for each in measured.growth}):
        times = [each for each in measured.growth if each.n_nodes == nodes]
        listed = ", ".join(f"{each.n_questions}: {each.seconds:.2f} s" for each in times)
        yield f"{nodes} nodes on so many questions: {listed}."


def read_nodes(config: ModelConfig) -> list[Node]:
    """Every node whose write can reach an answer."""
    every = all_nodes(config.n_ctx, config.n_layers, config.n_heads)
    return [node for node in every if node.position in computed_positions(config, node.layer)]


def edit_flops(edit: Edit, config: ModelConfig) -> float:
    """Multiplications and additions of one edited row; norms, softmax and ReLU are left out, as is usual."""
    d_model, inner, d_mlp = config.d_model, config.n_heads * config.d_head, config.d_mlp
    routes, read = route(plan_edit(edit, config).footprint, config)
    total = 2.0 * len(read) * d_model * config.d_vocab_out
    for way in routes:
        asking = len(set(way.dirty) & set(way.attending))
        total += 2.0 * d_model * inner * (2 * len(way.dirty) + asking)
        total += sum(4.0 * inner * (position + 1) for position in way.attending)
        total += 2.0 * len(way.heads) * d_model * (inner + 2 * d_mlp)
    return total


class _LensLoop:
    """One hooked pass a node, as a TransformerLens user writes it."""

    def __init__(self, model: Transformer, nodes: Sequence[Node], questions: Questions, reference: Questions) -> None:
        self._lens, self._nodes = to_transformer_lens(model), nodes
        self._tokens = torch.from_numpy(encode(questions, answers(questions)))
        self._read = model.config.reads
        with torch.inference_mode():
            _, cache = self._lens.run_with_cache(torch.from_numpy(encode(reference, answers(reference))))
            self._means = {name: cache[name].mean(0) for name in {_hook_name(node) for node in nodes}}

    def best_rows(self) -> int:
        """How many questions a pass suit it best, tried on a few nodes."""
        seconds = {rows: _seconds(lambda rows=rows: self.run(rows, _TRIED)) for rows in _LENS_ROWS}  # type: ignore[misc]
        return min(seconds, key=seconds.__getitem__)

    @torch.inference_mode()
    def run(self, rows: int, n_nodes: int | None = None) -> NDArray[np.int8]:
        """The answer's tokens, axes [node, question, answer]."""
        found = []
        for node in self._nodes[:n_nodes]:
            hooks = [(_hook_name(node), self._ablation(node))]
            passes = [self._lens.run_with_hooks(some, fwd_hooks=hooks) for some in torch.split(self._tokens, rows)]
            found.append(torch.cat([logits[:, self._read.start : self._read.stop].argmax(-1) for logits in passes]))
        return torch.stack(found).to(torch.int8).numpy()

    def _ablation(self, node: Node) -> Callable[..., Tensor]:
        mean = self._means[_hook_name(node)]

        def put_mean(activation: Tensor, hook: Any) -> Tensor:  # noqa: ARG001
            site = (slice(None), node.position) if node.head is None else (slice(None), node.position, node.head)
            activation[site] = mean[site[1:]]
            return activation

        return put_mean


def _hook_name(node: Node) -> str:
    return f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}"


def _best_rates(
    sides: Sequence[Callable[[], NDArray[np.int8]]], count: int
) -> tuple[list[float], list[NDArray[np.int8]]]:
    rates, tokens = [0.0] * len(sides), [np.empty(0, dtype=np.int8)] * len(sides)
    for _ in range(_ROUNDS):
        for at, side in enumerate(sides):
            started = perf_counter()
            tokens[at] = side()
            rates[at] = max(rates[at], count / (perf_counter() - started))
    return rates, tokens


def _seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started
