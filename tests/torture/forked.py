"""Forked commands: a command in a process of its own, which need not import everything again.

Takes  the words of a command, and a folder.
Gives  its exit status, and what it printed.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from carrylens.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended: its status, negative after a signal, and what it printed."""

    status: int
    out: str
    err: str


def run_forked(words: Sequence[str], folder: Path) -> Ended:
    """Run the whole command line, as if it had been typed in that folder."""
    files = [folder / ".out", folder / ".err"]
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.chdir(folder)
            for stream, path in zip((1, 2), files, strict=True):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            sys.stdout, sys.stderr = (
                os.fdopen(1, "w", closefd=False),
                os.fdopen(2, "w", closefd=False, errors="backslashreplace"),
            )
            sys.argv = ["carrylens", *words]
            main()
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 1
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    out, err = (path.read_text(errors="replace") for path in files)
    for path in files:
        path.unlink()
    return Ended(status, out, err)
