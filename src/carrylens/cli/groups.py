"""Help groups: the commands as a person looks for them.

Takes  nothing.
Gives  the class of the command line's help, with commands in groups and every sentence whole.
Never  adds a command.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

GROUPS = {
    "Start": ("explain", "explore", "ask", "trace", "models"),
    "Understand": ("map", "judge", "settle", "battery", "report", "compare", "family", "paper"),
    "Build": ("train", "test", "import", "plant", "questions", "publish", "classify", "frequencies", "losses", "prove"),
    "Benchmark": ("benchmark", "bench"),
}
"""Which command is in which group; one that is in none is listed at the end."""


class GroupedCommands(TyperGroup):
    """The command line's help: commands in groups, each with its first sentence, whole."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the groups."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        grouped = {name for names in GROUPS.values() for name in names}
        groups = {**GROUPS, "Other": tuple(name for name in commands if name not in grouped)}
        for title, names in groups.items():
            there = [(name, _sentence(found)) for name in names if (found := commands.get(name)) is not None]
            if there:
                with formatter.section(title):
                    formatter.write_dl(there)


def _sentence(command: Any) -> str:
    said = " ".join((command.help or command.short_help or "").split("\n\n")[0].split())
    return said.split("\f")[0]
