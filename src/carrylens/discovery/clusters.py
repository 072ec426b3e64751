"""Clusters: does what a node writes fall into the classes of a tri-state variable?

Takes  a model, nodes and the variable: ST for additions, MB for subtractions.
Gives  `Clusters`: how well the classes lie apart in the write's first two principal components, beside shuffled labels.
Never  sees the labels when it finds the components, and never passes because there merely are clusters.

1. Draw questions with as many of each class of the variable; all other columns are free.
2. Take the node's write for each, and its first two principal components.
3. Measure the silhouette of the classes there, and the same with the labels shuffled.
NB has the classes of MB with 0 and 1 changed round, so it would lie apart just as well: that is one test, not two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import algorithm, answers
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.timeline import first_computable
from carrylens.arithmetic.tokens import encode
from carrylens.arithmetic.variables import Variable
from carrylens.discovery.attention import operations_of
from carrylens.discovery.behaviours import Clusters
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node

Points = NDArray[np.float64]
Labels = NDArray[np.int64]

_TRI_STATE = {Operation.ADD: "ST", Operation.SUB: "MB"}
_STILL = 1e-9  # a write whose spread is below that share of its size does not vary


def class_variables(operation: Operation, digits: int) -> list[Variable]:
    """The variables whose classes are looked for.

    >>> [str(variable) for variable in class_variables(Operation.MIX, 2)]
    ['ST[0]', 'ST[1]', 'MB[0]', 'MB[1]']
    """
    return [Variable(_TRI_STATE[each], k) for each in operations_of(operation) for k in range(digits)]


def balanced_questions(variable: Variable, digits: int, per_class: int, seed: int) -> tuple[Questions, Labels]:
    """`per_class` questions of each class of the variable, and their classes."""
    operation = Operation.ADD if variable.name == "ST" else Operation.SUB
    first, second = (side.ravel().astype(np.int8) for side in np.meshgrid(np.arange(10), np.arange(10)))
    rule = algorithm(operation, digits).by_variable[variable].rule
    classes = np.asarray(rule(first, second))
    random = np.random.default_rng([seed, 3, variable.digit or 0])
    labels = np.repeat(np.array(variable.values), per_class)
    columns = np.concatenate([random.choice(np.flatnonzero(classes == value), per_class) for value in variable.values])
    digits_of = random.integers(0, 10, (2, len(labels), digits), dtype=np.int8)
    digits_of[:, :, variable.digit] = first[columns], second[columns]
    minus = np.full(len(labels), operation is Operation.SUB)
    return Questions(digits_of[0], digits_of[1], minus), labels


def measure_clusters(
    model: Transformer, variable: Variable, nodes: Sequence[Node], per_class: int, n_shuffles: int, seed: int
) -> dict[Node, Clusters]:
    """For each node that could know the variable, how well its write falls into the classes."""
    digits = digits_of(model.config)
    operation = Operation.ADD if variable.name == "ST" else Operation.SUB
    first = first_computable(algorithm(operation, digits), variable)
    able = [node for node in nodes if node.position >= first]
    questions, labels = balanced_questions(variable, digits, per_class, seed)
    shuffled = _shuffles(labels, n_shuffles, seed)
    found = {}
    for node, write in _writes(model, questions, able):
        quality = silhouettes(principal_components(write), shuffled)
        p = float((quality >= quality[0]).mean())
        found[node] = Clusters(
            variable, float(quality[0]), float(quality[1:].max()), p, len(labels), len(variable.values)
        )
    return found


def cluster_points(
    model: Transformer, variable: Variable, nodes: Sequence[Node], per_class: int, seed: int
) -> dict[Node, tuple[Points, Labels]]:
    """For each node the points that its clusters were measured on, and the class of each, to be drawn."""
    questions, labels = balanced_questions(variable, digits_of(model.config), per_class, seed)
    return {node: (principal_components(write), labels) for node, write in _writes(model, questions, nodes)}


def principal_components(write: Points) -> Points:
    """The first two principal components of each row, or zeros where the rows do not vary."""
    centred = write - write.mean(0)
    if np.abs(centred).max() <= _STILL * max(1.0, float(np.abs(write).max())):
        return np.zeros((len(write), 2))
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(left[:, :2] * size[:2])


def silhouettes(points: Points, labellings: Labels) -> NDArray[np.float64]:
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


def _shuffles(labels: Labels, count: int, seed: int) -> Labels:
    # The labels as they are, then shuffled.
    random = np.random.default_rng([seed, 4])
    return np.stack([labels, *(random.permutation(labels) for _ in range(count))])


@torch.inference_mode()
def _writes(model: Transformer, questions: Questions, nodes: Sequence[Node]) -> Iterator[tuple[Node, Points]]:
    ids = torch.from_numpy(encode(questions, answers(questions))).to(next(model.parameters()).device)
    for layer in range(model.config.n_layers):
        here = [node for node in nodes if node.layer == layer]
        if not here:
            continue
        names = [f"blocks.{layer}.attn.hook_result", f"blocks.{layer}.hook_mlp_out"]
        _, cache = model.run_with_cache(ids, names)
        heads, mlp = (cache[name].double().cpu().numpy() for name in names)
        for node in here:
            yield node, mlp[:, node.position] if node.head is None else heads[:, node.position, node.head]
