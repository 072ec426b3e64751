"""Listings: what comes with carrylens, what is true of questions, what saved results say about many models.

Takes  names, questions, sizes; nothing for all there is.
Gives  tables that print in a line and draw themselves in a notebook.
Never  measures a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from carrylens.errors import CarryLensError

if TYPE_CHECKING:
    from pathlib import Path

    from carrylens.front.listing_views import AnsweredPaper, Family, Listing, LossCurves


def models(*, aligned: bool = False) -> Listing:
    """The models that come with carrylens, with failures per million questions beside the paper's.

    With `aligned` those that were trained to run an algorithm at given nodes, so that their circuit is known.
    """
    from carrylens.front.listing_views import Listing

    if aligned:
        from msgspec import to_builtins

        from carrylens.arithmetic.aligned.shipped import aligned_figures

        return Listing("models whose circuit is known", [to_builtins(each) for each in aligned_figures()])
    from carrylens.arithmetic.zoo.failure_table import shipped_figures

    return Listing("models that come with carrylens", list(shipped_figures()))


def classify(*questions: str, digits: int | None = None, skip_errors: bool = False) -> Listing:
    """The class, the answer and the depths of each question: `classify("55+45", "100-1")`.

    What is no question is an error; with `skip_errors` it is left out, and stands in `.results`.
    """
    from carrylens.front.listing_views import Listing
    from carrylens.workflow.questions import classify_texts

    results = classify_texts(questions, digits)
    for found in results:
        if isinstance(found, CarryLensError) and not skip_errors:
            raise found
    rows = [each for each in results if not isinstance(each, CarryLensError)]
    return Listing("classes of questions", rows, results)


def frequencies(*digits: int, count: int = 100_000, seed: int = 0) -> Listing:
    """How often each class of question turns up in each population; for 5, 10, 15 and 20 digits if none is given."""
    from carrylens.front.listing_views import Listing
    from carrylens.workflow.questions import frequency_records

    return Listing("how often each class turns up", list(frequency_records(digits or (5, 10, 15, 20), count, seed)))


def prove() -> Listing:
    """The lemmas that prove the algorithms right for every number of digits, each checked on every case there is."""
    from dataclasses import asdict

    from carrylens.arithmetic.proof import prove as prove_lemmas
    from carrylens.front.listing_views import Listing

    rows = [{**asdict(lemma), "operation": lemma.operation.value} for lemma in prove_lemmas()]
    return Listing("lemmas, each checked on every case", rows)


def losses(model: str | Path | None = None) -> LossCurves:
    """The learning curves of a model, one for each answer token; of every shipped model, if none is named."""
    from carrylens.front.listing_views import LossCurves
    from carrylens.workflow.loss_curves import loss_picture

    return LossCurves("every shipped model" if model is None else str(model), loss_picture(model))


def family(*models: str | Path, shipped: bool = False) -> Family:
    """What holds in every accurate model and what varies, from saved results; for all shipped models if none is named.

    With `shipped` only results that came with the models count, and nothing from `maps/`.
    """
    from carrylens.arithmetic.family.table import family_table
    from carrylens.arithmetic.zoo.failure_table import accurate_names
    from carrylens.front.listing_views import Family
    from carrylens.workflow.reading import family_folders, read_members

    named = list(dict.fromkeys(family_folders([str(each) for each in models])))
    wanted, left_out = (named, {}) if models else accurate_names()
    return Family(family_table(read_members(wanted, shipped=shipped)), left_out)


def paper(folders: Sequence[str | Path] = ()) -> AnsweredPaper:
    """Every claim, table and figure of the paper with our result beside it; also from folders of `family run`."""
    from carrylens.arithmetic.paper.all_claims import answered, model_rows
    from carrylens.front.listing_views import AnsweredPaper
    from carrylens.workflow.answering_paper import paper_evidence

    evidence = paper_evidence([str(each) for each in folders])
    return AnsweredPaper(tuple(answered(evidence)), tuple(model_rows(evidence)))
