"""Corruption: damaged files of every kind, given to every function and command that reads them.

Takes  how many of each, and a seed.
Gives  what went wrong: a traceback, a hang, or a damaged file that was believed though its seal says otherwise.

1. A damaged file goes to the functions by which commands read it; half of them with a seal that fits, so that the
   schema alone must see it.
2. What every function accepts, because it says something else and no less possible, goes to a command, too, which has
   to print or draw it. So does one in EVERY of those that were refused: the command must refuse it as well.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.benchmark.saved_results import SavedResults
from carrylens.files import read_whole
from carrylens.interventions.store import Store
from carrylens.model.weights import hash_of
from carrylens.training.checkpoint import CHECKPOINT
from carrylens.training.run import resume
from carrylens.workflow.importing import task_of
from carrylens.workflow.judging import joint_judgement, judge_map
from carrylens.workflow.known_truths import beside_truth
from carrylens.workflow.published_analyses import saved_analyses
from carrylens.workflow.reading import read_members, read_source
from torture.bench import FOUND, STORED, Bench, became_of, run_command
from torture.damage import Damaged, crafted, drawn

EVERY = 25

Read = Callable[[Bench, Path], object]
READS: dict[str, Read] = {
    "all": lambda bench, _: read_source(find_source(str(bench.folder)), None),
    "member": lambda bench, _: read_members([str(bench.folder)]),
    "load": lambda bench, _: find_source(str(bench.folder)).load(),
    "judge": lambda bench, _: joint_judgement(bench.folder, judge_map(bench.folder, None), usual=True),
    "publish": lambda bench, _: saved_analyses(find_source(str(bench.folder))),
    "planted": lambda bench, _: beside_truth(
        find_source(str(bench.planted)), read_source(find_source(str(bench.folder)), None)[1].map
    ),
    "description": lambda _, path: CircuitDescription.from_json(read_whole(path), source=str(path)),
    "layout": lambda _, path: task_of("add", 2, [str(path)]),
    "resume": lambda bench, path: _resumed(bench, path.parent),
    "exam": lambda bench, _: _gone_on(bench),
    "store": lambda _, path: _stored(path),
    "found": lambda bench, _: _found(bench),
}
"""The functions by which commands read files."""


def _resumed(bench: Bench, folder: Path) -> None:
    found, run = resume(bench.run.plan, folder, bench.run.device), bench.run
    assert (found.step, found.history, hash_of(found.model)) == (run.step, run.history, hash_of(run.model)), "believed"


def _gone_on(bench: Bench) -> None:
    found = bench.begin_exam()
    is_anew = found.asked == 0 and found.note is not None
    assert is_anew or found.results == bench.exam.results, "believed"


def _stored(path: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        store = Store(Path(shutil.copy(path, place)))
        try:
            assert store.known(list(STORED)).items() <= STORED.items(), "believed"
        finally:
            store.close()


def _found(bench: Bench) -> None:
    again = {"is": "computed again"}
    assert SavedResults(bench.root).once("found", {}, lambda: again) in (FOUND, again), "believed"


_REPORT, _FAMILY, _JUDGE = ("report", "FOLDER"), ("family", "FOLDER"), ("judge", "FOLDER")
_PUBLISH, _ASK = ("publish", "FOLDER", "hf:a/b", "--dry-run"), ("ask", "FOLDER", "1+1")
_EXPLORE = ("explore", "FOLDER", "--out", "explore.html")
READERS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]] = {
    "map.json": (("all", "judge"), (_JUDGE, _REPORT, _FAMILY, _EXPLORE, _PUBLISH)),
    "claims.json": (("all",), (_REPORT, _FAMILY, _EXPLORE, _PUBLISH)),
    "alignment.json": (("judge", "all"), (_JUDGE, _REPORT, _PUBLISH)),
    "test.json": (("all", "publish"), (_REPORT, _FAMILY, _PUBLISH, ("test", "FOLDER", "--questions", "1"))),
    "training.jsonl": (("all",), (("losses", "FOLDER", "--svg", "losses.svg"), _REPORT, _PUBLISH)),
    "battery.json": (("all", "member"), (_REPORT, _FAMILY)),
    "config.json": (("load",), (_ASK, _REPORT)),
    "manifest.json": (("all", "load"), (_ASK, _JUDGE, _REPORT)),
    "model.safetensors": (("load",), (_ASK, _REPORT)),
    "steps.json": (("all",), (_REPORT,)),
    "worked.json": (("all",), (_REPORT,)),
    "facts.jsonl.gz": (("all",), (_REPORT,)),
    "truth.json": (("planted",), (("ask", "PLANTED", "1+2"),)),
    "description.json": (("description",), (("plant", "--description", "FILE", "--out", "made", "--describe"),)),
    "layout.json": (("layout",), (("import", "weights.pt", "--digits", "2", "--layout", "FILE", "--out", "made"),)),
    CHECKPOINT: (("resume",), (("train", "STOPPED", "--resume", "--out", "ITS-FOLDER"),)),
    "kept.json": (("exam",), (("test", "FOLDER", "--questions", "30", "--per-class", "1"),)),
    "outcomes.sqlite": (("store",), ()),
    "found.json": (("found",), ()),
}
"""Who reads a file of each name: functions, and commands."""
FORGOTTEN = {"steps.json", "kept.json", "outcomes.sqlite", "found.json"}
"""A damaged one is as none: everything is done again, and nothing is refused."""
SEALED = READERS.keys() - {"manifest.json", "description.json", "layout.json", CHECKPOINT, *FORGOTTEN}


@dataclass
class Tally:
    """How many damaged files there were, how many were refused, what commands were given, and what went wrong."""

    files: int = 0
    refused: int = 0
    commands: int = 0
    wrong: list[str] = field(default_factory=list)


def attack(bench: Bench, name: str, damaged: Damaged, *, resealed: bool, tally: Tally) -> bool:
    """One damaged file, given to every function that reads it, and maybe to a command; whether it was refused."""
    path, (what, content) = bench.path_of(name), damaged
    functions, commands = READERS[name]
    path.write_bytes(content)
    if resealed:
        bench.reseal(path)
    outcomes = {each: became_of(partial(READS[each], bench, path)) for each in functions}
    is_refused = any(became == "refused" for became, _ in outcomes.values())
    if commands and ((not is_refused and name not in FORGOTTEN) or tally.files % EVERY == 0):
        command = commands[tally.files % len(commands)]
        path.write_bytes(damaged[1])  # who read it may have set it aside
        outcomes[" ".join(command)] = run_command(bench.root, bench.words(command, path))
        tally.commands += 1
        bench.restore()
    path.write_bytes(bench.whole[path])
    if (manifest := path.with_name("manifest.json")) in bench.whole:
        manifest.write_bytes(bench.whole[manifest])
    for who, (became, said) in outcomes.items():
        if became == "done" and not resealed and name in SEALED:
            became, said = "wrong", "it was believed, though its seal is another's"
        if became == "wrong":
            tally.wrong.append(f"{name}, {what}{', resealed' if resealed else ''}, {who}: {said}")
    tally.files += 1
    tally.refused += is_refused
    return is_refused


def attacks(bench: Bench, name: str, n_random: int, n_crafted: int, seed: int) -> Iterator[tuple[Damaged, bool]]:
    """Damaged forms of one file: half of them with a seal that fits, so that the schema alone must see it."""
    content = bench.whole[bench.path_of(name)]
    random_ = random.Random(f"{name} {seed}")
    every = ((crafted, n_crafted), (drawn, n_random))
    forms = (form for damage, n in every for form in islice(_changed(damage(content, random_, 3 * n), content), n))
    for at, damaged in enumerate(forms):
        yield damaged, at % 2 == 0


def _changed(forms: Iterator[Damaged], content: bytes) -> Iterator[Damaged]:
    return (form for form in forms if form[1] != content)


def corrupt(bench: Bench, names: Sequence[str], n_random: int, n_crafted: int, seed: int = 0) -> dict[str, Tally]:
    """Every attack on every named kind of file."""
    tallies = {}
    for name in names:
        tallies[name] = Tally()
        for damaged, resealed in attacks(bench, name, n_random, n_crafted, seed):
            attack(bench, name, damaged, resealed=resealed, tally=tallies[name])
    return tallies
