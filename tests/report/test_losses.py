"""Loss curves are drawn for whatever conditions a history names; a history without a loss is refused in one line."""

from __future__ import annotations

import pytest

from carrylens.errors import CarryLensError
from carrylens.report.figures.losses import losses_svg
from carrylens.training.history import history_text, read_history


def notes(losses: dict[str, list[float]]) -> list[dict[str, object]]:
    return [{"step": step, "loss": 1.0, "token_losses": losses, "seconds": 1.0} for step in (20, 40)]


@pytest.mark.parametrize("losses", [{}, {"add": []}])
def test_a_history_without_a_loss_of_an_output_is_refused(losses: dict[str, list[float]]) -> None:
    with pytest.raises(CarryLensError, match="no loss"):
        losses_svg("it", notes(losses))


def test_conditions_of_another_task_are_drawn_by_their_names() -> None:
    drawn = losses_svg("it", notes({"$\\frac{<b>": [0.5, 0.25], "sub": [0.5, 0.25]}))
    assert "subtraction" in drawn
    assert "<b>" not in drawn


@pytest.mark.parametrize("losses", [{"add": [0.5] * 1001}, {f"c{at}": [0.5] for at in range(101)}])
def test_more_curves_than_can_be_drawn_are_refused(losses: dict[str, list[float]]) -> None:
    with pytest.raises(CarryLensError):
        read_history(history_text({"name": "it"}, notes(losses)).encode(), "it")
    assert read_history(history_text({"name": "it"}, notes({"add": [0.5] * 40})).encode(), "it")
