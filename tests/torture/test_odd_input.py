"""Odd input: names, numbers and files that nobody means get one clear line."""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from carrylens.arithmetic.family.rows import parse_rows, rows_called
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.benchmark.method_registry import method_from_file
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.cli import main
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.files import cache_home
from carrylens.folders import unzipped
from carrylens.model import ModelConfig, Transformer
from carrylens.model.tensor_files import read_tensors
from carrylens.tasks.task_file import declared_task
from carrylens.terminal import print_error, print_line, print_note, write_out_what_cannot_be_encoded
from carrylens.training.devices import device_called
from torture.forked import run_forked

MODEL = "add_d5_l2_h3_w96_t2K_s1"
LONG, NINES = "a" * 10_000, "9" * 5_000
COMMANDS = {
    "a long name": ["ask", LONG, "1+1"],
    "a long path": ["judge", "x/" * 5_000],
    "a long folder": ["report", MODEL, "--folder", LONG],
    "a long file to write": ["losses", MODEL, "--svg", LONG],
    "a long file to read": ["plant", "--description", LONG],
    "a number of 5,000 digits": ["plant", "add", "--digits", NINES],
    "a question of 5,000 digits": ["ask", MODEL, f"{NINES}+1"],
    "a seed beyond 64 bits": ["map", MODEL, "--seed", str(2**64)],
    "a planted seed beyond 64 bits": ["plant", "add", "--seed", str(2**64)],
    "a name with a seed beyond 64 bits": ["train", f"add_d6_l2_h3_w96_t2K_s{2**64}"],
    "threads": ["test", MODEL, "--questions", "1", "--threads", "99999999"],
    "a model larger than memory": ["train", "add_d6_l2_h3_w96000000_t2K_s1"],
    "more layers than can be made": ["train", "add_d6_l99999999_h3_w96_t2K_s1"],
    "a long repository": ["publish", MODEL, f"hf:a/{LONG}", "--dry-run"],
    "a long list of rows": ["family", "run", LONG],
    "a part of a row's name": ["family", "run", "paper", "--only", LONG],
    "long names of a family": ["paper", LONG],
    "a class that there is not": ["questions", "--class", LONG],
    "a class too deep for the width": ["questions", "--class", "S5", "--digits", "1"],
    "a depth that cannot be": ["questions", "--depth", "99"],
    "a variable that there is not": ["questions", "--pairs", LONG],
    "questions with a seed beyond 64 bits": ["questions", "--seed", str(2**64)],
    "questions of 5,000 digits' width": ["questions", "--digits", NINES],
    "a long place for questions": ["questions", "--count", "1", "--out", LONG],
    "settling with a seed beyond 64 bits": ["settle", MODEL, "--seed", str(2**64)],
    "settling by an algorithm that there is not": ["settle", MODEL, "--algorithm", LONG],
    "settling into a long folder": ["settle", MODEL, "--quick", "--out", LONG],
    "seeds without end": ["benchmark", "--quick", "--suite", "kind", "--seeds", str(2**64)],
    "questions without end": ["plant", "add", "--digits", "1", "--check", str(2**64)],
    "a challenge of 5,000 digits": ["explore", "--challenge", "--seed", NINES],
}


@pytest.mark.slow
@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_says_one_short_line(what: str, tmp_path: Path) -> None:
    done = run_forked(COMMANDS[what], tmp_path)
    assert done.status == 2, done.err[-500:]
    assert done.err.startswith("carrylens: ")
    assert done.err.count("\n") == 1
    assert len(done.err) < 1500


@pytest.mark.slow
def test_the_command_line_itself_says_one_short_line(tmp_path: Path) -> None:
    """One of them in a process that was started for it."""
    words = [sys.executable, "-m", "carrylens", *COMMANDS["a long name"]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr[-500:]


@pytest.mark.slow
def test_who_has_no_home_reads_of_the_command_alone(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MPL"))}
    words = [sys.executable, "-m", "carrylens", "losses", MODEL, "--svg", "losses.svg"]
    done = subprocess.run(
        words, cwd=tmp_path, env={**kept, "HOME": os.devnull}, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr[-500:]


def test_long_names_are_no_models() -> None:
    for name in (LONG, "x/" * 5_000, "a\0b"):
        with pytest.raises(CarryLensError):
            find_source(name)
    with pytest.raises(CarryLensError):
        ModelName.parse(f"add_d6_l2_h3_w96_t2K_s{NINES}")


def test_more_than_floats_can_count_is_no_rate() -> None:
    assert Rate(1, 2**53).interval[0] > 0
    with pytest.raises(CarryLensError, match=str(2**63)):
        Rate(1, 2**63)


def test_threads_that_would_crash_are_refused() -> None:
    with pytest.raises(CarryLensError, match="99999999"):
        device_called("cpu", 99_999_999)


def test_a_model_larger_than_memory_is_refused_before_it_is_made() -> None:
    for layers, width, mlp in ((10**9, 8, 8), (1, 10**9, 8), (1, 8, 10**14)):
        with pytest.raises(CarryLensError, match="MiB"):
            Transformer(ModelConfig(layers, 1, width, 8, mlp, n_ctx=3, d_vocab=5, d_vocab_out=2, reads=range(2, 3)))


class PanicException(BaseException):
    """What a library in Rust raises under this name."""


NO_MEMORY = (
    PanicException("PyObject pointer is null"),
    SystemError("error return without exception set"),
    SystemError("<function page_of at 0x7f3b> returned NULL without setting an exception"),
    RuntimeError("std::bad_alloc"),
    MemoryError(),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ImportError("libtorch_cpu.so: failed to map segment from shared object"),
)


@pytest.mark.parametrize("error", NO_MEMORY)
def test_no_memory_left_is_one_line(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("carrylens.cli.app", full)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_links_that_lead_to_each_other_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loop").symlink_to("loop")

    def resolve(*_: object, **__: object) -> None:
        if sys.version_info >= (3, 13):  # where no error is made of it
            raise RuntimeError(f"Symlink loop from {str(tmp_path / 'loop')!r}")
        (tmp_path / "loop").resolve(strict=False)

    monkeypatch.setattr("carrylens.cli.app", resolve)
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert (stop.value.code, said.count("\n")) == (2, 1)
    assert "loop" in said


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("shapes differ"),
        PanicException("index out of bounds"),
        SystemError("<built-in function f> returned NULL without setting an exception"),
    ],
)
def test_another_error_keeps_its_traceback(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("carrylens.cli.app", broken)
    with pytest.raises(type(error), match=str(error)):
        main()


ADD = arithmetic_task(Operation.ADD, 2)
OWN_FILES: dict[str, Callable[[Path], object]] = {
    "task": declared_task,
    "hypothesis": lambda path: own_hypothesis(path, ADD),
    "method": method_from_file,
}
FAILING = {
    "an error without words": "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute",
    "a long error": f"raise ValueError({'x ' * 5_000!r})",
    "lines of errors": "raise KeyError('a\\nb')",
    "an end": "raise SystemExit(3)",
    "no Python": "def",
    "a null": "\0",
}


@pytest.mark.parametrize("what", FAILING)
@pytest.mark.parametrize("kind", OWN_FILES)
def test_a_file_of_ones_own_that_fails_is_one_short_line(kind: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FAILING[what])
    with pytest.raises(CarryLensError, match=r"mine\.py") as refused:
        OWN_FILES[kind](path)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1500


def test_a_zip_bomb_is_refused_by_its_declared_size(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pth"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/0", bytes(64 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(CarryLensError, match=f"{64 << 20:,}"):
        read_tensors(path)


def test_who_has_no_home_has_a_place_for_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert str(os.getuid()) in cache_home().name


def test_a_packed_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    records = b'{"a": 1}\n' * 100_000
    assert unzipped(gzip.compress(records), tmp_path) == records
    bomb = gzip.compress(gzip.compress(bytes(1 << 16)) + bytes(1 << 27))
    with pytest.raises(CarryLensError, match=re.escape(str(tmp_path))):
        unzipped(bomb, tmp_path)


def test_many_rows_are_read_at_once_and_too_many_refused() -> None:
    seeds = ", ".join(map(str, range(5_000)))
    rows = parse_rows(f'[[rows]]\nmodel = "add_d6_l2_h3_w96_t2K"\nseeds = [{seeds}]'.encode(), "it")
    assert len(rows_called(rows, ["_s12"])) > 100
    with pytest.raises(CarryLensError, match=r"\b10001\b.*add_d6_l2_h3_w96_t2K"):
        parse_rows(f'[[rows]]\nmodel = "add_d6_l2_h3_w96_t2K"\nseeds = [{seeds}, {seeds}, 1]'.encode(), "it")


@pytest.mark.parametrize("key", ["a" + ".a" * 100_000, '""' + ' . ""' * 50_000, "[a" + ".a" * 50_000 + "]"])
def test_keys_that_would_take_hours_to_read_are_refused_at_once(key: str) -> None:
    began = time.process_time()
    with pytest.raises(CarryLensError, match="rows\\.toml"):
        parse_rows(f"{key} = 1".encode(), "rows.toml")
    assert time.process_time() - began < 5


def test_no_text_commands_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for say in (print_line, print_note, print_error):
        say("a\x1b]0;title\x07\x1b[2J\u202eb\tc\x9b1m")
    said = "".join(capsys.readouterr())
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(said)
    assert said.count("\t") == 3


def test_a_name_that_cannot_be_encoded_is_written_out() -> None:
    out = io.BytesIO()
    stream = io.TextIOWrapper(out, encoding="ascii")
    write_out_what_cannot_be_encoded(stream)
    stream.write("a\udcffb…")
    stream.flush()
    assert out.getvalue() == b"a\\udcffb\\u2026"
