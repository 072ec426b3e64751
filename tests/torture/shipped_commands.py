"""Shipped commands: every command, in a cheap form, on a model that comes with carrylens.

Takes  a model's name and an empty folder.
Gives  what went wrong.

Not among them: to train, map, run experiments, align and explain measures for minutes; `torture.victims` has those, on
a small model.
"""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.model_names import ModelName
from torture.bench import run_command

QUICK = ("ask", "test", "losses")
"""Those that take a moment each, and are about one model."""


def commands(model: str) -> dict[str, list[str]]:
    """The words of each command, by its name, in the order in which one needs another."""
    name = ModelName.parse(model)
    sign = "-" if name.operation.value == "sub" else "+"
    question = f"{'9' * name.digits}{sign}{'1' * name.digits}"
    return {
        "ask": ["ask", model, question],
        "test": ["test", model, "--questions", "4", "--per-class", "1"],
        "losses": ["losses", model, "--svg", "losses.svg"],
        "models": ["models", "--json"],
        "judge": ["judge", model],
        "report": ["report", model, "--tables", "tables"],
        "explore": ["explore", model, "--out", "explore.html"],
        "compare": ["compare", model, model],
        "family": ["family", model],
    }


def run_commands(model: str, folder: Path, only: tuple[str, ...] | None = None) -> list[str]:
    """What went wrong with these commands, or with all of them."""
    wrong = []
    for name, words in commands(model).items():
        if only is None or name in only:
            became, said = run_command(folder, words)
            if became != "done":
                wrong.append(f"{' '.join(words)}: {became}: {said}")
    return wrong
