"""Model cards: what a person wants to know before using a model.

Takes  a model's name, its folder and its test.
Gives  the text of its `README.md`.
Never  states a figure that is not in the saved files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from carrylens.arithmetic.exam_counts import asked_options
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.recipes import RecipeKind, recipe_for
from carrylens.arithmetic.zoo.model_facts import history, saved_exhaustive, training_run
from carrylens.errors import CarryLensError
from carrylens.json_records import Schema
from carrylens.model.source import ModelSource
from carrylens.training.history import HISTORY

_DOES = {"add": "adds", "sub": "subtracts", "mix": "adds and subtracts"}

_RECIPE_WORDS = {
    "batch": "batch",
    "adam_rate": "AdamW's rate",
    "muon_rate": "Muon's rate",
    "tail": "share of the steps averaged over",
    "silent_start": "output matrices start at zero",
    "steady": "share of the steps at full rate",
}


def card_of(source: ModelSource, folder: Path, test: dict[str, Any], every: dict[str, Any] | None = None) -> str:
    """The card of a model: one that was trained or planted here, or one that was imported."""
    try:
        name = ModelName.parse(source.name)
    except CarryLensError:
        failed = [f"- {part['failed']:,} of {part['asked']:,} {part['name']}" for part in test["parts"]]
        places = " ".join(source.task.layout.place_names)
        about = [f"# {source.name}", f"An imported model: {source.task.name}.", f"Places: `{places}`"]
        return "\n\n".join([*about, "Wrong answers:", "\n".join(failed)]) + "\n"
    return model_card(name, folder, test, every)


def model_card(name: ModelName, folder: Path, test: dict[str, Any], every: dict[str, Any] | None = None) -> str:
    """The card of the model in `folder`; `every` is its test on every question, if it is not yet saved there."""
    every = every or saved_exhaustive(folder)
    if every is not None and every["sha256"] != test["sha256"]:  # of other weights
        every = None
    told = test["meets_bar"] if every is None or every["meets_bar"] is None else every["meets_bar"]
    bar = {True: "meets", False: "misses", None: "was not asked enough to be held to"}[told]
    layers = f"{name.n_layers} layer{'s' if name.n_layers > 1 else ''}"
    lines = [
        f"# {name}",
        "",
        f"A transformer that {_DOES[name.operation.value]} numbers of {name.digits} digits: {layers}, "
        f"{name.n_heads} heads, width {name.width}, seed {name.seed}. Made by carrylens; Apache-2.0.",
        "",
        *_training_lines(name, folder),
        "## Test",
        "",
        f"It {bar} the bar of fewer than 10 failures per million natural and enriched questions for each operation. "
        f"Made by `carrylens test {name} {asked_options(name, test)} --save`; weights {test['sha256'][:16]}.",
        "",
        *_every_lines(name, every),
        "| questions | operation | asked | failed | failures per million, 95% interval |",
        "|---|---|---:|---:|---|",
        *(_test_line(part) for part in test["parts"]),
        "",
    ]
    return "\n".join(lines)


def per_million(part: dict[str, Any]) -> str:
    """The exact interval of a part's failure rate, per million.

    >>> per_million({"interval": [0.0, 3.69e-06]})
    '0 to 3.69'
    """
    low, high = (1e6 * bound for bound in part["interval"])
    return " to ".join(f"{bound:,.0f}" if bound >= 1000 else f"{bound:.3g}" for bound in (low, high))


def _every_lines(name: ModelName, every: dict[str, Any] | None) -> list[str]:
    if every is None:
        return []
    asked, failed = (sum(part[what] for part in every["parts"]) for what in ("asked", "failed"))
    said = f"wrong on {failed:,} of {asked:,}" if failed else f"right on all {asked:,}"
    return [f"Evaluated on every question there is (`carrylens test {name} --exhaustive --save`), it is {said}.", ""]


class _TrainedRun(Struct):
    # What a card says of how a model was trained; older files do not say all.
    kind: RecipeKind
    stream: str
    batch: int
    adam_rate: float
    muon_rate: float | None
    layout: str = ""
    tail: float = 0.0
    silent_start: bool = False
    steady: float = 0.0
    device: str = "cpu"
    threads: int = 1
    inserted_from: str | None = None
    placement: str = ""
    inserted_sha256: str | None = None


_RUN_SCHEMA = Schema(_TrainedRun, "record of how a model was trained", "Restore it, or train again.", others=True)


def _training_lines(name: ModelName, folder: Path) -> list[str]:
    said, lines = training_run(folder), history(folder)[1:]
    if not said or not lines:
        return []
    run, last = _RUN_SCHEMA.convert(said, str(folder / HISTORY)), lines[-1]
    inserted = f" --insert {run.inserted_from} --placement {run.placement}" if run.inserted_from else ""
    recipe = "" if run.kind is RecipeKind.COMPACT else f" --recipe {run.kind.value}"
    recipe += f" --layout {run.layout}" if run.layout else ""
    device = f" --device {run.device}" if run.device != "cpu" else ""
    threads = f" --threads {run.threads}" if run.threads != 1 else ""
    return [
        "## Training",
        "",
        f"    carrylens train {name}{recipe}{inserted}{device}{threads}",
        "",
        f"{last['step']:,} steps of {run.batch} {run.stream} questions took {last['seconds']:.0f} s "
        f"on a machine that did other work too; last loss {last['loss']:.2g}.",
        *([f"Weights of the inserted model: {run.inserted_sha256[:16]}."] if run.inserted_sha256 else []),
        *_other_recipe(name, run),
        "",
    ]


def _other_recipe(name: ModelName, run: _TrainedRun) -> list[str]:
    # A model may be older than the recipe in force: then its command no longer makes it.
    now = recipe_for(name, run.kind)
    then = {what: (getattr(run, what), getattr(now, what)) for what in _RECIPE_WORDS}
    changed = [
        f"{_RECIPE_WORDS[what]}: {_said(kept)}, now {_said(new)}" for what, (kept, new) in then.items() if kept != new
    ]
    if not changed:
        return []
    return ["", f"The recipe has changed since ({', '.join(changed)}), so the command above now makes another model."]


def _said(value: float | bool | None) -> str:
    if value is None:
        return "none"
    return ("no", "yes")[value] if isinstance(value, bool) else f"{value:g}"


def _test_line(part: dict[str, Any]) -> str:
    return f"| {part['name']} | {part['operation']} | {part['asked']:,} | {part['failed']:,} | {per_million(part)} |"
