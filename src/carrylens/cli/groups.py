"""Help groups: the commands as a person looks for them.

Takes  nothing.
Gives  the class of the command line's help, with commands in groups and every sentence whole.
Never  adds a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

GROUPS = {
    "Start": ("explain", "explore", "ask", "trace", "models"),
    "Understand": ("map", "judge", "settle", "battery", "report", "compare", "family", "paper", "published"),
    "Build": ("train", "test", "import", "plant", "questions", "publish", "classify", "frequencies", "losses", "prove"),
    "Benchmark": ("benchmark", "bench"),
}
"""Which command is in which group; one that is in none is listed at the end."""


class WholeSentences(TyperGroup):
    """A command with commands under it: its help has the first sentence of each, whole."""

    groups: Mapping[str, tuple[str, ...]] = {}
    rest = "Commands"

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the groups, then what is in none."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        grouped = {name for names in self.groups.values() for name in names}
        groups = {**self.groups, self.rest: tuple(name for name in commands if name not in grouped)}
        for title, names in groups.items():
            there = [(name, _sentence(found)) for name in names if (found := commands.get(name)) is not None]
            if there:
                with formatter.section(title):
                    formatter.write_dl(there)


class GroupedCommands(WholeSentences):
    """The command line itself, with its commands in groups."""

    groups = GROUPS
    rest = "Other"


def _sentence(command: Any) -> str:
    said = " ".join((command.help or command.short_help or "").split("\n\n")[0].split())
    return said.split("\f")[0]
