"""Remake: how to make everything on a page again.

Takes  what was saved.
Gives  commands, seeds, versions and hashes.
Never  names a file of one machine: commands name models as the user did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from carrylens.arithmetic.exam_counts import asked_options
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.discovery.alignment.joint_rates import DrawnFrom
from carrylens.errors import CarryLensError
from carrylens.report.page.saved import Saved

_QUICK_QUESTIONS = 96


def commands(saved: Saved) -> Iterator[str]:
    """The commands that make the page again, in order; none for a task that no command knows.

    The last one takes what the others left in the folder, judges, works a question through, and writes the page.
    """
    if not isinstance(saved.map.task, ArithmeticTask):
        return
    source, settings = saved.source, _settings(saved)
    if saved.test is not None:
        yield f"carrylens test {source}{_test_options(saved.test)}"
    quick = " --quick" if settings.get("n_questions") == _QUICK_QUESTIONS else ""
    seed = f" --seed {settings['seed']}" if settings.get("seed") else ""
    left_out = "".join(f" --no-{name}" for name in ("pairs", "groups") if settings.get(name) is False)
    own = "" if saved.is_usual else " --hypothesis FILE"
    yield f"carrylens map {source}{quick}{seed}{left_out}{own} --out analysis"
    if saved.drawn is not None:
        yield f"carrylens settle {source}{_settle_options(saved.drawn)}{own} --out analysis"
    if saved.battery:
        yield f"carrylens battery {source}{_battery_options(saved)} --out analysis"
    if saved.is_usual and saved.worked is not None:
        some_quick = quick or not saved.drawn or "--quick" in _battery_options(saved)
        yield f"carrylens explain {source}{' --quick' if some_quick else ''}{seed} --out analysis"
        return
    yield f"carrylens judge analysis{own}"
    yield f"carrylens report {source} --folder analysis{own}"


def _settle_options(drawn: DrawnFrom) -> str:
    quick = " --quick" if drawn.is_quick_fit else ""
    return quick + (f" --seed {drawn.seed}" if drawn.seed else "")


def _battery_options(saved: Saved) -> str:
    settings = [each.get("settings", {}) for each in saved.battery]
    quick = " --quick" if any(each.get("quick") for each in settings) else ""
    seed = next((each["seed"] for each in settings if each.get("seed")), 0)
    return quick + (f" --seed {seed}" if seed else "")


def _test_options(test: Mapping[str, Any]) -> str:
    # How many questions it was evaluated on; a model whose name says nothing has no such options.
    try:
        return f" {asked_options(ModelName.parse(str(test['model'])), dict(test))}"
    except CarryLensError:
        return ""


def made_with(saved: Saved) -> Iterator[tuple[str, str]]:
    """Versions, seeds and settings, a name and a value each."""
    stimuli = saved.map.stimuli
    yield "model", saved.map.model
    if saved.weights:
        yield "SHA-256 of the weights", saved.weights
    if "version" in stimuli:
        yield "carrylens that made the map", str(stimuli["version"])
    for name, value in _flat(_settings(saved)):
        yield f"map: {name}", value
    if saved.test is not None and "seed" in saved.test:
        yield "test: seed", str(saved.test["seed"])
    for name, value in saved.claims["thresholds"].items():
        yield f"verdicts: {name}", str(value)


def _settings(saved: Saved) -> Mapping[str, Any]:
    given = saved.map.stimuli.get("settings")
    return given if isinstance(given, Mapping) else {}


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", str(value)
