"""The bench: a small model with everything that commands read, made again after each attack; and commands run here.

Takes  an empty folder.
Gives  `Bench`; `run_command`, which says what became of a command.

The model is one of one digit that was trained for four steps: its files are small, and reading them is quick. Beside it
is work that was stopped: a training run, a test, a store of outcomes, results of a benchmark.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import signal
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

import torch

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.training_plans import plan_for
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.sources import SHIPPED
from carrylens.benchmark.saved_results import SavedResults
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.folders import add_sealed
from carrylens.interventions.store import Store
from carrylens.steps import finish
from carrylens.training.checkpoint import CHECKPOINT
from carrylens.training.run import start, train
from carrylens.workflow.training import train_model
from training.quiet import Quiet

LONGEST = 60
"""Seconds that a command may take on a damaged file, on a machine that does other work too."""
LONGEST_LINE = 1500
NAME = "add_d1_l1_h1_w6_t4_s1"
STOPPED_NAME = "add_d1_l1_h1_w6_t30_s1"
STORED = {b"%d" % at: b"record %d" % at * 9 for at in range(200)}
FOUND = {"is": ["saved", 1, 0.5]}
SHIPPED_NAME = "add_d5_l1_h3_w96_t5K_s1"
_LAYOUT = '{"digits": 2, "sign": false, "start": ["="], "vocabulary": "0123"}'


class Hang(BaseException):
    """A command took too long."""


def _hang(_: int, __: FrameType | None) -> None:
    raise Hang


def became_of(work: Callable[[], object], longest: int = LONGEST) -> tuple[str, str]:
    """What became of work: `done`, `refused`, or `wrong` with the traceback or what it said."""
    signal.signal(signal.SIGALRM, _hang)
    signal.alarm(longest)
    try:
        work()
        return "done", ""
    except CarryLensError as error:
        text = str(error)
        if "\n" in text or len(text) > LONGEST_LINE:
            return "wrong", f"no clear line: {text[:300]!r}"
        return "refused", text
    except Hang:
        return "wrong", f"took more than {longest} s"
    except SystemExit as stop:
        return ("refused", "") if stop.code else ("done", "")
    except BaseException:
        return "wrong", traceback.format_exc(limit=-3)
    finally:
        signal.alarm(0)


def run_command(folder: Path, words: Sequence[str], longest: int = LONGEST) -> tuple[str, str]:
    """What became of a command that is run in a folder."""
    said, before = io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            became, why = became_of(lambda: app(list(words), standalone_mode=False), longest)
    finally:
        os.chdir(before)
    return became, why or said.getvalue()


class Bench:
    """Folders with everything that commands read."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder, self.planted = root, root / NAME, root / "planted_model"
        os.environ["XDG_CACHE_HOME"] = str(root / "cache")
        train_model(plan_for(ModelName.parse(NAME)), self.folder, "cpu", 1, Quiet(), 1e9, resume=False, restart=False)
        plant(describe(Operation.ADD, 1)).save(self.planted)
        (root / "description.json").write_text(describe(Operation.ADD, 1).to_json())
        (root / "layout.json").write_text(_LAYOUT)
        (root / "weights.pt").write_bytes(b"no weights")
        for words in (
            ("test", NAME, "--save", "--questions", "20", "--per-class", "1"),
            ("map", NAME, "--quick"),
            ("settle", NAME, "--quick", "--budget", "0"),
            ("battery", NAME, "--quick", "--only", "axes"),
            ("judge", NAME),
        ):
            became, said = run_command(root, words)
            assert became == "done", f"{words} does not work: {said}"
        add_worked(self.folder, "1+1=", "+02")
        self._stop_work()
        self.whole = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def _stop_work(self) -> None:
        self.run = start(plan_for(ModelName.parse(STOPPED_NAME)), self.root / STOPPED_NAME, torch.device("cpu"))
        train(self.run, Quiet(25), 1e9)
        self.exam = self.begin_exam()
        next(self.exam.sit())
        self.exam.keep()
        (kept,) = (self.root / "cache" / "carrylens" / "exams").iterdir()
        store = Store(self.root / "outcomes.sqlite")
        store.add(STORED.items())
        store.close()
        SavedResults(self.root).once("found", {}, lambda: FOUND)
        checkpoint = self.root / STOPPED_NAME / CHECKPOINT
        self._elsewhere = {"kept.json": kept, checkpoint.name: checkpoint}

    def begin_exam(self) -> Exam:
        """A test of the model, from where it was stopped."""
        return Exam.start(str(self.folder), 30, 1, "cpu")

    def restore(self) -> None:
        """Undo what an attack and a command did."""
        for path in [path for path in self.root.rglob("*") if path.is_file() and path not in self.whole]:
            path.unlink()
        for path, content in self.whole.items():
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)

    def path_of(self, name: str) -> Path:
        """Where the file of that name is."""
        if name in self._elsewhere:
            return self._elsewhere[name]
        return next(place / name for place in (self.folder, self.planted, self.root) if (place / name) in self.whole)

    def words(self, reader: Sequence[str], path: Path) -> list[str]:
        """A command with the names of this bench."""
        names = {"FOLDER": str(self.folder), "PLANTED": str(self.planted), "FILE": str(path)}
        names |= {"STOPPED": STOPPED_NAME, "ITS-FOLDER": str(self.root / STOPPED_NAME)}
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


def add_worked(folder: Path, question: str, answer: str) -> None:
    """A question worked through the model of a folder, as `explain` keeps it."""
    test = json.loads((folder / "test.json").read_bytes())
    asked: dict[str, object] = {"question": question, "given": question[:-1], "answer": answer, "right": answer}
    asked |= {"tokens": [{"place": "A1", "token": "+", "p": 0.5}], "swaps": []}
    worked = {"model": test["model"], "sha256": test["sha256"], "questions": [asked]}
    finish(folder, "work", {"map": "0"}, {"worked.json": json.dumps(worked).encode()})


def shipped_folder(root: Path) -> Path:
    """A copy of a model that came with carrylens, with everything that its page shows."""
    folder = root / SHIPPED_NAME
    shutil.copytree(SHIPPED / SHIPPED_NAME, folder)
    became, said = run_command(root, ("judge", str(folder)))
    assert became != "wrong", said
    add_worked(folder, "12345+54321=", "+066666")
    fact = Fact("ablate", {"nodes": "P0L0H0"}, Rate(1, 9), Rate(0, 9), {"stream": "enriched", "seed": 0, "n": 9})
    add_sealed(folder, {"facts.jsonl": (fact.to_json() + "\n").encode()})
    return folder
