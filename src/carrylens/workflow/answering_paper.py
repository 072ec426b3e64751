"""Answering the paper: what was saved about the models, put beside what it says.

Takes  nothing, or a folder of family run.
Gives  the evidence that its claims are answered from.
Never  measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrylens.arithmetic.family.rows import PAPER_ROWS, read_rows
from carrylens.arithmetic.family.table import FamilyTable, family_table
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.measurements import MEASURED, read_paper_file
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.paper.saved_models import SavedModel
from carrylens.arithmetic.zoo.failure_table import accurate_names, published_lines
from carrylens.arithmetic.zoo.model_facts import history, model_name, saved_bar, saved_test, training_run
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.workflow.reading import family_folders, read_members


def paper_evidence(
    folders: Sequence[str] = (), table: FamilyTable | None = None, file: Path = MEASURED
) -> PaperEvidence:
    """All that was saved about the shipped models, and about those in these folders, which go first.

    `file` holds what was measured for the paper alone, and models that do not ship.
    """
    given = [Path(folder) for folder in family_folders(folders)]
    saved, kept = [saved_model(folder) for folder in given], read_paper_file(file)
    unshipped = [each.model() for each in kept.models]
    known = [*unshipped, *map(saved_model, map(find_model, shipped_names())), *saved]
    models = {str(model.name): model for model in known if not model.is_variant}
    if table is None:
        usual = zip(given, saved, strict=True)
        mine = {str(one.name): str(folder) for folder, one in usual if one.meets_bar and not one.is_variant}
        others = [name for name in accurate_names()[0] if name not in mine]
        table = family_table([*read_members(others, shipped=True), *read_members(list(mine.values()))])
    return PaperEvidence(
        table,
        models,
        read_rows(PAPER_ROWS),
        published_lines(),
        [model for model in known if model.is_variant],
        kept.of_weights({name: model.sha256 for name, model in models.items()}),
    )


def saved_model(folder: Path) -> SavedModel:
    """What is known of the model in a folder. A test of other weights tells nothing."""
    lines, name, sha256 = history(folder), model_name(folder), find_source(str(folder)).sha256
    last = lines[-1] if lines and "step" in lines[-1] else {}
    test = saved_test(folder)
    mine = test if test is not None and test["sha256"] == sha256 else None
    bar, run = saved_bar(folder, sha256), training_run(folder)
    return SavedModel(ModelName.parse(str(name)), mine, bar, run, last, sha256)
