"""No test holds an error to its sentence, or the package to a private name of its own."""

import ast
import re
from pathlib import Path

import pytest

from house.pinned_sentences import pinned_sentences, said_by

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "src" / "carrylens"
OF_OWN = ("self", "os")
"""What a test may read off these is its own, or Python's."""


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


@pytest.fixture(scope="module")
def said() -> frozenset[str]:
    return said_by(PACKAGE)


def test_no_test_holds_a_sentence_of_the_package(said: frozenset[str]) -> None:
    tests = [path for path in TESTS.rglob("*.py") if path.parent.name != "house"]
    found = {str(path): pinned_sentences(path.read_text("utf-8"), said) for path in tests}
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    "lie",
    [
        'raises(Error, match="The role {name} holds no variable at all.*")',
        'assert "holds no variable at" in said',
        'LINE = f"{name} holds no variable at all"',
    ],
)
def test_a_pinned_sentence_is_seen(lie: str, tmp_path: Path) -> None:
    (tmp_path / "roles.py").write_text('raise Error(f"{role} holds no variable at all. Write another.")')
    (tmp_path / "page.js").write_text('text("nothing was found here yet")')
    said = said_by(tmp_path)
    assert len(pinned_sentences(lie, said)) == 1
    assert pinned_sentences("assert 'Nothing was found here' in page", said)
    assert pinned_sentences("assert name in said, 'holds no variable at all'", said) == []
    assert pinned_sentences("'Holds no variable at all.'", said) == []
    assert pinned_sentences("assert re.search('role 2.*variable', said)", said) == []
