"""All claims of the paper, in its order, and their answers.

Takes  saved evidence.
Gives  every claim with its answer, and the rows of its tables of models with ours.
Never  leaves a claim out because ours is worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carrylens.arithmetic.paper.algorithm_claims import ALGORITHM_CLAIMS, DATA_CLAIMS
from carrylens.arithmetic.paper.causal_claims import CAUSAL_CLAIMS, VARIANT_CLAIMS
from carrylens.arithmetic.paper.circuit_claims import CIRCUIT_CLAIMS, MAP_CLAIMS
from carrylens.arithmetic.paper.claim import PaperAnswer, PaperClaim
from carrylens.arithmetic.paper.model_claims import MODEL_CLAIMS, TABLE_CLAIMS
from carrylens.arithmetic.paper.saved import PaperEvidence, SavedModel

PAPER_SECTIONS: tuple[tuple[str, tuple[PaperClaim, ...]], ...] = (
    ("The models and their training", MODEL_CLAIMS),
    ("The algorithms", ALGORITHM_CLAIMS),
    ("One circuit in every model", CIRCUIT_CLAIMS),
    ("Sufficiency, the resolved carry, mixed models", CAUSAL_CLAIMS),
    ("Appendix: training data", DATA_CLAIMS),
    ("Appendix: training details and variants", VARIANT_CLAIMS),
    ("Conclusion, and the tables of models", TABLE_CLAIMS),
    ("Appendix: maps, subtraction, Hypothesis 3", MAP_CLAIMS),
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
