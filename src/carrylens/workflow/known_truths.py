"""Known truths: what a map found of a model whose truth is saved beside it.

Takes  a model that was found, its map.
Gives  the score of the map, and the sentence that says it.
Never  lets the truth reach what measures: it is read after the map is there.
"""

from __future__ import annotations

from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.zoo.model_facts import TRUTH
from carrylens.benchmark.carrylens_map import as_found
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.saved_truth import truth_from_json
from carrylens.benchmark.scores import CircuitScore, score_roles
from carrylens.discovery.node_map import NodeMap
from carrylens.errors import CarryLensError
from carrylens.model.source import ModelSource
from carrylens.steps import read_made
from carrylens.tasks.fingerprint import fingerprint


def truth_of(source: ModelSource) -> KnownTruth | None:
    """The truth that is saved beside a planted model, or one that was trained under an alignment."""
    content = None if source.folder is None else read_made(source.folder, TRUTH, "carrylens plant")
    if content is None or source.folder is None:
        return None
    where = str(source.folder / TRUTH)
    try:
        return known_truth(Truth.from_json(content, source=where))
    except CarryLensError:  # not planted: trained under an alignment
        return truth_from_json(content, where)


def score_map(truth: KnownTruth, found: NodeMap) -> CircuitScore:
    """How well a map fits the truth, up to variables that no question can tell apart."""
    groups = [group.nodes for group in found.groups if group.variable in found.causal.by_variable]
    return score_roles(truth, found.causal, as_found(found.roles, groups))


def beside_truth(source: ModelSource, found: NodeMap) -> str:
    """Found against true in a sentence; empty where the truth is not known, or known of other variables."""
    truth = truth_of(source)
    if truth is None or fingerprint(found.causal) != found.task.fingerprint:
        return ""
    return score_sentence(score_map(truth, found))


def score_sentence(score: CircuitScore) -> str:
    """The score in a sentence."""
    roles, nodes = score.roles, score.nodes
    wrong = f" Not true: {', '.join(score.wrong[:5])}{', ...' if len(score.wrong) > 5 else ''}." if score.wrong else ""
    missed = (
        f" Missed: {', '.join(score.missed[:5])}{', ...' if len(score.missed) > 5 else ''}." if score.missed else ""
    )
    return (
        f"The truth about this model is known. Of {roles.n_true} true roles the map has {roles.n_both}; "
        f"{roles.n_found - roles.n_both} of the {roles.n_found} it has are not true. Of {nodes.n_true} nodes that "
        f"carry something it names {nodes.n_both}.{wrong}{missed}"
    )
