"""Clusters: does what a node writes fall into the classes of a variable?

Takes  a model, its task, nodes and a variable that a condition names: ST for additions, MB for subtractions.
Gives  `Clusters`: how well the classes lie apart in the write's first two principal components, beside shuffled labels.
Never  sees the labels when it finds the components, and never passes because there merely are clusters.

1. Draw questions with as many of each class of the variable; all other inputs are free.
2. Take the node's write for each, and its first two principal components.
3. Measure the silhouette of the classes there, and the same with the labels shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.discovery.behaviours import Clusters
from carrylens.discovery.singular_values import singular_values
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch
from carrylens.tasks.grid import grid_of
from carrylens.tasks.task import Condition, Task
from carrylens.tasks.timeline import first_computable, parent_combinations
from carrylens.tasks.variables import Variable

Points = NDArray[np.float64]
ClassLabels = NDArray[np.int64]

_STILL = 1e-9  # a write whose spread is below that share of its size does not vary


def clustered_variables(task: Task) -> list[tuple[Condition, Variable]]:
    """The variables whose classes are looked for, each with the condition it is looked for under."""
    found = []
    for condition in task.watched:
        for name in condition.clustered:
            some = sorted((each for each in task.causal.by_variable if each.name == name), key=lambda v: v.index or 0)
            found += [(condition, variable) for variable in some]
    return found


def balanced_questions(
    task: Task, condition: Condition, variable: Variable, per_class: int, seed: int
) -> tuple[Batch, ClassLabels]:
    """`per_class` questions of each class of the variable, and their classes."""
    causal, grid = task.causal, grid_of(task.causal)
    mechanism = causal.by_variable[variable]
    combinations = parent_combinations(causal, mechanism)
    combinations = combinations[np.lexsort(combinations.T)]  # the first parent goes round fastest
    classes = np.asarray(mechanism.rule(*combinations.T))
    random = np.random.default_rng([seed, 3, variable.index or 0])
    values = causal.values_of(variable)
    labels = np.repeat(np.array(values), per_class)
    rows = np.concatenate([random.choice(np.flatnonzero(classes == value), per_class) for value in values])
    given = dict(condition.given)
    blank = np.stack([np.full(len(labels), given.get(each, 0), dtype=np.int8) for each in causal.inputs], axis=1)
    questions = condition.population.draw(seed, 0, 0).with_values(np.asfortranarray(blank))
    drawn = grid.with_cells(questions, grid.draw_together(random, len(labels)))
    chosen = np.array(drawn.values, order="F")
    for at, parent in enumerate(mechanism.parents):
        chosen[:, drawn.place_of[parent]] = combinations[rows, at]
    return drawn.with_values(chosen), labels


def measure_clusters(
    model: Transformer,
    task: Task,
    watched: tuple[Condition, Variable],
    nodes: Sequence[Node],
    per_class: int,
    n_shuffles: int,
    seed: int,
) -> dict[Node, Clusters]:
    """For each node that could know the variable, how well its write falls into the classes."""
    variable = watched[1]
    first = first_computable(task.causal, task.layout, variable)
    able = [node for node in nodes if node.position >= first]
    questions, labels = balanced_questions(task, *watched, per_class, seed)
    shuffled = _shuffles(labels, n_shuffles, seed)
    found = {}
    for node, write in _writes(model, task, questions, able):
        quality = silhouettes(principal_components(write), shuffled)
        p = float((quality >= quality[0]).mean())
        n_classes = len(task.causal.values_of(variable))
        found[node] = Clusters(variable, float(quality[0]), float(quality[1:].max()), p, len(labels), n_classes)
    return found


def cluster_points(
    model: Transformer, task: Task, variable: Variable, nodes: Sequence[Node], per_class: int, seed: int
) -> dict[Node, tuple[Points, ClassLabels]]:
    """For each node the points that its clusters were measured on, and the class of each, to be drawn."""
    condition = next(condition for condition, each in clustered_variables(task) if each == variable)
    questions, labels = balanced_questions(task, condition, variable, per_class, seed)
    return {node: (principal_components(write), labels) for node, write in _writes(model, task, questions, nodes)}


def principal_components(write: Points) -> Points:
    """The first two principal components of each row, or zeros where the rows do not vary."""
    centred = write - write.mean(0)
    if np.abs(centred).max() <= _STILL * max(1.0, float(np.abs(write).max())):
        return np.zeros((len(write), 2))
    left, size, _ = singular_values(centred)
    return np.asarray(left[:, :2] * size[:2])


def silhouettes(points: Points, labellings: ClassLabels) -> NDArray[np.float64]:
    """The mean silhouette of the points under each labelling; all labellings have the same number of each label.

    A point's silhouette is (b-a)/max(a, b): a is its mean distance to its own class, b to the nearest other class.
    """
    values = np.unique(labellings[0])
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1)
    member = (labellings[:, :, None] == values).astype(np.float64)  # [labelling, point, class]
    counts = member[0].sum(0)
    sums = np.einsum("ij,sjc->sic", distance, member, optimize=True)
    own = (sums * member).sum(-1) / (member * (counts - 1)).sum(-1)
    nearest = np.where(member > 0, np.inf, sums / counts).min(-1)
    larger = np.maximum(own, nearest)
    return np.asarray(np.where(larger > 0, (nearest - own) / np.where(larger > 0, larger, 1.0), 0.0).mean(-1))


def _shuffles(labels: ClassLabels, count: int, seed: int) -> ClassLabels:
    # The labels as they are, then shuffled.
    random = np.random.default_rng([seed, 4])
    return np.stack([labels, *(random.permutation(labels) for _ in range(count))])


@torch.inference_mode()
def _writes(model: Transformer, task: Task, questions: Batch, nodes: Sequence[Node]) -> Iterator[tuple[Node, Points]]:
    ids = torch.from_numpy(task.token_ids(questions)).to(next(model.parameters()).device)
    for layer in range(model.config.n_layers):
        here = [node for node in nodes if node.layer == layer]
        if not here:
            continue
        of_heads, of_mlp = f"blocks.{layer}.attn.hook_result", f"blocks.{layer}.hook_mlp_out"
        _, cache = model.run_with_cache(ids, [of_heads, of_mlp] if model.config.d_mlp else [of_heads])
        writes = {name: cache[name].double().cpu().numpy() for name in cache}
        for node in here:
            at = (slice(None), node.position)
            yield node, writes[of_mlp][at] if node.head is None else writes[of_heads][*at, node.head]
