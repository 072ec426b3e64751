"""Pinned sentences: which texts of a test stand in the package, so that a better sentence there fails a test here.

Four plain words in a row make a sentence. Names of cases, and what a test gives to the package, are its own: they are
seen only if the package happens to say the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

N_WORDS = 4
RUN = re.compile(r"\b[A-Za-z][a-z']*\b(?:,? [a-z']+\b){3,}")
FROM_ELSEWHERE = (
    *("no space left on device", "failed to map segment from shared object"),
    *("error return without exception set", "returned null without setting an exception"),
)
"""What an operating system says, or Python."""
NAMED = ("of the way to", "import carrylens as cl")
"""The form in which an edit is printed, and the line that begins a user's file."""


def pinned_sentences(test: str, said: frozenset[str]) -> list[str]:
    """The texts of a test's module that share four words in a row with what the package says."""
    return [text for text in _texts(test) if any(words in said for words in _runs(text))]


def said_by(package: Path) -> frozenset[str]:
    """All runs of four words in what the package can say: texts of its modules, its scripts and its pages."""
    said = {
        words for path in package.rglob("*.py") for text in _texts(path.read_text("utf-8")) for words in _runs(text)
    }
    for ending in ("js", "html"):
        said |= {words for path in package.rglob(f"*.{ending}") for words in _runs(path.read_text("utf-8"))}
    return frozenset(said)


def _texts(source: str) -> Iterator[str]:
    # Without docstrings, and without what an assertion says when it fails.
    tree, left_out = ast.parse(source), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
        if isinstance(node, ast.Assert) and node.msg is not None:
            left_out |= {each for each in ast.walk(node.msg) if isinstance(each, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield node.value


def _runs(text: str) -> Iterator[str]:
    for run in RUN.findall(text):
        words = run.replace(",", "").lower().split()
        for at in range(len(words) - N_WORDS + 1):
            four = " ".join(words[at : at + N_WORDS])
            if not any(four in known for known in (*FROM_ELSEWHERE, *NAMED)):
                yield four
