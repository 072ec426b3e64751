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
from carrylens.errors import CarryLensError
from carrylens.report.page.saved import Saved

_QUICK_QUESTIONS = 96


def commands(saved: Saved) -> Iterator[str]:
    """The commands that made what the page shows, in order; none for a task that no command knows."""
    if not isinstance(saved.map.task, ArithmeticTask):
        return
    source, settings = saved.source, _settings(saved)
    if saved.test is not None:
        yield f"carrylens test {source}{_test_options(saved.test)}"
    quick = " --quick" if settings.get("n_questions") == _QUICK_QUESTIONS else ""
    seed = f" --seed {settings['seed']}" if settings.get("seed") else ""
    left_out = "".join(f" --no-{name}" for name in ("pairs", "groups") if settings.get(name) is False)
    yield f"carrylens map {source}{quick}{seed}{left_out} --out analysis"
    yield "carrylens judge analysis" + ("" if saved.is_usual else " --hypothesis FILE")
    if saved.battery:
        yield f"carrylens battery {source} --out analysis"
    yield f"carrylens report {source} --folder analysis"


def _test_options(test: Mapping[str, Any]) -> str:
    # How many questions it was evaluated on; a model whose name says nothing has no such options.
    try:
        return f" {asked_options(ModelName.parse(str(test['model'])), dict(test))}"
    except CarryLensError:
        return ""


def all_at_once(saved: Saved) -> str:
    """The one command that does all of it; empty where there is none."""
    if not (isinstance(saved.map.task, ArithmeticTask) and saved.is_usual):
        return ""
    settings = _settings(saved)
    quick = " --quick" if settings.get("n_questions") == _QUICK_QUESTIONS else ""
    seed = f" --seed {settings['seed']}" if settings.get("seed") else ""
    return f"carrylens explain {saved.source}{quick}{seed} --out analysis"


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
