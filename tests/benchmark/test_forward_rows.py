"""Rows are counted whoever runs the model, and the model stays as it was."""

from __future__ import annotations

import torch

from benchmark.tiny import tiny_input
from carrylens.benchmark.forward_rows import metered_copy
from carrylens.interventions.edits import ablate
from carrylens.interventions.engine import Engine


def test_plain_and_edited_passes_count_their_rows() -> None:
    given = tiny_input()
    twin, meter = metered_copy(given.model)
    questions = next(iter(given.task.samplers.values())).draw(0, 0, 5)
    tokens = torch.from_numpy(given.task.token_ids(questions))
    with torch.inference_mode():
        assert torch.equal(twin(tokens), given.model(tokens))
    assert meter.rows == 5
    with Engine(twin, given.task) as engine:
        engine.run([ablate("P3L0H0"), ablate("P3L1H0")], questions, reference=questions)
    assert meter.rows >= 5 + 10, "two edits on five questions"
    before = meter.rows
    with torch.inference_mode():
        given.model(tokens)
    assert meter.rows == before, "the model itself is not counted"
