"""Victims: every command that writes what is read again, in a form that takes seconds.

Takes  nothing.
Gives  for each command a `Victim`: the folder before, and the command.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.training_plans import plan_for
from carrylens.benchmark.saved_results import SavedResults
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.folders import MANIFEST
from carrylens.interventions.store import Store
from carrylens.steps import finish, is_done
from carrylens.training.run import prepare_folder
from carrylens.workflow.training import train_model
from torture.kills import Command, Victim
from training.quiet import Quiet

TRAINED = "add_d1_l1_h1_w6_t20_s1"


def planted(folder: Path) -> None:
    """A one-digit adder in `folder/model`."""
    plant(describe(Operation.ADD, 1)).save(folder / "model")


def calling(*words: str, inside: str = "") -> Command:
    """The command line with these words, run in the folder, or in one inside of it."""

    def run(folder: Path) -> None:
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        os.chdir(folder / inside)
        with contextlib.suppress(SystemExit):
            app(list(words), standalone_mode=False)

    return run


def after(*commands: Command) -> Command:
    """All of these, one after the other."""

    def run(folder: Path) -> None:
        before = Path.cwd()
        for command in commands:
            command(folder)
        os.chdir(before)

    return run


def _nothing(_: Path) -> None:
    return None


def _train(folder: Path) -> None:
    place = folder / TRAINED
    if (place / MANIFEST).exists():
        with contextlib.suppress(CarryLensError):
            prepare_folder(place, resume=True, restart=False)
        return
    resumed = (place / "checkpoint.safetensors").exists()
    train_model(plan_for(ModelName.parse(TRAINED)), place, "cpu", 1, Quiet(), 0.0, resume=resumed, restart=False)


def _steps(folder: Path) -> None:
    for at in range(3):
        if not is_done(folder, f"step {at}", {"of": at}):
            finish(
                folder,
                f"step {at}",
                {"of": at},
                {f"a{at}.json": b"[1]", "b.json"[at == 1 :]: b"%d" % at},
                sealed=at != 1,
            )


def _results(folder: Path) -> None:
    for at in range(3):
        assert SavedResults(folder).once(f"result {at}", {"of": at}, lambda at=at: {"is": at}) == {"is": at}


def _store(folder: Path) -> None:
    store = Store(folder / "outcomes.sqlite")
    for at in range(20):
        rows = {b"%d %d" % (at, each): b"%d" % each for each in range(20)}
        known = store.known(list(rows))
        assert known.items() <= rows.items()
        store.add((key, value) for key, value in rows.items() if key not in known)
    store.close()
    for path in folder.iterdir():
        path.unlink()


@functools.cache
def victims() -> dict[str, Victim]:
    """By name; the first ones are quick."""
    judged = after(planted, calling("map", "model", "--quick"), calling("judge", "model"))
    every = [
        Victim("plant", _nothing, planted),
        Victim("plant over another", after(planted), lambda f: plant(describe(Operation.SUB, 1)).save(f / "model")),
        Victim("steps", _nothing, _steps),
        Victim("benchmark's results", _nothing, _results),
        Victim("train", _nothing, _train, frozenset({"training.jsonl"})),
        Victim("test", planted, calling("test", "model", "--save", "--questions", "40", "--per-class", "3")),
        Victim("judge", after(planted, calling("map", "model", "--quick")), calling("judge", "model")),
        Victim("report", judged, calling("report", "model")),
        Victim("explore", judged, calling("explore", "model")),
        Victim("store", _nothing, _store),
        Victim("align", planted, calling("align", "model", "--quick")),
        Victim("map", planted, calling("map", "model", "--quick")),
        Victim("map again", judged, calling("map", "model", "--quick", "--restart")),
        Victim("battery", planted, calling("battery", "model", "--quick")),
        Victim("explain", planted, calling("explain", "model", "--quick")),
    ]
    return {victim.name: victim for victim in every}


QUICK = ("plant", "plant over another", "steps", "benchmark's results", "train", "judge")
