"""Likeness models: planted, aligned and freely trained ones of arithmetic, to be held side by side.

Takes  whether a few are enough.
Gives  `LikenessModel` values.
Never  builds a model before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.benchmark.suites import ALIGNED, KIND, suite_models
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.sources import find_source, shipped_names
from carrylens.benchmark.known_models import SPLITS, TEST, KnownModel
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.likeness import LikenessModel

PLANTED, TRAINED = "planted", "trained"
_MOST_DIGITS = {Operation.ADD: 6, Operation.SUB: 6, Operation.MIX: 5}
"""Of shipped models; those with more digits are left out for what they cost."""
_FEW = 2


def likeness_models(*, quick: bool = False) -> list[LikenessModel]:
    """Kind three-digit additions, every aligned model, shipped ones of up to six digits with two layers or more."""
    found = {PLANTED: list(_planted()), ALIGNED: list(_aligned()), TRAINED: list(_trained())}
    return [each for models in found.values() for each in (models[:_FEW] if quick else models)]


def _planted() -> Iterator[LikenessModel]:
    for model in suite_models((KIND,), TEST):
        if model.labels["digits"] == 3 and model.seed == 0:
            yield LikenessModel(PLANTED, model.name, model.build)


def _aligned() -> Iterator[LikenessModel]:
    for split in SPLITS:
        for model in suite_models((ALIGNED,), split):
            yield LikenessModel(ALIGNED, model.name, model.build)


def _trained() -> Iterator[LikenessModel]:
    for name in shipped_names():
        known = ModelName.parse(name)
        if known.n_layers > 1 and known.digits <= _MOST_DIGITS[known.operation]:
            yield LikenessModel(TRAINED, name, partial(_shipped, name))


def _shipped(name: str) -> KnownModel:
    source = find_source(name)
    return KnownModel(source.load(), source.task, source.task.causal, KnownTruth(()))
