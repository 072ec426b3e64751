"""Likeness: do models of known truth look like freely trained ones?

Takes  a model with its task and the algorithm that it is supposed to run.
Gives  how sharply its nodes carry variables, and how much noise on its weights it stands.
Never  uses the truth, so that a model without one is measured in the same way.

1. Hit rates: for every node, every variable that it could know, and every output, the share of interchanges that should
   change the output and make it what the algorithm says. The highest of a node counts, if the node carries anything.
2. Noise tolerance: every weight is multiplied by 1 plus Gaussian noise. The tolerance is the strongest noise, of a
   ladder, up to which nearly all answers stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import torch

from carrylens.benchmark.candidates import can_know, candidate_variables
from carrylens.benchmark.known_models import KnownModel
from carrylens.benchmark.method_interface import Given
from carrylens.benchmark.saved_results import SavedResults
from carrylens.benchmark.source_hash import source_hash
from carrylens.errors import CarryLensError
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.interventions.keys import digest_of
from carrylens.model.answer_pass import answer_logits
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.progress import Progress, silent
from carrylens.tasks.pairs import interchange_pairs
from carrylens.training.acceptance import noisy_twin

NOISES = tuple(10.0 ** (step / 2) for step in range(-11, 1))
"""Standard deviations of the noise that weights are multiplied with, from 3e-6 to 1."""
LEAST_HIT, LEAST_KEPT = 0.2, 0.99
"""A node with a lower hit rate carries nothing; noise is stood that leaves so many answers as they were."""
_PAIRS, _LEAST_DUE = 32, 6
_ANSWERS = 400


class Likeness(msgspec.Struct, frozen=True):
    """What was measured of one model: a hit rate for each node that carries something, and the share of answers kept
    under each of `NOISES`.
    """

    sort: str
    name: str
    hits: list[float]
    kept: list[float]

    @property
    def tolerance(self) -> float:
        """The strongest noise up to which nearly all answers stay; 0 if even the weakest changes them."""
        stood = [share >= LEAST_KEPT for share in self.kept]
        n_stood = stood.index(False) if False in stood else len(stood)
        return NOISES[n_stood - 1] if n_stood else 0.0


@dataclass(frozen=True, eq=False)
class LikenessModel:
    """A model to measure: of which sort it is, and how it is built."""

    sort: str
    name: str
    build: Callable[[], KnownModel]


def likenesses(
    models: Sequence[LikenessModel], results: SavedResults, progress: Progress = silent, seed: int = 0
) -> list[Likeness]:
    """What is measured of each model, or was saved of it."""
    found = []
    for at, each in enumerate(models):
        progress(each.name, at, len(models))
        known = each.build()
        about: dict[str, object] = {
            "model": digest_of(known.model).hex(),
            "seed": seed,
            "pairs": _PAIRS,
            "answers": _ANSWERS,
        }
        about["code"] = source_hash(__name__)

        def compute(known: KnownModel = known) -> dict[str, object]:
            given = Given(known.model, known.task, known.causal, seed=seed)
            return {"hits": list(hit_rates(given).values()), "kept": [kept_under(given, noise) for noise in NOISES]}

        saved = results.once(f"likeness/{each.name}", about, compute)
        found.append(Likeness(each.sort, each.name, saved["hits"], saved["kept"]))
    return found


def hit_rates(given: Given) -> dict[Node, float]:
    """For every node that carries something, the highest share of outputs that it moves as the algorithm says."""
    best: dict[Node, float] = {}
    with Engine(given.model, given.task) as engine:
        for variable in candidate_variables(given.causal):
            nodes = [node for node in given.nodes if can_know(given, node, variable)]
            try:
                pairs = interchange_pairs(given.causal, variable, _PAIRS, given.seed)
            except CarryLensError:  # a variable whose value no question can show
                continue
            wanted = given.task.output_ids(pairs.base, pairs.counterfactual())
            due = wanted != given.task.output_ids(pairs.base)
            told = due.sum(0) >= _LEAST_DUE
            if not nodes or not told.any():
                continue
            outcomes = engine.run([interchange([node]) for node in nodes], pairs.base, pairs.source)
            hits = (np.asarray(outcomes.tokens == wanted) & due).sum(1)[:, told] / due.sum(0)[told]
            for node, hit in zip(nodes, hits.max(1), strict=True):
                best[node] = max(best.get(node, 0.0), float(hit))
    return {node: round(hit, 4) for node, hit in best.items() if hit >= LEAST_HIT}


@torch.inference_mode()
def kept_under(given: Given, noise: float) -> float:
    """The share of answers that a noisy twin gives as the model does."""
    ids = torch.from_numpy(given.task.token_ids(given.draw(_ANSWERS)))

    def answers(model: Transformer) -> torch.Tensor:
        return answer_logits(model, ids).argmax(-1)

    same = answers(given.model) == answers(noisy_twin(given.model, noise, given.seed))
    return round(float(same.all(1).float().mean()), 4)
