"""Variants of the paper's recipe: what one trained model each may say of them, and what it may not."""

from __future__ import annotations

import pytest

from carrylens.arithmetic.family.table import FamilyTable
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.claim import Agreement
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.paper.saved_models import SavedModel
from carrylens.arithmetic.paper.variant_answers import (
    MORE_HEADS,
    ONE_LAYER,
    answer_more_hard,
    answer_more_heads,
    answer_unsigned,
)

ASKED = 100_000
RUN = {"kind": "compact", "stream": "enriched"}


def trained(name: str, failed: int, *, meets: bool = False, enriched: int | None = None, **run: str) -> SavedModel:
    counts = {"natural": failed, "enriched": failed if enriched is None else enriched}
    parts = [{"name": part, "operation": "add", "asked": ASKED, "failed": n} for part, n in counts.items()]
    return SavedModel(ModelName.parse(name), {"parts": parts}, meets, RUN | run, {"loss": 0.1}, "0")


def evidence_of(*models: SavedModel, variants: tuple[SavedModel, ...] = ()) -> PaperEvidence:
    return PaperEvidence(FamilyTable((), (), {}), {str(each.name): each for each in models}, (), {}, variants)


@pytest.mark.parametrize(
    ("with_more_heads", "word"),
    [
        (trained(MORE_HEADS[0], 1000), Agreement.AGREES),
        (trained(MORE_HEADS[0], 240, enriched=5000), Agreement.AGREES),
        (trained(MORE_HEADS[0], 240), Agreement.OPEN),
        (trained(MORE_HEADS[0], 0, meets=True), Agreement.DIFFERS),
    ],
)
def test_fewer_failures_of_one_seed_neither_agree_nor_differ(with_more_heads: SavedModel, word: Agreement) -> None:
    beside = trained(ONE_LAYER, 970), trained(MORE_HEADS[1], 1000)
    assert answer_more_heads(evidence_of(*beside, with_more_heads)).word is word
    assert answer_more_heads(evidence_of(*beside)).word is Agreement.MISSING


def test_a_variant_stands_beside_the_usual_form_only_if_both_are_tested() -> None:
    five = "add_d5_l2_h3_w96_t2K_s1"
    usual, unsigned = trained(five, 0, meets=True), trained(five, 0, meets=True, layout="unsigned")
    assert answer_unsigned(evidence_of(usual)).word is Agreement.MISSING
    assert answer_unsigned(evidence_of(usual, variants=(unsigned,))).word is Agreement.AGREES
    worse = trained(five, 90_000, layout="unsigned")
    assert answer_unsigned(evidence_of(usual, variants=(worse,))).word is Agreement.DIFFERS


def test_training_without_hard_questions_is_worse_only_if_surely_so() -> None:
    usual = trained(ONE_LAYER, 970)
    for failed, word in ((970, Agreement.AGREES), (40_000, Agreement.DIFFERS)):
        plain = trained(ONE_LAYER, failed, stream="natural")
        assert answer_more_hard(evidence_of(usual, variants=(plain,))).word is word
