"""Damage: what can happen to a file, drawn with a seed or crafted.

Takes  the bytes of a file, and a random generator.
Gives  damaged bytes, each with a word for what was done.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

Damaged = tuple[str, bytes]

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "\u0000", "x" * 10_000, "<script>alert(1)</script>", "../../etc/passwd", "P9L0H1"),
    *(-1, 0, 1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 0.5, -0.5, 1e308, -1e308, 5e-324),
    *([], {}, [[]], [None], [{}], {"": None}, {"sha256": {}}, [1, "2", None], "nan", "Infinity"),
)
_ODD_CELLS = (None, -1, 2**63 - 1, 1e308, "", "text", "\u0000", b"", b"\x00" * 100_000)
CRAFTED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "one byte": lambda _: b"{",
    "zeros": lambda content: bytes(len(content)),
    "half": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-2],
    "twice": lambda content: content + content,
    "after spaces": lambda content: b" " * 5000 + content,
    "UTF-16": lambda content: content.decode("latin-1").encode("utf-16"),
    "a byte-order mark": lambda content: b"\xef\xbb\xbf" + content,
    "not UTF-8": lambda content: content.replace(b'"', b'"\xff\xfe', 1),
    "a lone surrogate": lambda content: content.replace(b'"', b'"\\ud800', 1),
    "deep lists": lambda _: b"[" * 100_000,
    "deep lists, closed": lambda _: b"[" * 900 + b"]" * 900,
    "deep objects": lambda _: b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "a huge number": lambda _: b"9" * 100_000,
    "a number too large": lambda _: b"1e99999",
    "NaN": lambda _: b"NaN",
    "null": lambda _: b"null",
    "text": lambda _: b'"text"',
    "an empty list": lambda _: b"[]",
    "an empty object": lambda _: b"{}",
    "an empty line": lambda content: content + b"\n",
    "a page": lambda _: b"<!doctype html><title>404</title>",
    "a pickle": lambda _: b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94.",
    "other line ends": lambda content: content.replace(b"\n", b"\r\n"),
}


def crafted(content: bytes, random_: random.Random, count: int) -> Iterator[Damaged]:
    """Whole-file damage, then values of a JSON file replaced one at a time by odd ones."""
    whole = random_.sample(list(CRAFTED.items()), len(CRAFTED))
    for name, change in whole[:count]:
        yield name, change(content)
    if content.startswith(b"SQLite"):
        yield from (_odd_table(content, random_) for _ in range(count - len(whole)))
        return
    lines, closed = _opened(content)
    for _ in range(max(0, count - len(whole)) if lines else 0):
        what, damaged = _odd_value(copy.deepcopy(lines), random_)
        yield what, closed(damaged)


def drawn(content: bytes, random_: random.Random, count: int) -> Iterator[Damaged]:
    """Bits flipped, bytes dropped, doubled or replaced, pieces moved."""
    for _ in range(count):
        damaged, done = bytearray(content), []
        for _ in range(random_.choice((1, 1, 1, 2, 8))):
            at = random_.randrange(len(damaged)) if damaged else 0
            kind = random_.choice(("flip", "drop", "insert", "digit", "cut", "move"))
            _damage(damaged, at, kind, random_)
            done.append(f"{kind} at {at}")
        yield ", ".join(done), bytes(damaged)


def _damage(content: bytearray, at: int, kind: str, random_: random.Random) -> None:
    if kind == "flip" and content:
        content[at] ^= 1 << random_.randrange(8)
    elif kind == "drop":
        del content[at : at + random_.choice((1, 3, 40))]
    elif kind == "insert":
        content[at:at] = random_.choice((b'"', b"{", b"]", b",", b"-", b"9" * 30, b"\x00", b"null", bytes(64)))
    elif kind == "digit":
        places = [place for place in range(at, min(at + 200, len(content))) if 48 <= content[place] <= 57]
        if places:
            content[places[0]] = random_.choice(b"0123456789-.e")
    elif kind == "cut":
        del content[at:]
    else:
        content += content[at : at + 50]
        del content[at : at + 50]


def _opened(content: bytes) -> tuple[list[Any], Callable[[list[Any]], bytes]]:
    # What JSON a file holds, and how it is put back: as lines, packed, or before tensors.
    if content[:2] == b"\x1f\x8b":
        return _parsed(gzip.decompress(content)), lambda lines: gzip.compress(_lines(lines), mtime=0)
    end = 8 + int.from_bytes(content[:8], "little")
    if content[8:9] != b"{" or end > len(content):
        return _parsed(content), _lines
    header = json.loads(content[8:end])
    about = header.get("__metadata__", {}).get("about")
    if about is not None:  # a record of its own
        header["__metadata__"]["about"] = json.loads(about)

    def closed(lines: list[Any]) -> bytes:
        said = lines[0]
        with contextlib.suppress(KeyError, TypeError, IndexError):
            if about is not None:
                said["__metadata__"]["about"] = json.dumps(said["__metadata__"]["about"])
        head = json.dumps(said).encode()
        return len(head).to_bytes(8, "little") + head + content[end:]

    return [header], closed


def _odd_table(content: bytes, random_: random.Random) -> Damaged:
    # One value of a database, or what it says of itself, is replaced by an odd one.
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        base.deserialize(content[:18] + b"\1\1" + content[20:])  # a write-ahead log cannot be in memory
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = random_.choice(tables)
        columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
        column, odd = random_.choice(columns), random_.choice([*_ODD_CELLS, random_.randbytes(random_.randrange(99))])
        place = f"{columns[0]} = (SELECT {columns[0]} FROM {table} LIMIT 1 OFFSET {random_.randrange(50)})"
        words = random_.choice(
            (
                *[f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {place}"] * 20,
                *(f"DELETE FROM {table} WHERE {place}", f"ALTER TABLE {table} RENAME COLUMN {column} TO other"),
                *(f"ALTER TABLE {table} RENAME TO other", f"DROP TABLE {table}", "PRAGMA user_version = 77"),
                f'CREATE TRIGGER t BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, "no"); END',
            )
        )
        with contextlib.suppress(sqlite3.Error):
            base.execute(words, (odd,) * words.count("?"))
        made = base.serialize()
        return f"{words} {odd!r:.40}", made[:18] + content[18:20] + made[20:]


def _lines(lines: list[Any]) -> bytes:
    return ("\n".join(json.dumps(line) for line in lines) + "\n").encode()


def _parsed(content: bytes) -> list[Any]:
    try:
        return [json.loads(content)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in content.splitlines()]
    except ValueError:
        return []


def _odd_value(lines: list[Any], random_: random.Random) -> tuple[str, list[Any]]:
    # One value somewhere in the file is replaced, dropped, renamed or doubled.
    holder: Any = lines
    key: Any = random_.randrange(len(lines))
    path = [str(key)]
    while isinstance(holder[key], dict | list) and holder[key] and (random_.random() < 0.9 or holder is lines):
        holder = holder[key]
        key = random_.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        path.append(str(key))
    kind = random_.choice(("replace", "replace", "replace", "drop", "rename", "double"))
    if kind == "drop":
        del holder[key]
    elif kind == "rename" and isinstance(holder, dict):
        holder[f"{key}_"] = holder.pop(key)
    elif kind == "double" and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = random_.choice(ODD_VALUES)
    return f"{kind} {'.'.join(path)[:120]}", lines
