"""Limits: how much memory, and how large a batch, the engine may use where the user's environment says so.

Takes  the environment variables CARRYLENS_MEMORY, in MiB, and CARRYLENS_BATCH, in rows times positions.
Gives  the limits that every engine has that was not given its own.
Never  changes an outcome but in rounding.

A limit belongs to a machine and not to an analysis: so it is not kept with what was found, and every command takes it.
"""

from __future__ import annotations

import os

from carrylens.errors import CarryLensError, quote

MEMORY, BATCH = "CARRYLENS_MEMORY", "CARRYLENS_BATCH"
_MOST = 1 << 40


def memory_limit() -> int | None:
    """The most bytes of clean passes that are to be held, if the user has set them."""
    found = _limit(MEMORY)
    return None if found is None else found << 20


def batch_limit() -> int | None:
    """The most rows times positions of a batch, if the user has set them."""
    return _limit(BATCH)


def _limit(name: str) -> int | None:
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _MOST):
        raise CarryLensError(f"{name} is {quote(text)}. Write a whole number above 0, or unset it.")
    return int(text)
