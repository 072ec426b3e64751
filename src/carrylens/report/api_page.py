"""API page: every name that a room offers, with its signature and what it gives, from the source itself.

Takes  the package's files.
Gives  the text of `docs/api.md`.
Never  imports what it describes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_HEAD = """# Python API

Made by `make docs` from the source. `import carrylens as cl` offers the first section: start there, it is enough for
most. Then come the names that each room offers to everybody; the modules behind them have more, each with a card that
says what it takes, gives and never does.
"""

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def api_page(package: Path = _PACKAGE) -> str:
    """The page: a section for each room with public names."""
    parts = [_HEAD]
    for path in sorted(package.rglob("__init__.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = _offered(tree)
        if names:
            room = ".".join(("carrylens", *path.parent.relative_to(package).parts))
            card = (ast.get_docstring(tree) or "").split("\n")[0]
            parts += [f"## `{room}`\n", f"{card}\n", *_entries(tree, path, package, names), ""]
    return "\n".join(parts)


def _offered(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [name for name in ast.literal_eval(node.value) if not name.startswith("__")]
    return []


def _entries(tree: ast.Module, path: Path, package: Path, names: list[str]) -> Iterator[str]:
    homes = {
        alias.asname or alias.name: package.parent / Path(*node.module.split(".")).with_suffix(".py")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("carrylens.")
        for alias in node.names
    }
    for name in sorted(names, key=str.lower):
        home = homes.get(name, path)
        if not home.exists():  # a module, or another room's own name
            continue
        found, said = _definition(home, name)
        yield f"- **`{_signature(found, name)}`** {said}"


def _definition(path: Path, name: str) -> tuple[Definition | None, str]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for at, node in enumerate(body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node, _first(ast.get_docstring(node) or "")
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            after = body[at + 1] if at + 1 < len(body) else None
            said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            return None, _first(str(said))
    return None, ""


def _signature(node: Definition | None, name: str) -> str:
    if not isinstance(node, ast.FunctionDef):
        return name
    gives = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{name}({ast.unparse(node.args)}){gives}"


def _first(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())
