"""Answers on seed sensitivity: last losses by the paper's five categories, and seeds of one shape.

Takes  histories of our models, the lines of the paper's tables.
Gives  the functions that answer App. G.
Never  calls a difference of digits, steps or shape one of the seed: seeds of one shape stand apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import mean

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, missing
from carrylens.arithmetic.paper.saved import PaperEvidence

CATEGORIES = ("addition", "subtraction", "mixed", "mixed, inserted", "mixed, reset")
_COMMAND = "carrylens models --markdown"
_NOT_SEED = "digits, steps and shape differ within a category, not the seed alone"
_LEAST = 2


def answer_45(evidence: PaperEvidence) -> PaperAnswer:
    """45 models in five categories: all but the one-layer model."""
    theirs = _theirs(evidence)
    said = ", ".join(f"{len(theirs.get(name, ()))} {name}" for name in CATEGORIES)
    n = sum(map(len, theirs.values()))
    return PaperAnswer(
        Agreement.AGREES if n == 45 else Agreement.DIFFERS, f"its tables: {said}", n, "models", command=_COMMAND
    )


def answer_additions_stable(evidence: PaperEvidence) -> PaperAnswer:
    """Additions are the least sensitive."""
    ours, theirs = _spreads(_ours(evidence)), _spreads(_theirs(evidence))
    if len(ours) < 3:
        return missing("fewer than three categories have models with a history", "carrylens family run paper")
    least, its = (min(some, key=lambda name: some[name]) for some in (ours, theirs))
    return PaperAnswer(
        Agreement.AGREES if least == its == "addition" else Agreement.DIFFERS,
        f"powers of ten between the least and the largest last loss: {_beside(ours, theirs)}; least in its own tables: "
        f"{its}",
        sum(map(len, _ours(evidence).values())),
        "models",
        command=_COMMAND,
        why=_NOT_SEED,
    )


def answer_moderate(evidence: PaperEvidence) -> PaperAnswer:
    """The other four are of low to moderate sensitivity."""
    theirs = {name: spread for name, spread in _spreads(_theirs(evidence)).items() if name != "addition"}
    return PaperAnswer(
        Agreement.DIFFERS if max(theirs.values()) > 3 else Agreement.AGREES,
        "powers of ten between the least and the largest last loss in its own tables: "
        + "; ".join(f"{name} {spread:.1f}" for name, spread in theirs.items()),
        sum(len(_theirs(evidence)[name]) for name in theirs),
        "models",
        command=_COMMAND,
        why="a thousandfold or more is not moderate; " + _NOT_SEED if max(theirs.values()) > 3 else "",
    )


def answer_subtraction_loss(evidence: PaperEvidence) -> PaperAnswer:
    """Subtractions have a higher average loss."""
    return _higher(evidence, "subtraction", {"mixed, reset"})


def answer_reset_loss(evidence: PaperEvidence) -> PaperAnswer:
    """Models whose inserted nodes are reset have a higher average loss."""
    return _higher(evidence, "mixed, reset", {"subtraction"})


def answer_one_shape(evidence: PaperEvidence) -> PaperAnswer:
    """The seed alone: models of one shape and length of training."""
    shapes: dict[str, list[float]] = {}
    for name, model in evidence.models.items():
        if model.last.get("loss"):
            shapes.setdefault(name.rpartition("_s")[0], []).append(math.log10(model.last["loss"]))
    several = {shape: max(each) - min(each) for shape, each in shapes.items() if len(each) > 1}
    if not several:
        return missing("no two seeds of one shape are trained", "carrylens family run paper")
    said = "; ".join(f"{shape} {spread:.1f} ({len(shapes[shape])} seeds)" for shape, spread in several.items())
    return PaperAnswer(
        Agreement.SHOWN,
        f"powers of ten between seeds of one shape and length: {said}",
        sum(len(shapes[shape]) for shape in several),
        "models",
        command=_COMMAND,
    )


def _higher(evidence: PaperEvidence, category: str, beside: Iterable[str]) -> PaperAnswer:
    # Than every category but those that the paper calls high, too.
    ours, theirs = (_means(some) for some in (_ours(evidence), _theirs(evidence)))
    others = {name for name in CATEGORIES if name != category and name not in beside}
    if category not in ours or not others & set(ours):
        return missing(f"no model of the category {category} is trained", "carrylens family run paper")
    is_higher = all(ours[category] > ours[name] for name in others & set(ours))
    return PaperAnswer(
        Agreement.AGREES if is_higher else Agreement.DIFFERS,
        "powers of ten of the mean last loss (geometric): " + _beside(ours, theirs),
        sum(map(len, _ours(evidence).values())),
        "models",
        command=_COMMAND,
        why="" if is_higher else "other recipes, another width: ours learn subtraction from long borrow cascades",
    )


def _ours(evidence: PaperEvidence) -> dict[str, list[float]]:
    return _grouped((model.name, model.last.get("loss")) for _, model in evidence.of_rows if model is not None)


def _theirs(evidence: PaperEvidence) -> dict[str, list[float]]:
    return _grouped((ModelName.parse(name), float(line["loss"])) for name, line in evidence.published.items())


def _grouped(losses: Iterable[tuple[ModelName, float | None]]) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {}
    for name, loss in losses:
        if name.n_layers > 1 and loss:
            groups.setdefault(_category(name), []).append(math.log10(loss))
    return groups


def _category(name: ModelName) -> str:
    if name.insertion:
        return "mixed, inserted" if name.insertion == 1 else "mixed, reset"
    return {"add": "addition", "sub": "subtraction", "mix": "mixed"}[name.operation.value]


def _spreads(groups: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: max(each) - min(each) for name, each in groups.items() if len(each) >= _LEAST}


def _means(groups: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: mean(each) for name, each in groups.items()}


def _beside(ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    return "; ".join(
        f"{name} {f'{ours[name]:.1f}' if name in ours else 'too few'} (the paper's {theirs[name]:.1f})"
        for name in CATEGORIES
        if name in theirs
    )
