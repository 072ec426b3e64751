"""Kills: what a kill leaves of a folder, and what the same command then makes of it.

Takes  a folder as it is before, and a command.
Gives  what went wrong: a folder that is neither as before nor as after, or a second run that ends otherwise.

A kill leaves the disk as it is at that moment. After each:
1. Every sealed file must be as sealed, and all manifests in a state that an undisturbed run goes through.
2. The same command must end as an undisturbed run does, with no draft and no lock of a seal left (that of
   long work, held by nobody, goes with the next work there). It may end sooner: where the
   folder becomes just as it was at another kill from which a run has ended so already.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import json
import math
import os
import random
import resource
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from carrylens import cli
from carrylens.errors import CarryLensError
from carrylens.files import WORK
from carrylens.folders import MANIFEST, check_sealed
from carrylens.terminal import BAD_INPUT

Command = Callable[[Path], None]
CALLS = (
    *("open", "write", "pwrite", "fsync", "truncate", "ftruncate", "chmod"),
    *("replace", "rename", "unlink", "remove", "mkdir", "rmdir"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_REAL = {name: getattr(os, name) for name in CALLS}
CLEAR, _UNCLEAR, _JOINED = 3, 4, 7
_LONGEST = 300
"""Seconds after which a command that has not ended is ended, and seen to hang by its status."""
_TORCH = (
    *("explaining", "settling", "training", "planting", "importing", "publishing", "family_run.route", "benchmarking"),
    *("family_run.row_folder", "page_files"),
)
_SLOW_TO_IMPORT = ("torch._dynamo", "typer._adapters", "carrylens.front.views", "carrylens.report.page.headline")


@dataclass
class KillTally:
    """How many kills there were, in how many states they left the disk, and what went wrong."""

    kills: int = 0
    calls: int = 0
    states: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Victim:
    """A command and the folder it works in. `timed` are patterns of files whose content depends on the clock.

    `cost` is how many seconds of computing it takes to kill it at every call: its share of the time.
    """

    name: str
    make: Command
    run: Command
    timed: frozenset[str] = frozenset()
    torch: bool = False
    cost: float = 10


def kill_at_random(victim: Victim, root: Path, count: int, seed: int = 0, until: float = math.inf) -> KillTally:
    """Kill the command at moments drawn with the seed, up to the time that it takes, as long as there is time."""
    attacked, tally, drawn = Attacked(victim, root), KillTally(), random.Random(seed)
    for _ in range(count):
        if time.monotonic() > until:
            break
        wait = drawn.random() * attacked.seconds
        attacked.restore()
        status = attacked.forked(wait=wait)
        tally.kills += os.WIFSIGNALED(status)
        tally.wrong += attacked.look(f"{victim.name}, after {wait:.3f} s")
    return tally


AtCall = Callable[[str, Callable[..., Any], tuple[Any, ...]], None]


class Attacked:
    """A victim, what one whole run of it did, and the folder that is attacked; `walk` sees every call of that run."""

    def __init__(self, victim: Victim, root: Path, walk: Callable[[Attacked], AtCall] | None = None) -> None:
        self.victim, self.root, self.before, self.folder = victim, root, root / "before", root / "folder"
        self.before.mkdir(parents=True)
        preload(torch=victim.torch)
        assert self.forked(run=victim.make, folder=self.before) == 0, f"{victim.name} cannot be prepared"
        self.restore()
        began = time.monotonic()
        status = self.forked(lambda: interpose(_noting(self, walk(self) if walk else None)))
        self.seconds = time.monotonic() - began
        assert status == 0, f"{victim.name} does not work: {self.error()}"
        noted = json.loads((root / "notes.json").read_text())
        self.calls: list[str] = noted["calls"]
        self.states = {*noted["states"], _state(self.folder)}
        self.after = self.tree()

    def restore(self, kept: Path | None = None) -> None:
        """The folder as it was before, or as a kill left it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if kept is None:
            shutil.copytree(self.before, self.folder)
        else:
            kept.replace(self.folder)

    def tree(self) -> dict[str, str]:
        """The hash of every file that is a result; those that depend on the clock are named alone."""
        clock = {*self.victim.timed, *([MANIFEST] if self.victim.timed else [])}
        return {
            str(path.relative_to(self.folder)): "" if any(map(path.match, clock)) else hash_of(path)
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not _is_no_result(path)
        }

    def digest(self) -> str:
        """The results as they are, in one hash."""
        return _sha256(json.dumps(self.tree()))

    def whole_digest(self) -> str:
        """The folder as it is: with records that are kept between runs, and which locks there are."""
        others = [path for path in sorted(self.folder.rglob("*")) if path.is_file() and _is_no_result(path)]
        named = {path.name: "" if path.suffix == ".lock" else hash_of(path) for path in others}
        return _sha256(self.digest() + json.dumps(named))

    def forked(
        self,
        prepare: Callable[[], None] = lambda: None,
        run: Command | None = None,
        folder: Path | None = None,
        wait: float | None = None,
    ) -> int:
        """What became of a process that runs the command, or is killed after a while."""
        command, place = run or self.victim.run, folder or self.folder
        pid = os.fork()
        if pid == 0:
            with (
                Path(os.devnull).open("w") as nowhere,
                contextlib.redirect_stdout(nowhere),
                contextlib.redirect_stderr(nowhere),
            ):
                try:
                    os.environ["RUST_BACKTRACE"] = "0"  # as in a process of the command's own
                    signal.alarm(_LONGEST)
                    prepare()
                    command(place)
                    status = 0
                except BaseException as error:
                    _enough_again()
                    Path(f"{self.folder}.error").write_text(repr(error))
                    status = CLEAR if _is_clear(error) else _UNCLEAR
            for end in _ENDS:
                end()
            os._exit(status)
        if wait is not None:
            time.sleep(wait)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return os.waitpid(pid, 0)[1]

    def look(self, where: str, known: frozenset[str] = frozenset()) -> list[str]:
        """What is wrong with the folder as it was left, and with what the same command then makes of it.

        A run that brings the folder into a `known` state has ended right before.
        """
        wrong = []
        try:
            if not self.victim.timed and (state := _state(self.folder)) not in self.states:
                wrong.append(f"{where}: a state that no run goes through: {state[:300]}")
            for manifest in self.folder.rglob(MANIFEST):
                check_sealed(manifest.parent)
        except CarryLensError as error:
            wrong.append(f"{where}: {error}")
        status = os.waitstatus_to_exitcode(self.forked(lambda: interpose(self._joining(known)) if known else None))
        if status == _JOINED:
            return wrong
        if status != 0:
            wrong.append(f"{where}: the command fails: {self.error()}")
        elif (after := self.tree()) != self.after:
            differs = {name for name in after.keys() | self.after.keys() if after.get(name) != self.after.get(name)}
            wrong.append(f"{where}: the command then leaves other files: {sorted(differs)}")
        elif left := [
            path.name for path in self.folder.rglob(".*") if path.suffix in (".lock", ".part") and path.name != WORK
        ]:
            wrong.append(f"{where}: it leaves {left}")
        return wrong

    def _joining(self, known: frozenset[str]) -> AtCall:
        first = self.digest()

        def at_call(_: str, __: Callable[..., Any], ___: tuple[Any, ...]) -> None:
            if (now := self.digest()) != first and now in known:
                os._exit(_JOINED)

        return at_call

    def error(self) -> str:
        """What the command said last, if it failed."""
        path = Path(f"{self.folder}.error")
        return path.read_text() if path.exists() else "it was killed"


def _is_no_result(path: Path) -> bool:
    return path.suffix == ".lock" or ".sqlite" in path.name


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def hash_of(path: Path) -> str:
    """The hash of a file, computed once for as long as it is the same."""
    about = path.stat()
    return _hash_of(str(path), about.st_ino, about.st_size, about.st_mtime_ns)


@cache
def _hash_of(path: str, _inode: int, _size: int, _time: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def preload(*, torch: bool) -> None:
    """Import once, and not in every process: that takes longer than most commands."""
    modules = ["carrylens.cli", "carrylens.workflow.judging", "carrylens.report.terminal.claims"]
    if torch:
        modules += [f"carrylens.workflow.{name}" for name in _TORCH]
        modules += ["carrylens.arithmetic.planted.planting", *_SLOW_TO_IMPORT]
    for name in modules:
        importlib.import_module(name)
    if torch:
        importlib.import_module("torch").set_num_threads(1)
    gc.freeze()  # what is there is shared by all processes, as long as nobody counts it


def _enough_again() -> None:
    for name, real in _REAL.items():
        setattr(os, name, real)
    resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)


def _is_clear(error: BaseException) -> bool:
    # Whether the command line, in this process that is about to end, makes one line of it.
    def raising(*_: object, **__: object) -> None:
        raise error

    cli.app = raising  # type: ignore[assignment]
    try:
        cli.main()
    except SystemExit as stop:
        return stop.code == BAD_INPUT and "\n" not in str(error)
    except BaseException:
        return False
    return False


def _state(folder: Path) -> str:
    return json.dumps({str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob(MANIFEST))})


_ENDS: list[Callable[[], None]] = []


def interpose(at_call: AtCall) -> None:
    """In a process of its own: let every call that changes the disk go through `at_call` first, but for its own."""
    is_within = False

    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            nonlocal is_within
            if not is_within and (name != "open" or args[1] & _WRITES):
                is_within = True
                at_call(name, real, args)
                is_within = False
            return real(*args, **more)

        return call

    for name, real in _REAL.items():
        setattr(os, name, wrapped(name, real))


def _noting(attacked: Attacked, walk: AtCall | None) -> AtCall:
    calls: list[str] = []
    states: dict[str, None] = {}

    def at_call(name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> None:
        calls.append(name)
        states.setdefault(_state(attacked.folder))
        if walk is not None:
            walk(name, real, args)

    def end() -> None:
        _enough_again()
        (attacked.root / "notes.json").write_text(json.dumps({"calls": calls, "states": list(states)}))

    _ENDS.append(end)
    return at_call
