"""Shipped commands: every command, in a cheap form, on a model that comes with carrylens.

Takes  a model's name and an empty folder.
Gives  what went wrong.

A model that ships without a map is mapped first, quickly: only small ones do. Not among them: to train, map a large
model, run experiments, align and explain measures for minutes; `torture.victims` has those, on a small model.
"""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.zoo.sources import SHIPPED
from carrylens.discovery.node_map import MAP
from torture.bench import LONGEST, run_command

QUICK = ("ask", "test", "losses")
"""Those that take a moment each, and are about one model."""
LONGEST_MAP = 600
"""Seconds, where other work has the machine too: alone, the slower of them takes 25."""


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
        **({} if (SHIPPED / model / MAP).exists() else {"map": ["map", model, "--quick"]}),
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
            became, said = run_command(folder, words, LONGEST_MAP if name == "map" else LONGEST)
            if became != "done":
                wrong.append(f"{' '.join(words)}: {became}: {said}")
    return wrong
