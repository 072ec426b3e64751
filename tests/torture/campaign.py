"""The campaign: malformed inputs, kills and damaged files, as many as are asked for, in as much time as there is.

Takes  counts, a seed, how many minutes.
Gives  a line for each victim, reader and kind of file, what went wrong, and exit status 1 if anything did.

    python -m torture.campaign --minutes 50

Two processes share the parts. Each part, and each victim in it, has a share of the time as large as its share of the
computing; what reaches its number leaves its time to those after it, and what does not says how many were tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from torture.kill_walk import kill_at_every_call
from torture.kills import KillTally, kill_at_random, preload
from torture.short_supply import SupplyTally, fill_disk, starve
from torture.victims import QUICK, VICTIMS

PARTS = {"kills": 400, "random kills": 60, "short supply": 40, "inputs": 200, "corruption": 150, "models": 20}
"""Of each part its share of the time: about how many seconds of computing it takes, less for those after the first."""
LANES = (("kills", "random kills", "short supply"), ("inputs", "corruption", "models"))
"""What each of two processes does, one part after the other."""
Until = float
"""When to stop, by the clock that only goes forward."""
_SHOWN = 20


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def kills(until: Until, given: argparse.Namespace) -> list[str]:
    """Every victim, killed at every call."""
    return _killing(
        "kills", until, lambda name, root, end: kill_at_every_call(VICTIMS[name], root, until=end), given.only
    )


def random_kills(until: Until, given: argparse.Namespace) -> list[str]:
    """Every victim, killed at random moments."""
    count = given.random_kills
    return _killing(
        "random kills",
        until,
        lambda name, root, end: kill_at_random(VICTIMS[name], root, count, given.seed, end),
        given.only,
    )


def _killing(
    part: str, until: Until, kill: Callable[[str, Path, Until], KillTally], only: list[str] | None
) -> list[str]:
    preload(torch=True)
    wrong: list[str] = []
    total = 0
    names = [name for name in only or VICTIMS if name in VICTIMS]
    costs = [VICTIMS[name].cost for name in names]
    for at, name in enumerate(names):
        began = time.monotonic()
        if began > until:
            break
        try:
            with tempfile.TemporaryDirectory() as place:
                tally = kill(name, Path(place), began + (until - began) * costs[at] / sum(costs[at:]))
        except AssertionError as error:  # the command does not work at all
            tally = KillTally(wrong=[str(error)])
        calls = f" at {tally.calls} calls, {tally.states} states of the disk" if tally.calls else ""
        say(f"{part}, {name}: {tally.kills} kills{calls}, {len(tally.wrong)} wrong, {time.monotonic() - began:.0f} s")
        for each in tally.wrong[:_SHOWN]:
            say(f"  {each}")
        wrong += tally.wrong
        total += tally.kills
    say(f"{part}, all: {total} kills, {len(wrong)} wrong")
    return wrong


def short_supply(until: Until, given: argparse.Namespace) -> list[str]:
    """A disk that is full or fails, and too little memory, for victims that take a moment."""
    preload(torch=True)
    ways: dict[str, Callable[[str, Path, Until], SupplyTally]] = {
        "a full disk": lambda name, root, end: fill_disk(VICTIMS[name], root, until=end),
        "a disk that fails once": lambda name, root, end: fill_disk(VICTIMS[name], root, until=end, once=True),
        "little memory": lambda name, root, end: starve(VICTIMS[name], root, given.random_kills, given.seed, end),
    }
    wrong: list[str] = []
    chosen = [(name, way) for name in given.only or QUICK if name in VICTIMS for way in ways]
    for at, (name, way) in enumerate(chosen):
        began = time.monotonic()
        if began > until:
            break
        with tempfile.TemporaryDirectory() as place:
            tally = ways[way](name, Path(place), began + (until - began) / (len(chosen) - at))
        took = f"{time.monotonic() - began:.0f} s"
        say(
            f"short supply, {name}, {way}: {tally.runs} runs, {tally.refused} refused, "
            f"{tally.ended} ended by a library, {len(tally.wrong)} wrong, {took}"
        )
        wrong += tally.wrong
    return wrong


def inputs(until: Until, given: argparse.Namespace) -> list[str]:
    """Malformed texts for everything that reads a text."""
    from torture.inputs import READERS, feed

    wrong: list[str] = []
    total = 0
    for at, (name, reader) in enumerate(READERS.items()):
        began = time.monotonic()
        share = began + (until - began) / (len(READERS) - at)
        tally = feed(reader, given.inputs // len(READERS) + 1, given.seed, share)
        line = f"inputs, {name}: {tally.tried} inputs, {tally.refused} refused, {len(tally.wrong)} wrong"
        say(f"{line}, slowest {tally.slowest:.2f} s")
        wrong += [f"{name}: {each}" for each in tally.wrong]
        total += tally.tried
    say(f"inputs, all: {total} inputs, {len(wrong)} wrong")
    return wrong


def models(until: Until, _: argparse.Namespace) -> list[str]:
    """Every command on every model that comes with carrylens."""
    from carrylens.arithmetic.zoo.sources import shipped_names
    from torture.shipped_commands import commands, run_commands

    wrong: list[str] = []
    n_models = n_commands = 0
    for name in shipped_names():
        if time.monotonic() > until:
            break
        with tempfile.TemporaryDirectory() as place:
            os.environ["XDG_CACHE_HOME"] = place
            wrong += run_commands(name, Path(place))
        n_models, n_commands = n_models + 1, n_commands + len(commands(name))
    say(f"models, all: {n_models} models, {n_commands} commands, {len(wrong)} wrong")
    return wrong


def corruption(until: Until, given: argparse.Namespace) -> list[str]:
    """Damaged files of every kind, for every function and command that reads them."""
    from torture.bench import Bench
    from torture.corruption import READERS, Tally, attack, attacks

    tallies = {name: Tally() for name in READERS}
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place))
        left = {name: attacks(bench, name, given.random, given.crafted, given.seed) for name in READERS}
        while left and time.monotonic() < until:  # one of each kind in turn: what there is no time for lacks in all
            for name, some in list(left.items()):
                if (found := next(some, None)) is None:
                    del left[name]
                else:
                    attack(bench, name, found[0], resealed=found[1], tally=tallies[name])
    for name, tally in tallies.items():
        line = f"corruption, {name}: {tally.files} files, {tally.refused} refused, {tally.commands} given to commands"
        say(f"{line}, {len(tally.wrong)} wrong")
    files, commands = (sum(getattr(tally, each) for tally in tallies.values()) for each in ("files", "commands"))
    wrong = [each for tally in tallies.values() for each in tally.wrong]
    say(f"corruption, all: {files} damaged files, {commands} commands, {len(wrong)} wrong")
    return wrong


def main() -> int:
    """The campaign from the command line."""
    parser = argparse.ArgumentParser(description="Malformed inputs, kills and damaged files.")
    parser.add_argument("--minutes", type=float, default=50)
    parser.add_argument("--inputs", type=int, default=110_000)
    parser.add_argument("--random-kills", type=int, default=20, help="of each victim")
    parser.add_argument("--random", type=int, default=400, help="damaged at random, of each kind of file")
    parser.add_argument("--crafted", type=int, default=150, help="crafted, of each kind of file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", action="append", choices=list(PARTS), help="these alone, in one process")
    parser.add_argument("--only", action="append", help="a victim")
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    began = time.monotonic()
    n_wrong = len(run_parts(given)) if given.part else run_lanes()
    say(f"# {(time.monotonic() - began) / 60:.1f} minutes, {sum(os.times()[:4]) / 60:.1f} of computing")
    return 1 if n_wrong else 0


def run_lanes() -> int:
    """Every lane in a process of its own; how many of them saw something wrong."""
    commands = [[*sys.orig_argv, *(word for part in lane for word in ("--part", part))] for lane in LANES]
    running = [subprocess.Popen(words) for words in commands]
    return sum(each.wait() != 0 for each in running)


def run_parts(given: argparse.Namespace) -> list[str]:
    """The parts that were asked for, one after the other; what went wrong."""
    chosen = [part for part in PARTS if part in given.part]
    began, wrong = time.monotonic(), []
    for at, part in enumerate(chosen):
        now = time.monotonic()
        until = now + (began + 60 * given.minutes - now) * PARTS[part] / sum(PARTS[each] for each in chosen[at:])
        wrong += globals()[part.replace(" ", "_")](until, given)
    for each in wrong:
        say(f"\n{each}")
    say(f"{' and '.join(chosen)}: {len(wrong)} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
