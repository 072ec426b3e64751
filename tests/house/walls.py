"""The house rules: each takes files and gives the list of what breaks it, so that a test can show that it can fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

INSTRUMENT = (
    *("errors", "text_values", "json_records", "files", "tensor_bytes", "folders", "steps", "progress", "nodes"),
    *("tasks", "alignment", "model", "training", "interventions", "evidence", "discovery", "claims", "benchmark"),
)
"""The rooms that know no arithmetic: each may import only those before it."""
STUDY = (
    "arithmetic",
    "arithmetic.zoo",
    "arithmetic.planted",
    "arithmetic.aligned",
    "arithmetic.battery",
    "arithmetic.family",
    "arithmetic.paper",
)
"""Arithmetic, the first study: each room may import the instrument, and those of the study before it."""
PEOPLE = ("report", "explorer", "bench", "workflow", "front", "terminal", "cli", "__main__")
"""What people touch: each may import everything before it."""
ROOMS = (*INSTRUMENT, *STUDY, *PEOPLE)

MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_PUBLIC_METHODS, MAX_README_LINES = 400, 60, 10, 120
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "base", "types", "new", "v2"}


def import_violations(package: Path) -> list[str]:
    """Imports that go to the same or a lower room, or to a room that is not in the list."""
    found = []
    for path in sorted(package.rglob("*.py")):
        room = _room(path, package)
        for target in _imported_rooms(path, package.name):
            if room == "" and target not in ("errors", "benchmark", "front"):
                found.append(
                    f"{path.name} of the package imports {target}: only what the front door needs may be imported there"
                )
            elif room and {room, target} - set(ROOMS):
                found.append(f"{path}: {room} or {target} is no known room")
            elif room and room != target and ROOMS.index(target) >= ROOMS.index(room):
                found.append(f"{path}: {room} imports {target}, which is below it")
            elif target == "bench" and room not in ("bench", "cli"):
                found.append(f"{path}: bench is imported by {room}")
    return found


def foreign_imports(room: Path, allowed: set[str]) -> list[str]:
    """Imports of anything but the standard library, the package itself and what is allowed."""
    import sys

    known = set(sys.stdlib_module_names) | allowed
    return [
        f"{path}: imports {name}"
        for path in sorted(room.rglob("*.py"))
        for name in _imported_modules(path)
        if name.split(".")[0] not in known
    ]


def size_violations(files: Iterable[Path]) -> list[str]:
    """Files, functions and classes past the sizes, and names that say nothing."""
    found = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        n_lines = len(text.splitlines())
        if n_lines > MAX_FILE_LINES:
            found.append(f"{path}: {n_lines} lines")
        if path.stem.lower() in VAGUE_NAMES:
            found.append(f"{path}: a name that says nothing")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    found.append(f"{path}: {node.name} has {length} lines")
            if isinstance(node, ast.ClassDef) and len(_public_methods(node)) > MAX_PUBLIC_METHODS:
                found.append(f"{path}: {node.name} has {len(_public_methods(node))} public methods")
    return found


def ambiguous_names(package: Path) -> list[str]:
    """Public classes and type aliases of one name that are defined in more than one module."""
    places: dict[str, list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.name] if isinstance(node, ast.ClassDef) else []
            if isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            for name in names:
                if name[0].isupper() and not name.isupper():
                    places.setdefault(name, []).append(str(path.relative_to(package)))
    return [f"{name}: {', '.join(where)}" for name, where in places.items() if len(where) > 1]


def missing_cards(package: Path) -> list[str]:
    """Modules that do not open with what they take, give and never do."""
    found = []
    for path in sorted(package.rglob("*.py")):
        card = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        exempt = path.name == "__main__.py" or path == package / "__init__.py"
        if not exempt and not all(re.search(rf"^{word}  ", card, re.MULTILINE) for word in ("Takes", "Gives", "Never")):
            found.append(f"{path}: no card")
    return found


def tree_violations(readme: str, root: Path, tracked: Sequence[str]) -> list[str]:
    """Where the README's tree differs from the tracked files: entries that are not there, and entries left out."""
    shown = dict.fromkeys(_tree_entries(readme))
    real = {_entry(path, ()) for path in tracked} | {
        _entry(path, ("src", "carrylens")) for path in tracked if path.startswith("src/carrylens/")
    }
    real = {entry for entry in real if not re.search(r"/(__init__|__main__)\.py$|/py\.typed$", entry)}
    left_out = [f"left out of the README's tree: {entry}" for entry in sorted(real - set(shown) - {"src/"})]
    return [f"in the README's tree but not there: {e}" for e in shown if not (root / e).exists()] + left_out


def unknown_commands(text: str, commands: dict[str, set[str]], targets: set[str]) -> list[str]:
    """Commands in a document's code that the command line or the Makefile does not have."""
    found = []
    for line in _command_lines(text):
        words = line.split()
        if words[0] == "make" and (len(words) < 2 or not targets.issuperset(words[1:])):
            found.append(f"no such target: {line}")
        if words[0] == "carrylens":
            two, one = " ".join(words[1:3]), " ".join(words[1:2])
            name = two if two in commands else one if one in commands else ""
            is_named = name or (len(words) > 1 and words[1].startswith("-"))
            options = [word.split("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]
            if not is_named or not commands[name].issuperset(options):
                found.append(f"no such command or option: {line}")
    return found


def length_violations(readme: str) -> list[str]:
    """A README that is too long to read."""
    n_lines = len(readme.splitlines())
    return [f"README.md has {n_lines} lines"] if n_lines > MAX_README_LINES else []


def missing_lines(written: str, fresh: str, pattern: str) -> list[str]:
    """Lines of a fresh output that fit the pattern and do not stand in the written document."""
    rows = [line for line in fresh.splitlines() if re.match(pattern, line)]
    return [row for row in rows if row not in written.splitlines()] or ([] if rows else ["nothing to compare"])


def _command_lines(text: str) -> Iterator[str]:
    for block in re.findall(r"```(?:sh|bash|shell|console)\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            for part in re.split(r"\||&&|;", line):
                command = re.sub(r"^(\$ |[A-Z_]+=\S+ |\S*/bin/)*", "", part.strip()).split("#")[0].strip()
                if re.match(r"(carrylens|make)\b", command):
                    yield command
    yield from re.findall(r"`((?:carrylens|make) [a-z-][^`]*)`", text)


def _tree_entries(readme: str) -> Iterator[str]:
    match = re.search(r"```tree\n(.*?)```", readme, re.DOTALL)
    parents: list[tuple[int, str]] = []
    for line in match[1].splitlines() if match else ["no tree block"]:
        depth, name = len(line) - len(line.lstrip()), line.split()[0]
        parents = [(d, p) for d, p in parents if d < depth]
        entry = (parents[-1][1] if parents else "") + name
        if name.endswith("/"):
            parents.append((depth, entry))
        yield entry


def _entry(path: str, under: tuple[str, ...]) -> str:
    parts = path.split("/")
    inside = parts[: len(under) + 1]
    return "/".join(inside) + ("/" if len(parts) > len(inside) else "")


def _room(path: Path, package: Path) -> str:
    parts = path.relative_to(package).parts
    if parts == ("__init__.py",):
        return ""
    return _named(parts[0].removesuffix(".py"), *parts[1:])


def _named(*parts: str) -> str:
    """The room that a dotted module is in: a folder of the study is a room of its own."""
    inside = ".".join(parts[:2])
    return inside if inside in STUDY else parts[0]


def _imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield f"{'.' * node.level}{node.module or ''}"


def _imported_rooms(path: Path, package: str) -> Iterator[str]:
    for name in _imported_modules(path):
        parts = name.split(".")
        if name.startswith("."):
            yield f"relative import {name}"
        elif parts[0] == package and len(parts) > 1 and parts[1] != "__version__":
            yield _named(*parts[1:])


def _public_methods(node: ast.ClassDef) -> list[str]:
    functions = [item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [function.name for function in functions if not function.name.startswith("_")]
