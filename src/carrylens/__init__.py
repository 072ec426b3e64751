"""carrylens: does a small transformer run this algorithm, how much of it, and how sure are we?"""

from importlib import import_module

from carrylens.errors import CarryLensError

__version__ = "0.1.0"

import_module("carrylens.benchmark")  # before the functions of these names, which would be lost to them otherwise
import_module("carrylens.report")

from carrylens.front.insides import battery, judge, map, settle  # noqa: A004, E402
from carrylens.front.known_truth import benchmark, plant  # noqa: E402
from carrylens.front.listings import classify, family, frequencies, losses, models, paper, prove, published  # noqa: E402
from carrylens.front.models import ask, attention, load, test, train  # noqa: E402
from carrylens.front.pages import compare, explain, explore, publish, report  # noqa: E402
from carrylens.front.question_sets import questions, trace  # noqa: E402

__all__ = [
    "CarryLensError",
    "__version__",
    "ask",
    "attention",
    "battery",
    "benchmark",
    "classify",
    "compare",
    "explain",
    "explore",
    "family",
    "frequencies",
    "judge",
    "load",
    "losses",
    "map",
    "models",
    "paper",
    "plant",
    "prove",
    "publish",
    "published",
    "questions",
    "report",
    "settle",
    "test",
    "trace",
    "train",
]


def __dir__() -> list[str]:
    # What Tab offers: the functions, not the rooms behind them.
    return __all__
