"""The terminal: how the command line reads lines, prints results and says what went wrong.

Takes  standard input, results, errors.
Gives  lines as soon as they arrive, text that is coloured on a terminal and plain in a pipe, one-line errors.
Never  knows what a line or a result means.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console
from rich.text import Text

from carrylens.errors import CarryLensError


class Stopped(Exception):  # noqa: N818
    """The user asked to stop, and the work did so in good order; the message says how to go on."""


BAD_INPUT = 2
INTERRUPTED = 130
UNREAD = 141
"""What shells give where a pipe was closed by its reader: 1 would say that the answer is no."""
_CHUNK_BYTES = 1 << 16
_LONGEST_WORD = 400  # of an error: a path may be longer than anyone reads
_TERMINALS_OWN = {
    code: f"\\u{code:04x}" if code > 255 else f"\\x{code:02x}"
    for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}
"""Characters that move the cursor, change the title or turn the direction of writing: a file may hold them."""


def printable(text: str) -> str:
    r"""Text as a terminal may show it: what would command the terminal is written out.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return text.translate(_TERMINALS_OWN)


def write_out_what_cannot_be_encoded(stream: TextIO) -> None:
    """Let a stream write a character that its encoding does not have as its number, as standard error does."""
    if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="backslashreplace")


def print_line(line: str) -> None:
    """Print plain text to standard output."""
    sys.stdout.write(printable(line) + "\n")


def print_text(text: Text) -> None:
    """Print to standard output, without wrapping; in colour only on a terminal that wants it."""
    plain = printable(text.plain)
    Console(highlight=False, soft_wrap=True).print(text if plain == text.plain else Text(plain))


def print_record(record: Mapping[str, object]) -> None:
    """Print one JSON object on one line."""
    sys.stdout.write(json.dumps(record) + "\n")


def print_error(error: object) -> None:
    """Print an error as one line on standard error, after what was printed so far."""
    with suppress(OSError, AttributeError):  # what cannot be printed must not change the exit status
        sys.stdout.flush()
    with suppress(OSError, AttributeError):
        words = (word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…" for word in str(error).split(" "))
        sys.stderr.write("carrylens: " + printable(" ".join(" ".join(words).split("\n"))) + "\n")
        sys.stderr.flush()


def print_note(note: str) -> None:
    """Tell a person, not a pipe, what was done besides printing."""
    sys.stderr.write(printable(note) + "\n")


def line_batches() -> Iterator[list[str]]:
    """The lines of standard input, in batches of what has arrived: no waiting for more, no work one by one."""
    if sys.stdin is None or sys.stdin.isatty():
        raise CarryLensError("No question was given. Write one after the command, or pipe in one on each line.")
    waiting: list[bytes] = []  # the parts of a line whose end has not arrived
    while chunk := _arrived(sys.stdin.fileno()):
        if b"\n" not in chunk:
            waiting.append(chunk)
            continue
        *lines, rest = b"".join([*waiting, chunk]).split(b"\n")
        waiting = [rest]
        yield [_decoded(line) for line in lines]
    if any(waiting):
        yield [_decoded(b"".join(waiting))]


def _arrived(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except OSError as error:
        raise CarryLensError(
            f"Standard input cannot be read: {error.strerror}. Pipe in questions, one a line."
        ) from error


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").removesuffix("\r").removeprefix("\ufeff")
