"""Likeness models: planted, aligned and freely trained ones of arithmetic, to be held side by side.

Takes  whether a few are enough.
Gives  `LikenessModel` values.
Never  builds a model before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from carrylens.arithmetic.planted.benchmark.suites import ALIGNED, KIND, suite_models
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.benchmark.known_models import SPLITS, TEST, KnownModel
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.likeness import LikenessModel

PLANTED, TRAINED = "planted", "trained"
_SHIPPED = (
    "add_d5_l2_h3_w96_t2K_s1",
    "add_d6_l2_h3_w96_t2K_s1",
    "add_d6_l2_h3_w96_t2K_s2",
    "sub_d6_l2_h3_w96_t5K_s1",
)
_FEW = 2


def likeness_models(*, quick: bool = False) -> list[LikenessModel]:
    """Kind three-digit additions, an aligned model for each algorithm and size, shipped ones of five and six digits."""
    found = {PLANTED: list(_planted()), ALIGNED: list(_aligned()), TRAINED: list(_trained())}
    return [each for models in found.values() for each in (models[:_FEW] if quick else models)]


def _planted() -> Iterator[LikenessModel]:
    for model in suite_models((KIND,), TEST):
        if model.labels["digits"] == 3 and model.seed == 0:
            yield LikenessModel(PLANTED, model.name, model.build)


def _aligned() -> Iterator[LikenessModel]:
    seen: set[tuple[object, str]] = set()
    for split in SPLITS:
        for model in suite_models((ALIGNED,), split):
            kind = model.labels["algorithm"], model.name.split("_l")[0]
            if kind not in seen:
                seen.add(kind)
                yield LikenessModel(ALIGNED, model.name, model.build)


def _trained() -> Iterator[LikenessModel]:
    for name in _SHIPPED:
        yield LikenessModel(TRAINED, name, partial(_shipped, name))


def _shipped(name: str) -> KnownModel:
    source = find_source(name)
    return KnownModel(source.load(), source.task, source.task.causal, KnownTruth(()))
