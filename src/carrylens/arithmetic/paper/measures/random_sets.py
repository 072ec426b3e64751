"""Random sets: sets of nodes as the paper draws them, from all nodes, whatever their layer and place.

Takes  a model with its map.
Gives  answers kept by as many random nodes as the map has useful ones; answers with random nodes added to those.
Never  counts a question that the model, untouched, does not answer; each has a random set of its own.

What is left out writes its mean, or its value for another question, over questions of all branches alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.useful_nodes import find_useful_nodes
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.natural_questions import natural_questions, reference_questions
from carrylens.arithmetic.paper.measurements import LabelledRate
from carrylens.arithmetic.paper.measures.measure import PaperMeasure, Rates
from carrylens.arithmetic.questions import Questions
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill, keep_only
from carrylens.tasks.batches import joined

_QUESTIONS = 512
_FILLS = (Fill.MEAN, Fill.RESAMPLE)
KEPT = "nodes kept of all"
ADDED = (0, 5, 10, 20, 40, 80)
"""How many random nodes are added to the map's."""
_SIZED = ("add_d5_l2_h3_w96_t2K_s1", "mix_d6_l3_h4_w96_t4K_s1", "mix_d8_l3_h4_w96_t5K_s1")
_GROWN = ("mix_d6_l3_h4_w96_t4K_s1", "mix_d8_l3_h4_w96_t5K_s1", "ins1_mix_d6_l3_h4_w96_t6K_s1")


def kept_label(branch: Branch, fill: Fill) -> str:
    """What the rate of kept answers is called."""
    return f"{branch.value}, {fill.value}"


def added_label(branch: Branch, fill: Fill, n: int) -> str:
    """What the rate with some random nodes more is called."""
    return f"{branch.value}, {fill.value}, {n} more"


def _sized(context: ExperimentContext) -> Rates:
    # The map's nodes beside as many random ones.
    kept = tuple(sorted(find_useful_nodes(context).nodes))
    found = [LabelledRate(KEPT, Rate(len(kept), len(context.subject.nodes)))]
    for branch, asked, reference in _branches(context, "random sets"):
        random = np.random.default_rng(context.settings.seed_of("random sets", branch.value, "draw"))
        drawn = [_some(context.subject.nodes, len(kept), random) for _ in range(len(asked))]
        for fill in _FILLS:
            mapped, null = (_right(context, sets, asked, reference, fill) for sets in ([kept] * len(asked), drawn))
            found.append(LabelledRate(kept_label(branch, fill), hit_rate(mapped), hit_rate(null)))
    return found


def _grown(context: ExperimentContext) -> Rates:
    # The map's nodes and random others; the null are the map's alone.
    subject = context.subject
    kept = tuple(sorted(find_useful_nodes(context).nodes))
    equals = subject.position("=")
    read = [node for node in subject.nodes if node.layer < subject.last_layer or node.position >= equals]
    others = tuple(node for node in read if node not in kept)
    found = []
    for branch, asked, reference in _branches(context, "random additions"):
        random = np.random.default_rng(context.settings.seed_of("random additions", branch.value, "draw"))
        for fill in _FILLS:
            alone = _right(context, [kept] * len(asked), asked, reference, fill)
            for n in ADDED:
                drawn = [(*kept, *_some(others, min(n, len(others)), random)) for _ in range(len(asked))]
                right = _right(context, drawn, asked, reference, fill) if n else alone
                found.append(LabelledRate(added_label(branch, fill, n), hit_rate(right), hit_rate(alone)))
    return found


def _branches(context: ExperimentContext, word: str) -> Iterator[tuple[Branch, Questions, Questions]]:
    subject, settings = context.subject, context.settings
    reference = reference_questions(subject, settings.n_reference, settings.seed_of(word, "reference"))
    for branch in branches_of(subject.operation):
        asked = natural_questions(branch, subject.digits, _QUESTIONS, settings.seed_of(word, branch.value))
        yield branch, asked[subject.right(asked)], reference


def _some(among: Nodes, n: int, random: np.random.Generator) -> Nodes:
    return tuple(among[int(at)] for at in random.permutation(len(among))[:n])


def _right(
    context: ExperimentContext, sets: Sequence[Nodes], asked: Questions, reference: Questions, fill: Fill
) -> NDArray[np.bool_]:
    edits = [keep_only(nodes, fill) for nodes in sets]
    return ~context.subject.engine.run_each(edits, joined([asked]), reference=reference).failed


RANDOM_SETS = PaperMeasure("random-sets", lambda name: str(name) in _SIZED, _sized, {"questions": _QUESTIONS})
RANDOM_ADDITIONS = PaperMeasure("random-additions", lambda name: str(name) in _GROWN, _grown, {"questions": _QUESTIONS})
