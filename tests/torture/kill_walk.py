"""The walk of a command from call to call, killed at each: one run shows every state that a kill can leave.

Takes  a victim.
Gives  a tally of kills, and what went wrong after them.

1. The command runs once. Before every call that changes the disk its process splits in two: one half is killed there
   (SIGKILL), before the call or half way through a write; the folder as it lies then is kept. The other half goes on.
2. Each folder that was kept, the last one first, is what the same command then has to go on from. Folders that are the
   same to the last byte are looked at once.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from torture.kills import AtCall, Attacked, KillTally, Victim

WHOLE = 10
"""One run in so many goes on to its end, even where it comes into a state from which others have."""


def kill_at_every_call(
    victim: Victim, root: Path, calls: Iterable[int] | None = None, until: float = math.inf
) -> KillTally:
    """Kill the command at each of its calls, or look at those given by number, as long as there is time."""
    attacked = Attacked(victim, root, _walking)
    kept = [json.loads(line) for line in (root / "kept.jsonl").read_text().splitlines()]
    tally = KillTally(calls=len(attacked.calls))
    tally.wrong += [f"{victim.name}, call {each['call']}: it was not killed" for each in kept if not each["killed"]]
    wanted = None if calls is None else set(calls)
    seen: set[str] = set()
    known: set[str] = set()
    for at, each in enumerate(reversed(kept)):
        is_asked = wanted is None or each["call"] in wanted
        if each["state"] in seen or not is_asked or time.monotonic() > until:
            tally.kills += is_asked and each["state"] in seen
            continue
        seen.add(each["state"])
        tally.kills, tally.states = tally.kills + 1, tally.states + 1
        attacked.restore(root / "kept" / each["state"])
        where = f"{victim.name}, call {each['call']} ({each['name']}{', half' if each['half'] else ''})"
        wrong = attacked.look(where, frozenset() if at % WHOLE == 0 else frozenset(known))
        known |= set() if wrong else {each["results"]}
        tally.wrong += wrong
    shutil.rmtree(root / "kept", ignore_errors=True)
    return tally


def _walking(attacked: Attacked) -> AtCall:
    place, notes, n_calls = attacked.root / "kept", attacked.root / "kept.jsonl", 0
    place.mkdir()

    def at_call(name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> None:
        nonlocal n_calls
        n_calls += 1
        for half in (False, True) if name == "write" else (False,):
            end = os.lseek(args[0], 0, os.SEEK_CUR) if half else 0
            status = _killed(real, args, half=half)
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            note = {"call": n_calls, "name": name, "half": half, "killed": killed}
            with notes.open("a") as file:
                file.write(json.dumps(note | _keep(attacked, place)) + "\n")
            if half:  # as if it had not been: the one that goes on writes from here
                os.lseek(args[0], end, os.SEEK_SET)
                os.ftruncate(args[0], end)

    return at_call


def _killed(real: Callable[..., Any], args: tuple[Any, ...], *, half: bool) -> int:
    pid = os.fork()
    if pid == 0:
        if half:
            real(args[0], bytes(args[1])[: len(args[1]) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _keep(attacked: Attacked, place: Path) -> dict[str, str]:
    state = attacked.whole_digest()
    if not (place / state).exists():
        shutil.copytree(attacked.folder, place / state)
    return {"state": state, "results": attacked.digest()}
