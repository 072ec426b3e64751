"""The campaign: malformed inputs, kills and damaged files, as many as are asked for, in as much time as there is.

Takes  counts, a seed, how many minutes.
Gives  one line for each part, what went wrong, and exit status 1 if anything did.

    python -m torture.campaign --minutes 55

What a part has no time for is left out, and its line says how many were tried.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from torture.kill_walk import kill_at_every_call
from torture.kills import KillTally, kill_at_random, preload
from torture.short_supply import SupplyTally, fill_disk, starve
from torture.victims import QUICK, VICTIMS

PARTS = {"kills": 4, "random kills": 2, "short supply": 1, "inputs": 3, "models": 2, "corruption": 2}
"""Each part's share of the time; what one leaves goes to those after it."""
Until = float
"""When to stop, by the clock that only goes forward."""
_SHOWN = 20


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def kills(until: Until, given: argparse.Namespace) -> list[str]:
    """Every victim, killed at every call."""
    return _killing(until, lambda name, root, end: kill_at_every_call(VICTIMS[name], root, until=end), given.only)


def random_kills(until: Until, given: argparse.Namespace) -> list[str]:
    """Every victim, killed at random moments."""
    count = given.random_kills
    return _killing(
        until, lambda name, root, end: kill_at_random(VICTIMS[name], root, count, given.seed, end), given.only
    )


def _killing(until: Until, kill: Callable[[str, Path, Until], KillTally], only: list[str] | None) -> list[str]:
    preload(torch=True)
    wrong: list[str] = []
    total = 0
    names = [name for name in only or VICTIMS if name in VICTIMS]
    for at, name in enumerate(names):
        began = time.monotonic()
        if began > until:
            break
        try:
            with tempfile.TemporaryDirectory() as place:
                tally = kill(name, Path(place), began + (until - began) / (len(names) - at))
        except AssertionError as error:  # the command does not work at all
            tally = KillTally(wrong=[str(error)])
        calls = f" at {tally.calls} calls, {tally.states} states of the disk" if tally.calls else ""
        say(f"{name}: {tally.kills} kills{calls}, {len(tally.wrong)} wrong, {time.monotonic() - began:.0f} s")
        for each in tally.wrong[:_SHOWN]:
            say(f"  {each}")
        wrong += tally.wrong
        total += tally.kills
    say(f"all victims: {total} kills, {len(wrong)} wrong")
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
        say(f"{name}, {way}: {tally.runs} runs, {tally.refused} refused, {len(tally.wrong)} wrong, {took}")
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
        line = f"{name}: {tally.tried} inputs, {tally.refused} refused, {len(tally.wrong)} wrong"
        say(f"{line}, slowest {tally.slowest:.2f} s")
        wrong += [f"{name}: {each}" for each in tally.wrong]
        total += tally.tried
    say(f"all readers: {total} inputs, {len(wrong)} wrong")
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
    say(f"all models: {n_models} models, {n_commands} commands, {len(wrong)} wrong")
    return wrong


def corruption(until: Until, given: argparse.Namespace) -> list[str]:
    """Damaged files of every kind, for every function and command that reads them."""
    from torture.bench import Bench
    from torture.corruption import READERS, Tally, attack, attacks

    wrong: list[str] = []
    files = commands = 0
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place))
        for at, name in enumerate(READERS):
            began, tally = time.monotonic(), Tally()
            share = began + (until - began) / (len(READERS) - at)
            for damaged, resealed in attacks(bench, name, given.random, given.crafted, given.seed):
                if time.monotonic() > share:
                    break
                attack(bench, name, damaged, resealed=resealed, tally=tally)
            line = f"{name}: {tally.files} files, {tally.refused} refused, {tally.commands} given to commands"
            say(f"{line}, {len(tally.wrong)} wrong, {time.monotonic() - began:.0f} s")
            wrong += tally.wrong
            files, commands = files + tally.files, commands + tally.commands
    say(f"all kinds: {files} damaged files, {commands} commands, {len(wrong)} wrong")
    return wrong


def main() -> int:
    """The campaign from the command line."""
    parser = argparse.ArgumentParser(description="Malformed inputs, kills and damaged files.")
    parser.add_argument("--minutes", type=float, default=55)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--random-kills", type=int, default=20, help="of each victim")
    parser.add_argument("--random", type=int, default=480, help="damaged at random, of each kind of file")
    parser.add_argument("--crafted", type=int, default=250, help="crafted, of each kind of file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--only", action="append", help="a victim")
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    chosen = [part for part in PARTS if given.part is None or part in given.part]
    began, wrong = time.monotonic(), []
    for at, part in enumerate(chosen):
        now = time.monotonic()
        until = now + (began + 60 * given.minutes - now) * PARTS[part] / sum(PARTS[each] for each in chosen[at:])
        say(f"# {part}")
        wrong += globals()[part.replace(" ", "_")](until, given)
    used = sum(os.times()[:4]) / 60
    say(f"# {(time.monotonic() - began) / 60:.1f} minutes, {used:.1f} of computing, {len(wrong)} wrong")
    for each in wrong:
        say(f"\n{each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
