"""The house rules of documents: each takes text and gives the list of what in it is not so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path

SOURCE = "src/carrylens/"


def missing_paths(text: str, tracked: Collection[str]) -> list[str]:
    """Paths in backticks that no tracked file has: from the root, or from the package.

    In a table row that begins with a room, names are also looked for in that room and in its folders that the row
    names. Elsewhere a bare `module.py` may be any file of that name.
    """
    found = []
    for line in text.splitlines():
        room = re.match(r"\| `([a-z_/]+/)` \|", line)
        inside = [SOURCE + room[1], *(SOURCE + room[1] + each for each in _folders(line))] if room else []
        for path in _paths(line):
            ends = [path] if "/" in path or inside else [path, *(name for name in tracked if name.endswith(f"/{path}"))]
            wanted = [start + end for start in ("", SOURCE, *inside) for end in ends]
            is_folder = path.endswith("/")
            if not any(name.startswith(each) if is_folder else name == each for each in wanted for name in tracked):
                found.append(path)
    return found


def unnamed_modules(text: str, modules: Collection[str]) -> list[str]:
    """Modules that the row of their room does not name: by themselves, or by a folder that holds them.

    `*_claims.py` names all that end so. The row is the last that begins with the room, or with the nearest one above.
    """
    rows = {row[1]: line for line in text.splitlines() if (row := re.match(r"\| `([a-z_/]+/)` \|", line))}
    found = []
    for module in modules:
        room = max((each for each in rows if module.startswith(each)), key=len, default="")
        named, (*folders, name) = rows.get(room, text), module.removeprefix(room).split("/")
        paths = ["/".join(folders[: at + 1]) + "/" for at in range(len(folders))] + [name, "/".join([*folders, name])]
        patterns = re.findall(r"`([\w/*]+(?:\.py|/))`", named)
        if not any(fnmatch(path, each) for path in paths for each in patterns):
            found.append(module)
    return found


def missing_hops(text: str, package: Path) -> list[str]:
    """Functions of a table of hops (hop, function, module, ...) that none of the row's modules defines."""
    found = []
    for line in text.splitlines():
        if row := re.match(r"\| \d+ \| ([^|]+) \| ([^|]+) \|", line):
            modules = [package / name for name in re.findall(r"`([\w/]+\.py)`", row[2])]
            defined = "\n".join(path.read_text(encoding="utf-8") for path in modules if path.is_file())
            for name in re.findall(r"`(?:\w+\.)?(\w+)`", row[1]):
                if not re.search(rf"^ *(def|class) {name}\b", defined, re.MULTILINE):
                    found.append(f"{name} in {row[2].strip()}")
    return found


def broken_links(document: Path, root: Path) -> list[str]:
    """Links of a document to files that are not there."""
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    found = {link: document.parent / link for link in local}
    return [link for link, path in found.items() if not path.exists() or root.resolve() not in path.resolve().parents]


def _folders(line: str) -> list[str]:
    return re.findall(r"`([a-z_]+/)`", line)


def _paths(line: str) -> Iterator[str]:
    # Anything in backticks that is a path or a module; not a file that a command writes, nor a call.
    for word in re.findall(r"`([^`\s]+)`", line):
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/|[\w./-]+\.(py|md)|Makefile", word):
            yield word
