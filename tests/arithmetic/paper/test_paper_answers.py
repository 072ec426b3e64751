"""The paper's claims are answered from what was saved, and with nothing saved nothing is said to be found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from carrylens.arithmetic.battery.findings import ChosenWord, ExperimentFinding, Number, Unsettled
from carrylens.arithmetic.battery.registry import experiments_called
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.rows import read_rows
from carrylens.arithmetic.family.table import FamilyTable
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.algorithm_answers import answer_hypothesis_program, answer_sound
from carrylens.arithmetic.paper.all_claims import PAPER_SECTIONS, answered, model_rows
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer
from carrylens.arithmetic.paper.method_claims import DATA_CLAIMS, METHOD_CLAIMS, TERM_CLAIMS
from carrylens.arithmetic.paper.readers import in_every, in_some, with_digits
from carrylens.arithmetic.paper.saved import PaperEvidence, question_of
from carrylens.arithmetic.paper.table_answers import answer_shares
from carrylens.arithmetic.zoo.failure_table import published_lines
from carrylens.report.terminal.paper import paper_html, paper_lines, paper_page

OF_THE_ALGORITHMS = (answer_sound, answer_hypothesis_program, answer_shares)
WITHOUT_MODELS = {
    *(claim.says for claim in (*METHOD_CLAIMS, *TERM_CLAIMS, *DATA_CLAIMS)),
    *(claim.says for _, some in PAPER_SECTIONS for claim in some if claim.answer in OF_THE_ALGORITHMS),
}


@pytest.fixture(scope="module")
def nothing() -> PaperEvidence:
    return PaperEvidence(FamilyTable((), (), {}), {}, read_rows("paper"), published_lines())


class _Told(PaperEvidence):
    """Evidence in which each of some additions gave one answer."""

    def __init__(self, *values: object) -> None:
        self.values = values

    def findings(self, experiment: str, question: str) -> Iterator[tuple[Member, ExperimentFinding | None]]:
        asked = question_of(experiments_called(experiment)[0], question)
        for digits, value in enumerate(self.values, 5):
            name = ModelName.parse(f"add_d{digits}_l2_h3_w96_t2K_s1")
            member = Member(str(name), name, True, {})
            yield member, None if value is None else ExperimentFinding(replace(asked, words=()), cast(Number, value), 7)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([ChosenWord("yes")] * 3, Agreement.AGREES),
        ([ChosenWord("yes"), ChosenWord("yes"), Unsettled.OPEN], Agreement.AGREES),
        ([ChosenWord("yes"), Unsettled.OPEN], Agreement.OPEN),
        ([ChosenWord("yes"), ChosenWord("yes"), ChosenWord("no")], Agreement.DIFFERS),
        ([None, None], Agreement.MISSING),
    ],
)
def test_a_claim_about_every_model_stands_only_if_none_contradicts_and_most_are_told(
    values: list[object], word: Agreement
) -> None:
    assert in_every("paths", "delivered-by-layer-heads", "yes")(_Told(*values)).word is word


def test_a_claim_that_models_vary_needs_two_that_differ() -> None:
    read = in_some("paths", "delivered-by-layer-heads")
    assert read(_Told(ChosenWord("yes"), ChosenWord("no"))).word is Agreement.AGREES
    assert read(_Told(ChosenWord("yes"), ChosenWord("yes"))).word is Agreement.DIFFERS


def test_a_trend_is_told_only_where_it_is_sure() -> None:
    read = with_digits("necessity", "gap-deliver")
    rising, flat = (0.1, 0.21, 0.29, 0.41, 0.5), (0.1, 0.3, 0.1, 0.3, 0.1)
    assert read(_Told(*map(Number, rising))).word is Agreement.AGREES
    assert read(_Told(*map(Number, reversed(rising)))).word is Agreement.DIFFERS
    assert read(_Told(*map(Number, flat))).word is Agreement.OPEN
    assert read(_Told(Number(0.1))).word is Agreement.MISSING


def test_with_nothing_saved_nothing_of_ours_agrees(nothing: PaperEvidence) -> None:
    about_itself = (Agreement.MISSING, Agreement.APART, Agreement.SHOWN)
    for _, claims in answered(nothing):
        for claim, answer in claims:
            if claim.says not in WITHOUT_MODELS and "its" not in answer.ours and answer.n not in (46, 9):
                assert answer.word in about_itself or not answer.n, claim.says
    assert all(row["failures"] is None for row in model_rows(nothing))


def test_the_algorithms_are_answered_without_a_model(nothing: PaperEvidence) -> None:
    claims = [claim for _, some in PAPER_SECTIONS for claim in some if claim.says in WITHOUT_MODELS]
    answers = {claim.says: claim.answer(nothing) for claim in claims}
    assert len(answers) == len(WITHOUT_MODELS)
    assert answer_sound(nothing).word is Agreement.AGREES
    for shown, word in (
        (r"325-129=\+196", Agreement.AGREES),
        ("NB is 1", Agreement.DIFFERS),
        ("sums$", Agreement.DIFFERS),
    ):
        assert [answer.word for says, answer in answers.items() if re.search(shown, says)] == [word], shown


def test_every_claim_stands_on_every_form_of_the_page(nothing: PaperEvidence) -> None:
    sections, rows = answered(nothing), list(model_rows(nothing))
    page, browser = paper_page(sections, rows), paper_html(sections, rows)
    for _, claims in PAPER_SECTIONS:
        for claim in claims:
            assert claim.says.replace("|", "\\|") in page
    assert browser.count("<tr>") >= sum(len(claims) for _, claims in PAPER_SECTIONS) + 46
    assert "<script" not in browser
    assert paper_lines(sections)
    for _, pairs in sections:
        json.dumps([claim.record(answer) for claim, answer in pairs])


def test_what_is_not_compared_says_why() -> None:
    with pytest.raises(AssertionError):
        PaperAnswer(Agreement.APART, "")
