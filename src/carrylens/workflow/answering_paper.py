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
from carrylens.arithmetic.paper.saved import PaperEvidence, SavedModel
from carrylens.arithmetic.zoo.failure_table import accurate_names, published_lines
from carrylens.arithmetic.zoo.model_facts import history, model_name, saved_bar, saved_test, training_run
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.workflow.reading import family_folders, read_members


def paper_evidence(folders: Sequence[str] = (), table: FamilyTable | None = None) -> PaperEvidence:
    """All that was saved about the shipped models, and about those in these folders, which go first."""
    given = [Path(folder) for folder in family_folders(folders)]
    models = {
        str(model.name): model
        for model in (*map(saved_model, map(find_model, shipped_names())), *map(saved_model, given))
    }
    if table is None:
        mine = {str(model_name(folder)): str(folder) for folder in given if saved_model(folder).meets_bar}
        others = [name for name in accurate_names()[0] if name not in mine]
        table = family_table([*read_members(others, shipped=True), *read_members(list(mine.values()))])
    return PaperEvidence(table, models, read_rows(PAPER_ROWS), published_lines())


def saved_model(folder: Path) -> SavedModel:
    """What is known of the model in a folder. A test of other weights tells nothing."""
    lines, name, sha256 = history(folder), model_name(folder), find_source(str(folder)).sha256
    last = lines[-1] if lines and "step" in lines[-1] else {}
    test = saved_test(folder)
    mine = test if test is not None and test["sha256"] == sha256 else None
    return SavedModel(ModelName.parse(str(name)), mine, saved_bar(folder, sha256), training_run(folder), last)
