"""The command line without a process of its own, which would take most of the time.

`test_cli.py` shows that a process says the same; what is about processes, pipes, terminals and imports starts one.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from carrylens.cli import main


def run_here(*arguments: str | Path, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    """What `carrylens ARGUMENTS` says, and its exit status."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryFile() as given, pytest.MonkeyPatch.context() as patch:
        given.write(stdin if isinstance(stdin, bytes) else stdin.encode())
        given.seek(0)
        patch.setattr(sys, "argv", ["carrylens", *map(str, arguments)])
        patch.setattr(sys, "stdin", given)
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(arguments, ended.value.code, out.getvalue(), err.getvalue())
