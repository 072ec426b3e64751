"""Acceptance: from a trained model and its alignment to a folder that says what is true of it.

Takes  the plan and the folder of a run that came to its end.
Gives  `aligned.json`, `acceptance.json`, a card, and, if the model was accepted, `truth.json`.
Never  calls true what was not accepted.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from carrylens.arithmetic.aligned.plans import held_out, other_algorithms
from carrylens.arithmetic.aligned.truth import aligned_truth
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.benchmark.saved_truth import truth_to_json
from carrylens.folders import MANIFEST, add_sealed
from carrylens.model.folder import load_model
from carrylens.report.aligned_card import aligned_card
from carrylens.training.acceptance import Acceptance, measure_acceptance
from carrylens.training.interchange import nodes_of
from carrylens.training.plan import TrainingPlan

ALIGNED, ACCEPTANCE, TRUTH, CARD = "aligned.json", "acceptance.json", "truth.json", "README.md"


def is_unaccepted(folder: Path) -> bool:
    """Whether a model is trained to its end there, and was not asked yet whether its alignment holds."""
    return (folder / MANIFEST).exists() and not (folder / ACCEPTANCE).exists()


def accept_model(plan: TrainingPlan, folder: Path, count: int | None = None) -> Acceptance:
    """Ask the trained model, and write into its folder what came out."""
    how, task = plan.interchange, plan.task
    assert how is not None
    assert isinstance(task, ArithmeticTask)
    model = load_model(folder)
    model.task = task
    asked = held_out(task) if count is None else held_out(task, count)
    found = measure_acceptance(model, how, asked, other_algorithms(plan))
    contents = {
        ALIGNED: how.alignment.to_json().encode(),
        ACCEPTANCE: msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n",
        CARD: aligned_card(plan, found).encode(),
    }
    if found.accepted:
        contents[TRUTH] = truth_to_json(aligned_truth(how.alignment, how.causal, nodes_of(plan.config)))
    add_sealed(folder, contents)
    return found
