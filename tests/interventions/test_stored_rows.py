"""Stored rows: what a store has is taken over, whatever is missing or of another form is to be run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.interventions.parts import Parts
from carrylens.interventions.records import Records, Request
from carrylens.interventions.store import Store
from carrylens.interventions.stored_rows import StoredRows
from interventions.random_edits import random_model

CONFIG = arithmetic_config(digits=2, n_layers=2, n_heads=2, d_model=7, d_head=3, d_mlp=6)

ROWS, CLEAN = [b"row 0", b"row 1", b"row 2"], [b"question 0"]


def blank(n_rows: int = len(ROWS)) -> Records:
    model = random_model(CONFIG, seed=1)
    assert model.task is not None
    right = model.task.output_ids(next(iter(model.task.samplers.values())).draw(0, 0, 1))
    return Records.blank(Request(), Parts(model), right, n_rows)


def test_what_was_put_away_comes_back_and_the_rest_is_to_be_run(tmp_path: Path) -> None:
    written = blank()
    written.rows["margins"] = np.arange(written.rows["margins"].size).reshape(written.rows["margins"].shape)
    with closing(Store(tmp_path / "rows")) as store:
        StoredRows(store, written, ROWS, CLEAN).add(np.array([0, 2]), np.array([], dtype=np.int64))
        store.add([(ROWS[1], b"short")])
        found = blank()
        rows, questions = StoredRows(store, found, ROWS, CLEAN).restore()
    assert rows.tolist() == [1], "a record of the wrong length is run again"
    assert questions.tolist() == [0]
    assert (found.rows["margins"][[0, 2]] == written.rows["margins"][[0, 2]]).all()
