"""Victims: every command that writes what is read again, in a form that takes seconds.

Takes  nothing.
Gives  for each command a `Victim`: the folder before, and the command.

Imports of PyTorch are inside: a process that has it is slow to fork, and many victims do without.
"""

from __future__ import annotations

import contextlib
import os
from functools import partial
from pathlib import Path

from carrylens.benchmark.saved_results import SavedResults
from carrylens.errors import CarryLensError
from carrylens.folders import MANIFEST, settle
from carrylens.interventions.store import Store
from carrylens.steps import finish, is_done
from torture.kills import Command, Victim

TRAINED = "add_d1_l1_h1_w6_t4_s1"


def planting(operation: str) -> Command:
    """A one-digit model in `folder/model`."""

    def run(folder: Path) -> None:
        from carrylens.arithmetic.planted.dials import describe
        from carrylens.arithmetic.planted.planting import plant
        from carrylens.arithmetic.questions import Operation

        plant(describe(Operation(operation), 1)).save(folder / "model")

    return run


def calling(*words: str) -> Command:
    """The command line with these words, run in the folder."""

    def run(folder: Path) -> None:
        from carrylens.cli import app

        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        os.chdir(folder)
        with contextlib.suppress(SystemExit):
            app(list(words), standalone_mode=False)

    return run


def after(*commands: Command) -> Command:
    """All of these, one after the other."""

    def run(folder: Path) -> None:
        for command in commands:
            command(folder)

    return run


def _nothing(_: Path) -> None:
    return None


def _train(folder: Path) -> None:
    from carrylens.arithmetic.model_names import ModelName
    from carrylens.arithmetic.training_plans import plan_for
    from carrylens.training.run import prepare_folder
    from carrylens.workflow.training import train_model
    from training.quiet import Quiet

    place = folder / TRAINED
    if (place / MANIFEST).exists():
        with contextlib.suppress(CarryLensError):
            prepare_folder(place, resume=True, restart=False)
        return
    resumed = (place / "checkpoint.safetensors").exists()
    train_model(plan_for(ModelName.parse(TRAINED)), place, "cpu", 1, Quiet(), 0.0, resume=resumed, restart=False)


def _steps(folder: Path) -> None:
    for at in range(3):
        names = ("page.html",) if at == 1 else (f"a{at}.json", "b.json")
        if not is_done(folder, f"step {at}", {"of": at}):
            finish(folder, f"step {at}", {"of": at}, dict.fromkeys(names, b"%d" % at), sealed=at != 1)


def _results(folder: Path) -> None:
    for at in range(3):
        result = {"is": at}
        assert SavedResults(folder).once(f"result {at}", {"of": at}, partial(dict, result)) == result


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


def _unless_there(place: Path, command: Command) -> None:
    # A model that is sealed is whole: whoever reads it next gives its files their names.
    if (place / MANIFEST).exists():
        settle(place)
    else:
        command(place.parent)


def _plant_by_name(folder: Path) -> None:
    _unless_there(folder / "circuit", calling("plant", "add", "--digits", "1", "--out", "circuit"))


def _import(folder: Path) -> None:
    words = ("--digits", "1", "--out", "imported")
    _unless_there(folder / "imported", calling("import", "model/model.safetensors", *words))


_BENCHMARK = (
    *("benchmark", "--suite", "kind", "--split", "dev", "--quick", "--seeds", "0", "--method", "attention"),
    *("--out", "results"),
)
_FOUND = frozenset({"results/found/attention/*.json"})
"""They say how long the method took."""


def _explain(folder: Path) -> None:
    # One of its experiments trains sparse dictionaries: for as many steps, that is most of what explain does here.
    from carrylens.arithmetic.battery.readouts import sparse_dictionary

    sparse_dictionary.STEPS = 5
    calling("explain", "model", "--quick")(folder)


def _rows(folder: Path) -> None:
    # What a worker of family run does with one row.
    from carrylens.arithmetic.family.rows import parse_rows
    from carrylens.workflow.family_run.route import RowWork, take_step
    from carrylens.workflow.family_run.row_folder import LOCK, held

    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    (row,) = parse_rows(_ROW, "rows")
    for step in row.steps:
        with held(folder / row.folder, lambda _: None):
            take_step(RowWork(row, folder / row.folder, None, 1, lambda *_: None), step)
    (folder / row.folder / LOCK).unlink()


_ROW = f"""
[[rows]]
model = "{TRAINED}"
steps = ["train", "test", "map", "judge"]
questions = 20
per_class = 1
of = ["natural=20"]
quick = true
accurate = false
""".encode()
_PLANT = planting("add")
_EXPERIMENTS = [calling("battery", "model", "--quick", "--only", name) for name in ("axes", "combiner", "selection")]
"""All thirteen are sealed in the same way, one after the other, and take minutes."""
_MAPPED = after(_PLANT, calling("map", "model", "--quick"))
_JUDGED = after(_MAPPED, calling("judge", "model"))
VICTIMS = {
    victim.name: victim
    for victim in (
        Victim("steps", _nothing, _steps),
        Victim("benchmark's results", _nothing, _results),
        Victim("store", _nothing, _store),
        Victim("judge", _MAPPED, calling("judge", "model")),
        Victim("report", _JUDGED, calling("report", "model"), torch=True),
        Victim("plant", _nothing, _PLANT, torch=True),
        Victim("plant over another", planting("sub"), _PLANT, torch=True),
        Victim("plant by name", _nothing, _plant_by_name, torch=True),
        Victim("questions", _nothing, calling("questions", "--count", "5", "--out", "questions")),
        Victim("import", _PLANT, _import, torch=True),
        Victim("train", _nothing, _train, frozenset({"training.jsonl"}), torch=True),
        Victim("test", _PLANT, calling("test", "model", "--save", "--questions", "40", "--per-class", "3"), torch=True),
        Victim("explore", _JUDGED, calling("explore", "model", "--out", "explore.html"), torch=True),
        Victim("settle", _PLANT, calling("settle", "model", "--quick"), torch=True, cost=40),
        Victim("map", _PLANT, calling("map", "model", "--quick"), torch=True, cost=15),
        Victim("map again", _JUDGED, calling("map", "model", "--quick", "--restart"), torch=True, cost=20),
        Victim("battery", _PLANT, after(*_EXPERIMENTS), torch=True, cost=15),
        Victim(
            "family run", _nothing, _rows, frozenset({"training.jsonl", "checkpoint.safetensors"}), torch=True, cost=25
        ),
        Victim("benchmark", _nothing, calling(*_BENCHMARK), _FOUND, torch=True),
        Victim("explain", _PLANT, _explain, torch=True, cost=80),
    )
}
"""By name; those that do without PyTorch come first."""
QUICK = ("steps", "benchmark's results", "judge", "plant over another", "plant by name", "train", "test", "report")
