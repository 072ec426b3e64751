"""Every kind of notebook display has a picture in the documents, and a missing one is seen."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from display_files import DISPLAYS, DOCS, PICTURES

PACKAGE = Path(__file__).parents[2] / "src" / "carrylens"
_MOST_BYTES = 60_000


def drawn_classes(texts: Iterable[str]) -> set[str]:
    """The classes that draw themselves in a notebook."""
    return {
        node.name
        for text in texts
        if "_repr_html_" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(each, ast.FunctionDef) and each.name == "_repr_html_" for each in node.body)
    }


def not_shown(page: str, names: Collection[str], there: Collection[str]) -> set[str]:
    """Displays that the page does not show, and pictures that are not there."""
    linked = set(re.findall(r"\]\(displays/(\w+)\.png\)", page))
    return set(names) ^ linked | linked ^ set(there)


def test_every_display_has_a_picture() -> None:
    classes = drawn_classes(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert classes == {name for name, _ in DISPLAYS.values()}
    page = (DOCS / "displays.md").read_text(encoding="utf-8")
    assert not_shown(page, DISPLAYS, {path.stem for path in PICTURES.iterdir()}) == set()
    for path in PICTURES.iterdir():
        assert path.read_bytes()[:4] == b"\x89PNG", path
        assert path.stat().st_size < _MOST_BYTES, path


def test_a_display_without_a_picture_is_seen() -> None:
    assert drawn_classes(["class A:\n    def _repr_html_(self): ...", "class B: ..."]) == {"A"}
    assert not_shown("![x](displays/one.png)", {"one", "two"}, {"one"}) == {"two"}
    assert not_shown("![x](displays/one.png)", {"one"}, set()) == {"one"}
