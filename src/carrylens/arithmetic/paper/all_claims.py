"""All claims of the paper, in its order, and their answers.

Takes  saved evidence.
Gives  every claim with its answer, and the rows of its tables of models with ours.
Never  leaves a claim out because ours is worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carrylens.arithmetic.paper.appendix_claims import (
    CLOSING_CLAIMS,
    HYPOTHESIS_CLAIMS,
    SUBTRACTION_CLAIMS,
    TABLE_CLAIMS,
    TECHNIQUE_CLAIMS,
)
from carrylens.arithmetic.paper.carry_claims import CARRY_CLAIMS, MIXED_CLAIMS
from carrylens.arithmetic.paper.circuit_claims import CIRCUIT_CLAIMS, SUFFICIENCY_CLAIMS
from carrylens.arithmetic.paper.claim import PaperAnswer, PaperClaim
from carrylens.arithmetic.paper.method_claims import DATA_CLAIMS, METHOD_CLAIMS, TERM_CLAIMS
from carrylens.arithmetic.paper.opening_claims import OPENING_CLAIMS
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.paper.saved_models import SavedModel
from carrylens.arithmetic.paper.training_claims import (
    DETAIL_CLAIMS,
    INSERTION_CLAIMS,
    SEED_CLAIMS,
    TRAINING_CLAIMS,
)

PAPER_SECTIONS: tuple[tuple[str, tuple[PaperClaim, ...]], ...] = (
    ("Abstract, introduction and related work", OPENING_CLAIMS),
    ("3: the algorithms", METHOD_CLAIMS),
    ("4.1: training", TRAINING_CLAIMS),
    ("4.2.1: one circuit in every model", CIRCUIT_CLAIMS),
    ("4.2.1: sufficiency", SUFFICIENCY_CLAIMS),
    ("4.2.2: the resolved carry", CARRY_CLAIMS),
    ("4.2.3: mixed models", MIXED_CLAIMS),
    ("5: conclusion, and limitations", CLOSING_CLAIMS),
    ("Appendix A: terms", TERM_CLAIMS),
    ("Appendix B: training data", DATA_CLAIMS),
    ("Appendix C: training details and variants", DETAIL_CLAIMS),
    ("Appendix D: techniques", TECHNIQUE_CLAIMS),
    ("Appendix E: models and maps", TABLE_CLAIMS),
    ("Appendix F: insertion", INSERTION_CLAIMS),
    ("Appendix G: seeds", SEED_CLAIMS),
    ("Appendix H: subtraction", SUBTRACTION_CLAIMS),
    ("Appendix I: Hypothesis 3", HYPOTHESIS_CLAIMS),
)


def answered(evidence: PaperEvidence) -> list[tuple[str, list[tuple[PaperClaim, PaperAnswer]]]]:
    """Every section with its claims and their answers."""
    return [(title, [(claim, claim.answer(evidence)) for claim in claims]) for title, claims in PAPER_SECTIONS]


def model_rows(evidence: PaperEvidence) -> Iterator[dict[str, Any]]:
    """Every row of the paper's tables of models, with what is known of ours: None where it is not there."""
    for row, model in evidence.of_rows:
        line = evidence.published[str(row.paper)]
        yield {
            "paper": row.paper,
            "paper_failures": {name: int(line[name]) for name in ("add", "sub") if line[name]},
            "paper_loss": float(line["loss"]),
            "paper_nodes": [int(line["heads"]), int(line["mlps"])],
            "model": row.model,
            "failures": None if model is None else _failures(model),
            "meets_bar": None if model is None else model.meets_bar,
            "loss": None if model is None else model.last.get("loss"),
            "nodes": _used(evidence, row.model),
        }


def _failures(model: SavedModel) -> dict[str, list[int]]:
    return {part["operation"]: [part["failed"], part["asked"]] for part in model.parts("natural")}


def _used(evidence: PaperEvidence, name: str) -> list[int] | None:
    member = evidence.member(name)
    if member is None or member.map is None:
        return None
    useful = [node.node for node in member.map.nodes if node.is_useful]
    heads = sum(node.head is not None for node in useful)
    return [heads, len(useful) - heads]
