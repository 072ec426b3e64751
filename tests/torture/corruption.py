"""Corruption: damaged files of every kind, given to every command that reads them.

Takes  how many of each, and a seed.
Gives  what went wrong: a traceback, a hang, or a damaged file that was believed though its seal says otherwise.

    python -m torture.corruption --random 300 --crafted 100

runs it whole; `tests/torture/test_corruption.py` runs a few of each.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.cli import app
from carrylens.errors import CarryLensError
from torture.damage import Damaged, crafted, drawn

LONGEST = 60
"""Seconds that a command may take on a damaged file, on a machine that does other work too."""
NAME = "add_d5_l1_h3_w96_t5K_s1"

READERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "map.json": (("judge", "FOLDER"), ("report", "FOLDER"), ("family", "FOLDER")),
    "claims.json": (("report", "FOLDER"), ("family", "FOLDER")),
    "test.json": (("report", "FOLDER"), ("family", "FOLDER")),
    "training.jsonl": (("losses", "FOLDER", "--svg", "losses.svg"), ("report", "FOLDER")),
    "battery.json": (("report", "FOLDER"), ("family", "FOLDER")),
    "config.json": (("ask", "FOLDER", "12345+54321"), ("judge", "FOLDER")),
    "manifest.json": (("ask", "FOLDER", "12345+54321"), ("judge", "FOLDER"), ("report", "FOLDER")),
    "model.safetensors": (("ask", "FOLDER", "12345+54321"), ("report", "FOLDER")),
    "steps.json": (("report", "FOLDER"),),
    "worked.json": (("report", "FOLDER"),),
    "facts.jsonl": (("report", "FOLDER"),),
    "truth.json": (("ask", "PLANTED", "12+34"),),
    "description.json": (("plant", "--description", "FILE", "--out", "planted", "--describe"),),
    "layout.json": (("import", "weights.pt", "--digits", "2", "--layout", "FILE", "--out", "imported"),),
}


SEALED = {"map.json", "claims.json", "test.json", "training.jsonl", "battery.json", "config.json", "worked.json"}
SEALED |= {"facts.jsonl", "truth.json", "model.safetensors"}
DOES_WITHOUT: dict[tuple[str, ...], set[str]] = {("judge", "FOLDER"): {"config.json"}}
"""Sealed files that a command does without: to judge a map no config is needed."""


@dataclass
class Tally:
    """How many damaged files were given to commands, and what went wrong."""

    tried: int = 0
    refused: int = 0
    accepted: int = 0
    wrong: list[str] = field(default_factory=list)


class Bench:
    """A folder of a model with everything that commands read, made again after each attack."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / NAME
        self.planted = root / "planted_model"
        self._make()
        self.whole = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for reader in {reader for readers in READERS.values() for reader in readers if reader[0] != "import"}:
            became, said = run_command(root, self.words(reader, root / "description.json"))
            assert became == "done", f"{reader} does not work on whole files: {said}"
            self.restore()

    def _make(self) -> None:
        from carrylens.arithmetic.zoo.sources import SHIPPED

        shutil.copytree(SHIPPED / NAME, self.folder)
        plant(describe(Operation.ADD, 2)).save(self.planted)
        (self.root / "description.json").write_text(describe(Operation.ADD, 2).to_json())
        (self.root / "layout.json").write_text('{"digits": 2, "sign": false, "start": ["="], "vocabulary": "0123"}')
        (self.root / "weights.pt").write_bytes(b"no weights")
        for words in (("judge", str(self.folder)),):
            run_command(self.root, words)
        from carrylens.evidence.facts import Fact
        from carrylens.evidence.rates import Rate
        from carrylens.folders import add_sealed
        from carrylens.steps import finish

        token = {"place": "A5", "token": "+", "p": 0.5}
        question: dict[str, object] = {
            "question": "12345+54321=",
            "given": "12345+54321",
            "answer": "+066666",
            "right": "+066666",
        }
        question |= {"tokens": [token], "swaps": []}
        test = json.loads((self.folder / "test.json").read_bytes())
        worked = {"model": NAME, "sha256": test["sha256"], "questions": [question]}
        finish(self.folder, "work", {"map": "0"}, {"worked.json": json.dumps(worked).encode()})
        fact = Fact("ablate", {"nodes": "P0L0H0"}, Rate(1, 9), Rate(0, 9), {"stream": "enriched", "seed": 0, "n": 9})
        add_sealed(self.folder, {"facts.jsonl": (fact.to_json() + "\n").encode()})

    def restore(self) -> None:
        """Undo what an attack and a command did."""
        for path in [path for path in self.root.rglob("*") if path.is_file() and path not in self.whole]:
            path.unlink()
        for path, content in self.whole.items():
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)

    def path_of(self, name: str) -> Path:
        """Where the file of that name is."""
        return next(place / name for place in (self.folder, self.planted, self.root) if (place / name) in self.whole)

    def words(self, reader: Sequence[str], path: Path) -> list[str]:
        """A command with the names of this bench."""
        names = {"FOLDER": str(self.folder), "PLANTED": str(self.planted), "FILE": str(path)}
        return [names.get(word, word) for word in reader]

    def reseal(self, path: Path) -> None:
        """List the file as it is now: then nothing but its schema is left to see what is wrong."""
        manifest = path.with_name("manifest.json")
        if not manifest.exists() or path == manifest:
            return
        listed = json.loads(manifest.read_bytes())
        if path.name in listed["sha256"]:
            listed["sha256"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
            manifest.write_text(json.dumps(listed))


class Hang(BaseException):
    """A command took too long."""


def _hang(_: int, __: FrameType | None) -> None:
    raise Hang


def run_command(folder: Path, words: Sequence[str]) -> tuple[str, str]:
    """What became of a command: `done`, `refused`, or `wrong` with the traceback or what it printed."""
    said, before = io.StringIO(), Path.cwd()
    signal.signal(signal.SIGALRM, _hang)
    signal.alarm(LONGEST)
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            app(list(words), standalone_mode=False)
        return "done", said.getvalue()
    except CarryLensError as error:
        text = str(error)
        if "\n" in text or len(text) > 1500:
            return "wrong", f"no clear line: {text[:300]!r}"
        return "refused", text
    except Hang:
        return "wrong", f"took more than {LONGEST} s"
    except SystemExit as stop:
        return ("refused", "") if stop.code else ("done", said.getvalue())
    except BaseException:
        return "wrong", traceback.format_exc(limit=-3)
    finally:
        signal.alarm(0)
        os.chdir(before)


def attack(bench: Bench, name: str, damaged: Damaged, *, resealed: bool, tally: Tally) -> None:
    """One damaged file, given to every command that reads it."""
    path, (what, content) = bench.path_of(name), damaged
    for reader in READERS[name]:
        path.write_bytes(content)
        if resealed:
            bench.reseal(path)
        became, said = run_command(bench.root, bench.words(reader, path))
        tally.tried += 1
        tally.refused += became == "refused"
        tally.accepted += became == "done"
        if became == "done" and not resealed and name in SEALED and name not in DOES_WITHOUT.get(reader, set()):
            became, said = "wrong", "it was believed, though its seal is another's"
        if became == "wrong":
            tally.wrong.append(f"{name}, {what}{', resealed' if resealed else ''}, {' '.join(reader)}: {said}")
        bench.restore()


def attacks(bench: Bench, name: str, n_random: int, n_crafted: int, seed: int) -> Iterator[tuple[Damaged, bool]]:
    """Damaged forms of one file: half of them with a seal that fits, so that the schema alone must see it."""
    content = bench.whole[bench.path_of(name)]
    random_ = random.Random(f"{name} {seed}")
    every = [*crafted(content, random_, n_crafted), *drawn(content, random_, n_random)]
    for at, damaged in enumerate(every):
        if damaged[1] != content:
            yield damaged, at % 2 == 0


def corrupt(bench: Bench, names: Sequence[str], n_random: int, n_crafted: int, seed: int = 0) -> dict[str, Tally]:
    """Every attack on every named kind of file."""
    tallies = {}
    for name in names:
        tallies[name] = Tally()
        for damaged, resealed in attacks(bench, name, n_random, n_crafted, seed):
            attack(bench, name, damaged, resealed=resealed, tally=tallies[name])
    return tallies


def main() -> int:
    """The whole of it from the command line."""
    import tempfile

    parser = argparse.ArgumentParser(description="Damaged files of every kind, given to every command that reads them.")
    parser.add_argument("--random", type=int, default=300)
    parser.add_argument("--crafted", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place))
        for name in given.only or READERS:
            began = time.monotonic()
            tally = corrupt(bench, [name], given.random, given.crafted, given.seed)[name]
            took = time.monotonic() - began
            line = f"{name}: {tally.tried} tried, {tally.refused} refused, {tally.accepted} of no effect or valid, "
            sys.stdout.write(f"{line}{len(tally.wrong)} wrong, {took:.0f} s\n")
            sys.stdout.flush()
            wrong += tally.wrong
    for each in wrong:
        sys.stdout.write(f"\n{each}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
