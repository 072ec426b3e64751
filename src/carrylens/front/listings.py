"""Listings: what comes with carrylens, what is true of questions, what saved results say about many models.

Takes  names, questions, sizes; nothing for all there is.
Gives  tables that print in a line and draw themselves in a notebook.
Never  measures a model, but where `paper` is told to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.errors import CarryLensError
from carrylens.progress import Progress, silent

if TYPE_CHECKING:
    from carrylens.front.listing_views import AnsweredPaper, FamilyFindings, Listing, LossCurves


def models(*, aligned: bool = False) -> Listing:
    """The models that come with carrylens, with failures per million questions beside the paper's.

    With `aligned` those that were trained to run an algorithm at given nodes. The circuit of those that were accepted
    is known; the others come without weights.
    """
    from carrylens.front.listing_views import Listing

    if aligned:
        from msgspec import to_builtins

        from carrylens.arithmetic.aligned.shipped import aligned_figures

        known = [to_builtins(each) for each in aligned_figures()]
        return Listing("models trained under an alignment", known, table=[_aligned_row(each) for each in known])
    from carrylens.arithmetic.zoo.failure_table import shipped_figures

    shipped = list(shipped_figures())
    return Listing("shipped models", shipped, table=[row for each in shipped for row in _model_rows(each)])


def _model_rows(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    # A row for each operation: how many questions of each population failed.
    for operation, found in record["operations"].items():
        row = {"model": record["model"], "operation": operation, "meets the bar": found["meets_bar"]}
        for population, counts in found["streams"].items():
            row[f"{population} failed"] = None if counts is None else counts["failed"]
            row[f"of {population}"] = None if counts is None else counts["asked"]
        yield row


def _aligned_row(record: Mapping[str, Any]) -> dict[str, Any]:
    rates = {name: rate for name, rate in record["rates"].items() if isinstance(rate, dict) and "rows" in rate}
    shares = {name.replace("_", " "): rate["right"] / max(1, rate["rows"]) for name, rate in rates.items()}
    return {name: record[name] for name in ("name", "algorithm", "accepted", "n_sites")} | shares


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

    found = list(frequency_records(digits or (5, 10, 15, 20), count, seed))
    plain = [
        {"operation": each["operation"], "population": each["stream"], "digits": each["digits"], **each["counts"]}
        for each in found
    ]
    names = dict.fromkeys(name for row in plain for name in row)
    return Listing("questions of each class", found, table=[{name: row.get(name) for name in names} for row in plain])


def prove() -> Listing:
    """The lemmas that prove the algorithms right for every number of digits, each checked on every case there is."""
    from dataclasses import asdict

    from carrylens.arithmetic.proof import prove as prove_lemmas
    from carrylens.front.listing_views import Listing

    rows = [{**asdict(lemma), "operation": lemma.operation.value} for lemma in prove_lemmas()]
    return Listing("lemmas, checked on every case", rows)


def losses(model: str | Path | None = None) -> LossCurves:
    """The learning curves of a model, one for each answer token; of every shipped model, if none is named."""
    from carrylens.front.listing_views import LossCurves
    from carrylens.workflow.loss_curves import loss_picture

    return LossCurves("every shipped model" if model is None else str(model), loss_picture(model))


def family(*models: str | Path, shipped: bool = False) -> FamilyFindings:
    """What holds in every accurate model and what varies, from saved results; for all shipped models if none is named.

    With `shipped` only results that came with the models count, and nothing from `maps/`.
    """
    from carrylens.arithmetic.family.table import family_table
    from carrylens.arithmetic.zoo.failure_table import accurate_names
    from carrylens.front.listing_views import FamilyFindings
    from carrylens.workflow.reading import family_folders, read_members

    named = list(dict.fromkeys(family_folders([str(each) for each in models])))
    wanted, left_out = (named, {}) if models else accurate_names()
    return FamilyFindings(family_table(read_members(wanted, shipped=shipped)), left_out)


def published(folder: str | Path, beside: str | Path | None = None) -> Listing:
    """What an analysis in the published format says of every variable of the algorithm, beside a saved map if named."""
    from carrylens.front.listing_views import Listing
    from carrylens.workflow.reading_published import read_analysis

    found = read_analysis(Path(folder), None if beside is None else str(beside))
    return Listing(f"variables in the published analysis of {found.name}", found.rows())


def paper(
    folders: Sequence[str | Path] = (), *, measure: str | Path | None = None, progress: Progress = silent
) -> AnsweredPaper:
    """Every claim, table and figure of the paper with our result beside it; also from folders of `family run`.

    With `measure`, first measure what no experiment has, on the shipped models, and keep it in that file.
    """
    from carrylens.arithmetic.paper.all_claims import answered, model_rows
    from carrylens.arithmetic.paper.measurements import MEASURED
    from carrylens.front.listing_views import AnsweredPaper
    from carrylens.workflow.answering_paper import paper_evidence

    given = [str(each) for each in folders]
    if measure is not None:
        from carrylens.workflow.measuring_paper import measure_paper
        from carrylens.workflow.reading import family_folders

        measure_paper(Path(measure), list(map(Path, family_folders(given))), progress)
    evidence = paper_evidence(given, file=MEASURED if measure is None else Path(measure))
    return AnsweredPaper(tuple(answered(evidence)), tuple(model_rows(evidence)))
