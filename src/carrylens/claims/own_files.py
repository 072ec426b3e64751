"""Own files: where what is about a hypothesis of the user's own is kept.

Takes  the name of a hypothesis, and folders.
Gives  names of files and folders, another for every hypothesis.
Never  gives two hypotheses one name, or overlooks a file that was named formerly.

A name of lower-case words is its file's name. Every other one has a part of its hash behind it: what a file's name
cannot hold would make two hypotheses one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

_LONGEST = 60
_HASH = 12


def slug(name: str) -> str:
    """A hypothesis's name as part of the name of a file or folder.

    >>> slug("nine carries")
    'nine-carries'
    >>> slug("Nine carries, ../ever!")
    'nine-carries-ever_dca65a346153'
    """
    plain = _plain(name)
    if plain.replace("-", " ") == name:
        return plain
    return f"{plain}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH]}"


def own_file(stem: str, name: str, places: Sequence[Path] = ()) -> str:
    """The name of a file about a hypothesis: the former one, where only a file of that name is in the places.

    >>> own_file("claims", "nine carries")
    'claims.nine-carries.json'
    """
    now, formerly = (f"{stem}.{each}.json" for each in (slug(name), _plain(name)))
    is_former = not any((place / now).is_file() for place in places)
    return formerly if is_former and any((place / formerly).is_file() for place in places) else now


def own_folders(places: Sequence[Path], name: str) -> list[Path]:
    """Where the folder of a hypothesis may be in these places: of its name, or of what it was called formerly."""
    return [place / each for place in places for each in dict.fromkeys((slug(name), _plain(name)))]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-") or "own"
