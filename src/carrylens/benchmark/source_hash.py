"""Source hash: what a result was computed with, as one hash of code.

Takes  the name of a module, or the text of a Python file.
Gives  a hash of it, of every module of this package that it imports, directly or not, and of the data files that lie
       beside those under their names.
Never  imports anything, and never depends on the version of Python.

So a result that was kept is computed anew once the search that it came from was changed. What imports `carrylens`
itself, which has everything, depends on every module.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_NAME = __name__.split(".")[0]
_FOLDER = Path(__file__).parents[1]


def source_hash(module: str = "", text: bytes = b"") -> str:
    """The hash of a module by its name, or of a file by its text, with all that it imports of this package."""
    if module and not is_ours(module):
        file = getattr(sys.modules.get(module), "__file__", None)
        text = Path(file).read_bytes() if file and Path(file).is_file() else b""
    digest = hashlib.sha256(text)
    for name in sorted(_closure([module] if is_ours(module) else _imports(text))):
        digest.update(f"{name} {_content(name)}".encode())
    return digest.hexdigest()


def _closure(names: Iterable[str]) -> set[str]:
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name == _NAME:  # its names are looked up when they are used
            return set(_every_module())
        if name not in found:
            found.add(name)
            waiting += _imported_by(name)
    return found


@cache
def _imported_by(name: str) -> tuple[str, ...]:
    path = _path(name)
    return () if path is None else _imports(path.read_bytes())


@cache
def _content(name: str) -> str:
    path = _path(name)
    assert path is not None
    digest = hashlib.sha256()
    for each in sorted(path.parent.glob(f"{path.stem}.*")):
        if each.is_file() and each.suffix != ".pyc":
            digest.update(each.read_bytes())
    return digest.hexdigest()


def _imports(text: bytes) -> tuple[str, ...]:
    # Modules of this package that the text imports; a name that is imported from a package may be a module or not.
    found: list[str] = []
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inside = [f"{node.module}.{each.name}" for each in node.names]
            found += [node.module, *inside] if node.module != _NAME else [*map(_module_or_all, inside)]
    return tuple(name for name in found if is_ours(name) and _path(name) is not None)


def _module_or_all(name: str) -> str:
    return name if _path(name) is not None else _NAME


def _every_module() -> Iterator[str]:
    for path in sorted(_FOLDER.rglob("*.py")):
        parts = path.relative_to(_FOLDER.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path(name: str) -> Path | None:
    base = _FOLDER.joinpath(*name.split(".")[1:])
    places = (base / "__init__.py",) if base == _FOLDER else (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in places if path.is_file()), None)


def is_ours(name: str) -> bool:
    """Whether the module of this name is of this package."""
    return name.split(".")[0] == _NAME


def _parsed(text: bytes) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):  # what is no Python is refused where it is run
        return ast.Module([], [])
