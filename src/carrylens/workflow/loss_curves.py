"""Loss curves: how the losses of models fell, as a picture.

Takes  a model, or none for every shipped one.
Gives  an SVG.
Never  trains.
"""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.zoo import find_model, shipped_names
from carrylens.arithmetic.zoo.model_facts import history, model_name
from carrylens.errors import CarryLensError
from carrylens.model.published import published_losses
from carrylens.report.figures.losses import all_losses_svg, losses_svg, step_losses_svg


def loss_picture(model: str | Path | None) -> str:
    """Of one model a curve for each answer token; of a published one its loss; of all shipped ones a panel each."""
    if model is None:
        return all_losses_svg({name: history(find_model(name)) for name in shipped_names()})
    folder = find_model(str(model))
    name = str(model_name(folder))
    if lines := history(folder):
        return losses_svg(name, lines)
    if losses := published_losses(folder):
        return step_losses_svg(name, losses)
    raise CarryLensError(f"{folder} has no training history to draw. Train a model with: carrylens train NAME")
