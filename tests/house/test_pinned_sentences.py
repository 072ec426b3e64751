"""No test holds an error to its sentence, or the package to a private name of its own."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOUR_WORDS = re.compile(r"(?:\b[A-Za-z][a-z']+\b,? ){3}\b[a-z']{2,}\b")
OF_OWN = ("self", "os")
"""What a test may read off these is its own, or Python's."""
FROM_ELSEWHERE = re.compile("no space left on device", re.IGNORECASE)


def pinned_sentences(source: str) -> list[str]:
    """The `match` patterns of a module that have four plain words in a row."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "match":
            parts = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            found += [text for text in parts if isinstance(text, str) and FOUR_WORDS.search(text)]
    return [text for text in found if not FROM_ELSEWHERE.search(text)]


def private_names(source: str) -> list[str]:
    """The names with one underscore before them that a module reads off something, imports or patches."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id in OF_OWN):
            found.append(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found += [each.name for each in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            found += [
                each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
    return [name for name in found if re.fullmatch(r"(.*\.)?_[a-z]\w*", name) and not name.endswith("_")]


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.name)
def test_no_test_knows_a_private_name(path: Path) -> None:
    assert private_names(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "lie",
    [
        "folders._write(path)",
        "from carrylens.folders import _write",
        'patch.setattr(folders, "_write", None)',
        'patch.setattr("carrylens.folders._write", None)',
    ],
)
def test_a_private_name_is_seen(lie: str) -> None:
    assert len(private_names(lie)) == 1
    assert private_names(lie.replace("_write", "write")) == []


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: path.name)
def test_no_pattern_pins_a_sentence(path: Path) -> None:
    assert pinned_sentences(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("pattern", "is_pinned"), [("is no node map at all", True), (r"role 2.*ST\[5\]", False)])
def test_a_pinned_sentence_is_seen(pattern: str, is_pinned: bool) -> None:
    assert bool(pinned_sentences(f"raises(Error, match={pattern!r})")) is is_pinned
