"""No test holds an error to its sentence: patterns give the names and values that a message must have."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOUR_WORDS = re.compile(r"(?:\b[A-Za-z][a-z']+\b,? ){3}\b[a-z']{2,}\b")
FROM_ELSEWHERE = re.compile("no space left on device", re.IGNORECASE)


def pinned_sentences(source: str) -> list[str]:
    """The `match` patterns of a module that have four plain words in a row."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "match":
            parts = [each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
            found += [text for text in parts if isinstance(text, str) and FOUR_WORDS.search(text)]
    return [text for text in found if not FROM_ELSEWHERE.search(text)]


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: path.name)
def test_no_pattern_pins_a_sentence(path: Path) -> None:
    assert pinned_sentences(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("pattern", "is_pinned"), [("is no node map at all", True), (r"role 2.*ST\[5\]", False)])
def test_a_pinned_sentence_is_seen(pattern: str, is_pinned: bool) -> None:
    assert bool(pinned_sentences(f"raises(Error, match={pattern!r})")) is is_pinned
