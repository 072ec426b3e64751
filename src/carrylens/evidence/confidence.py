"""Confidence: how probable it is that a role is true, from how often its interchange hit and how often its null moved.

Takes  the rates of a role, its set's size, how it was shown, and coefficients that `carrylens benchmark --fit` found on
       models of known truth.
Gives  a probability.
Never  has a coefficient typed by hand: they are read from `confidence.json`, which says how it was made.

The rule: the margin is the lower end of the interval of the hit rate less the null's, so that few stimuli make a small
margin. The probability is the logistic function of `intercept + slope * margin` and of what else is weighed: whether
the role is whole, on how many pairs it rests, whether it has more than two nodes, whether it was shown by difference
patching. Larger sets are weighed alike: none of more than three was among the models that the rule was fitted on.
Single nodes and sets have rules of their own. None states more than `most`: no number of models shows that a rule never
errs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from carrylens.evidence.rates import Rate
from carrylens.evidence.sureness import Extent, extent_of
from carrylens.files import read_whole
from carrylens.json_records import Schema, to_text

FILE = Path(__file__).parent / "confidence.json"


@dataclass(frozen=True)
class Confidence:
    """The rule with its coefficients; `made` says from what, `most` is the highest probability it states.

    `weights` are those of `other_features`; `sets` is the rule for sets of several nodes, where they have their own.

    >>> rule = Confidence(intercept=0.0, slope=4.0)
    >>> rule.of(Rate(0, 0), Rate(0, 0)) < 0.05 < 0.95 < rule.of(Rate(128, 128), Rate(0, 128))
    True
    """

    intercept: float
    slope: float
    most: float = 1.0
    made: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    sets: Confidence | None = None

    def of(self, hit: Rate, null: Rate, n_nodes: int = 1, *, is_difference: bool = False) -> float:
        """The probability that a role with these rates, of a set of so many nodes, is true."""
        if n_nodes > 1 and self.sets is not None:
            return self.sets.of(hit, null, n_nodes, is_difference=is_difference)
        other = other_features(hit, null, n_nodes, is_difference=is_difference)
        weighed = sum(weight * other[name] for name, weight in self.weights.items())
        return min(self.most, logistic(self.intercept + self.slope * margin(hit, null) + weighed))

    def to_json(self) -> str:
        """The text of `confidence.json`."""
        return to_text(self, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Confidence:
        """The rule that `to_json` wrote."""
        return _SCHEMA.decode(text, "This")


_SCHEMA = Schema(Confidence, "confidence rule", "Write carrylens benchmark --fit to make one.")


@cache
def shipped_confidence() -> Confidence:
    """The rule that comes with the package."""
    return Confidence.from_json(read_whole(FILE, "Write carrylens benchmark --fit."))


def stated_confidence(hit: Rate, null: Rate, n_nodes: int = 1, *, is_difference: bool = False) -> float:
    """How probable it is, by the rule that comes with the package, that a role with these rates is true."""
    return round(shipped_confidence().of(hit, null, n_nodes, is_difference=is_difference), 4)


def other_features(hit: Rate, null: Rate, n_nodes: int = 1, *, is_difference: bool = False) -> dict[str, float]:
    """What is weighed besides the margin."""
    return {
        "whole": float(extent_of(hit) is Extent.WHOLE),
        "log_pairs": math.log10(1 + min(hit.n, null.n)),
        "more_nodes": float(n_nodes > 2),
        "difference": float(is_difference),
    }


def say_confidence(stated: float) -> str:
    """A confidence in two figures; what is not sure never looks so.

    >>> say_confidence(0.9951), say_confidence(0.98)
    ('confidence 0.99', 'confidence 0.98')
    """
    return f"confidence {math.floor(100 * stated + 1e-9) / 100:.2f}"


@lru_cache(maxsize=1 << 16)
def margin(hit: Rate, null: Rate) -> float:
    """How far the hit rate surely is above the null: from -1 to 1.

    The 95% interval of a difference is made from those of the two rates by squaring and adding (Newcombe 1998, method
    10). No questions, nothing sure. Two rates of none stay below any that tells them apart:

    >>> round(margin(Rate(128, 128), Rate(0, 128)), 3), round(margin(Rate(4, 4), Rate(0, 4)), 3)
    (0.96, 0.148)
    >>> round(margin(Rate(0, 128), Rate(0, 128)), 3), margin(Rate(4, 4), Rate(0, 0))
    (-0.028, -1.0)
    """
    if not hit.n or not null.n:
        return -1.0
    below, above = hit.value - hit.interval[0], null.interval[1] - null.value
    return hit.value - null.value - math.hypot(below, above)


def logistic(x: float) -> float:
    """The logistic function, safe for any number."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))
