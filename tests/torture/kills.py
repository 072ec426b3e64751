"""Kills: commands that are killed at every call by which they change the disk, and then run again.

Takes  a folder as it is before, and a command.
Gives  what went wrong: a folder that is neither as before nor as after, or a second run that ends otherwise.

A kill leaves the disk as it is at that call, so killing at every call shows every state that a kill can leave:
1. One run is let through: its calls are counted, and each state that the sealed files go through is noted.
2. For each call, a copy of the folder is given to a process that kills itself there: before the call, or, where it is a
   write, half way through it.
3. Then every sealed file must be as sealed, in a state that was noted; and the same command must end as the first run
   did, with no draft and no lock left.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import math
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from carrylens.errors import CarryLensError
from carrylens.folders import MANIFEST, check_sealed

Command = Callable[[Path], None]
CALLS = (
    *("open", "write", "pwrite", "fsync", "truncate", "ftruncate", "chmod"),
    *("replace", "rename", "unlink", "remove", "mkdir", "rmdir"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_REAL = {name: getattr(os, name) for name in CALLS}


@dataclass
class KillTally:
    """How many kills there were, and what went wrong."""

    kills: int = 0
    calls: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Victim:
    """A command and the folder it works in. `timed` are files whose content depends on the clock."""

    name: str
    make: Command
    run: Command
    timed: frozenset[str] = frozenset()
    torch: bool = False


def kill_at_every_call(
    victim: Victim, root: Path, calls: Iterable[int] | None = None, until: float = math.inf
) -> KillTally:
    """Kill the command at each of its calls, or at those given by number, as long as there is time."""
    attacked, tally = _Attacked(victim, root), KillTally()
    tally.calls = len(attacked.calls)
    every = range(1, len(attacked.calls) + 1)
    for at in every if calls is None else [call for call in calls if call in every]:
        if time.monotonic() > until:
            break
        for half in (False, True) if attacked.calls[at - 1] == "write" else (False,):
            status = attacked.killed(partial(_interpose, _killing(at, half)))
            where = f"{victim.name}, call {at} ({attacked.calls[at - 1]}{', half' if half else ''})"
            if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
                tally.wrong.append(f"{where}: it was not killed")
            tally.kills += 1
            tally.wrong += attacked.look(where)
    return tally


def kill_at_random(victim: Victim, root: Path, count: int, seed: int = 0, until: float = math.inf) -> KillTally:
    """Kill the command at moments drawn with the seed, up to the time that it takes, as long as there is time."""
    attacked, tally, drawn = _Attacked(victim, root), KillTally(), random.Random(seed)
    for _ in range(count):
        if time.monotonic() > until:
            break
        wait = drawn.random() * attacked.seconds
        status = attacked.killed(lambda: None, wait)
        tally.kills += os.WIFSIGNALED(status)
        tally.wrong += attacked.look(f"{victim.name}, after {wait:.3f} s")
    return tally


class _Attacked:
    # A victim, what one whole run of it did, and the folder that is attacked.
    def __init__(self, victim: Victim, root: Path) -> None:
        self.victim, self.before, self.folder = victim, root / "before", root / "folder"
        self.before.mkdir(parents=True)
        _preload(torch=victim.torch)
        assert self._forked(lambda: None, victim.make, self.before) == 0, f"{victim.name} cannot be prepared"
        notes = root / "notes.json"
        self.restore()
        began = time.monotonic()
        status = self.killed(lambda: _interpose(_noting(self.folder, notes)))
        self.seconds = time.monotonic() - began
        assert status == 0, f"{victim.name} does not work"
        noted = json.loads(notes.read_text())
        self.calls: list[str] = noted["calls"]
        self.states = {*noted["states"], _state(self.folder)}
        self.after = self.tree()

    def restore(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.before, self.folder)

    def tree(self) -> dict[str, str]:
        every = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.suffix != ".lock")
        clock = {*self.victim.timed, *([MANIFEST] if self.victim.timed else [])}
        return {
            str(path.relative_to(self.folder)): "" if path.name in clock else _sha256(path.read_bytes())
            for path in every
        }

    def killed(self, prepare: Callable[[], None], wait: float | None = None) -> int:
        # What became of a process that runs the command.
        self.restore()
        return self._forked(prepare, wait=wait)

    def _forked(
        self,
        prepare: Callable[[], None],
        run: Command | None = None,
        folder: Path | None = None,
        wait: float | None = None,
    ) -> int:
        command, place = run or self.victim.run, folder or self.folder
        pid = os.fork()
        if pid == 0:
            with (
                Path(os.devnull).open("w") as nowhere,
                contextlib.redirect_stdout(nowhere),
                contextlib.redirect_stderr(nowhere),
            ):
                prepare()
                try:
                    command(place)
                    status = 0
                except BaseException as error:
                    Path(f"{self.folder}.error").write_text(repr(error))
                    status = 3
            _at_end()
            os._exit(status)
        if wait is not None:
            time.sleep(wait)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return os.waitpid(pid, 0)[1]

    def look(self, where: str) -> list[str]:
        # What is wrong with the folder as it was left, and with what the same command then makes of it.
        wrong = []
        try:
            if not self.victim.timed and (state := _state(self.folder)) not in self.states:
                wrong.append(f"{where}: a state that no run goes through: {state[:300]}")
            for manifest in self.folder.rglob(MANIFEST):
                check_sealed(manifest.parent)
        except CarryLensError as error:
            wrong.append(f"{where}: {error}")
        if self._forked(lambda: None) != 0:
            wrong.append(f"{where}: the command fails: {Path(f'{self.folder}.error').read_text()}")
        elif (after := self.tree()) != self.after:
            differs = {name for name in after.keys() | self.after.keys() if after.get(name) != self.after.get(name)}
            wrong.append(f"{where}: the command then leaves other files: {sorted(differs)}")
        return wrong


def _preload(*, torch: bool) -> None:
    # Once, and not in every process: to import takes longer than most commands.
    modules = ["carrylens.cli", "carrylens.workflow.judging", "carrylens.report.terminal.claims"]
    if torch:
        modules += ["carrylens.workflow.explaining", "carrylens.workflow.settling", "carrylens.workflow.training"]
        modules += ["carrylens.arithmetic.planted.planting", "carrylens.report.page.headline"]
    for name in modules:
        importlib.import_module(name)
    if torch:
        importlib.import_module("torch").set_num_threads(1)


def _state(folder: Path) -> str:
    return json.dumps({str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob(MANIFEST))})


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


_AtCall = Callable[[str, Callable[..., Any], tuple[Any, ...]], None]
_ENDS: list[Callable[[], None]] = []


def _at_end() -> None:
    for end in _ENDS:
        end()


def _interpose(at_call: _AtCall) -> None:
    # In the process that is to be killed: every call that changes the disk goes through `at_call` first.
    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            if name != "open" or args[1] & _WRITES:
                at_call(name, real, args)
            return real(*args, **more)

        return call

    for name, real in _REAL.items():
        setattr(os, name, wrapped(name, real))


def _killing(at: int, half: bool) -> _AtCall:
    count = 0

    def at_call(name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> None:
        nonlocal count
        count += 1
        if count == at:
            if half and name == "write":
                real(args[0], bytes(args[1])[: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

    return at_call


def _noting(folder: Path, notes: Path) -> _AtCall:
    calls: list[str] = []
    states: dict[str, None] = {}

    def at_call(name: str, _: Callable[..., Any], __: tuple[Any, ...]) -> None:
        calls.append(name)
        states.setdefault(_state(folder))

    def end() -> None:
        notes.write_text(json.dumps({"calls": calls, "states": list(states)}))

    _ENDS.append(end)
    return at_call
