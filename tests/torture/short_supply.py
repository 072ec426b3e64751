"""Short supply: a disk that is full or fails once, and too little memory, at every stage of a command.

Takes  a victim.
Gives  how often a command met it, how often it ended with one clear line, and what went wrong then.

1. The command runs again and again; each time the disk is full from another call on, or that one call fails, or the
   memory is bounded by another amount more than it has at its start.
2. It must end right or with one clear line, and leave the folder as `kills.py` asks: the same command then, with
   enough of all, must end with the same bytes.
3. Without memory some libraries, and Python's own compiler, end the process by a signal before a line can be printed:
   such runs are counted apart. They, too, must have lost nothing.
"""

from __future__ import annotations

import errno
import math
import os
import random
import resource
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from torture.kills import CLEAR, AtCall, Attacked, Victim, interpose

_NEED_ROOM = ("open", "write", "pwrite", "mkdir")
_BY_LIBRARIES = (-signal.SIGABRT, -signal.SIGSEGV)
_LEAST, _MOST = 16, 26  # as powers of two: 64 KiB to 64 MiB more than a command has at its start


@dataclass
class SupplyTally:
    """How often a command ran short, how often it said so, how often a library ended it, and what went wrong."""

    runs: int = 0
    refused: int = 0
    ended: int = 0
    calls: int = 0
    wrong: list[str] = field(default_factory=list)


def fill_disk(
    victim: Victim, root: Path, calls: Iterable[int] | None = None, until: float = math.inf, *, once: bool = False
) -> SupplyTally:
    """Run with a disk that is full from each call on, or fails `once` at it, or at those given by number."""
    attacked = Attacked(victim, root)
    tally = SupplyTally(calls=len(attacked.calls))
    for number in calls or range(1, tally.calls + 1):
        if number > tally.calls or time.monotonic() > until:
            break
        how = "fails once" if once else "is full"
        where = f"{victim.name}, the disk {how} at call {number} ({attacked.calls[number - 1]})"
        _meet(attacked, tally, where, partial(_fail_from, number, once=once))
    return tally


def starve(victim: Victim, root: Path, count: int, seed: int = 0, until: float = math.inf) -> SupplyTally:
    """Run with memory bounded by amounts drawn with the seed."""
    attacked, tally, drawn = Attacked(victim, root), SupplyTally(), random.Random(seed)
    for _ in range(count):
        if time.monotonic() > until:
            break
        more = int(2 ** drawn.uniform(_LEAST, _MOST))
        where = f"{victim.name}, {more >> 10} KiB more"
        _meet(attacked, tally, where, partial(_bound_memory, more), may_be_ended=True)
    return tally


def _meet(
    attacked: Attacked, tally: SupplyTally, where: str, prepare: Callable[[], None], *, may_be_ended: bool = False
) -> None:
    attacked.restore()
    status = os.waitstatus_to_exitcode(attacked.forked(prepare))
    tally.runs += 1
    tally.refused += status == CLEAR
    if may_be_ended and status in _BY_LIBRARIES:
        tally.ended += 1
    elif status not in (0, CLEAR):
        tally.wrong.append(f"{where}: status {status}: {attacked.error()}")
    tally.wrong += attacked.look(where)


def _fail_from(number: int, *, once: bool) -> None:
    interpose(_failing(number, once=once))


def _failing(number: int, *, once: bool) -> AtCall:
    n_calls = 0

    def at_call(name: str, _: Callable[..., Any], __: tuple[Any, ...]) -> None:
        nonlocal n_calls
        n_calls += 1
        if n_calls == number if once else n_calls >= number and name in _NEED_ROOM:
            what = errno.EIO if once else errno.ENOSPC
            raise OSError(what, os.strerror(what))

    return at_call


def _bound_memory(more: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, most))
