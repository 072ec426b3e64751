"""Error messages are in plain words, and say what to write instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "carrylens"

STILTED = re.compile(
    r"\b(?<!here )(?<!There )(?:is|are) no (?!such|longer|more)\w|\bnames? no \b|\bmakes? no \b|\b[Mm]end\b"
    r"|\bcannot be had\b|\baway\.$|\bcalled for\b|\bwould never be\b"
)
"""Turns of phrase that have to be read twice."""


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every CarryLensError that a module raises with a text of its own; `{}` stands for a value."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "CarryLensError":
            for given in node.args[:1]:
                if text := _text(given):
                    yield node.lineno, text


def _text(given: ast.expr) -> str:
    if isinstance(given, ast.Constant):
        return str(given.value)
    if isinstance(given, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in given.values)
    return ""


def faults(source: str) -> list[str]:
    """What is wrong with the messages of a module: words that are not plain; no word of what to do."""
    found = []
    for line, text in messages(source):
        if STILTED.search(text):
            found.append(f"{line}: not plain: {text}")
        is_whole = text.endswith(".")  # others are the reason inside a longer message
        if is_whole and not re.search(r"[.)?}] [A-Z{]|: |\{\}\.$", text):
            found.append(f"{line}: does not say what to write: {text}")
    return found


def test_every_error_is_plain_and_says_what_to_do() -> None:
    texts = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name: faults(text) for name, text in texts.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert sum(len(list(messages(text))) for text in texts.values()) > 400


@pytest.mark.parametrize(
    "lie",
    [
        "raise CarryLensError(f'{name} is no model. Write another.')",
        "raise CarryLensError(f'{name} names no node. Write another.')",
        "raise CarryLensError(f'{path} is damaged. Mend it.')",
        "raise CarryLensError('The figure cannot be drawn.')",
    ],
)
def test_an_error_that_is_not_plain_is_seen(lie: str) -> None:
    assert len(faults(lie)) == 1
    assert faults("raise CarryLensError(f'{name} is not a model. Write another.')") == []
