"""A group of commands with a usual one: what is no command's name belongs to it.

Takes  arguments.
Gives  `DefaultGroup`: `carrylens family add_d6..` is `carrylens family show add_d6..`.
Never  runs a command itself.
"""

from __future__ import annotations

from typing import Any

from carrylens.cli.groups import WholeSentences

USUAL = "show"
"""What the usual command of a group is called."""


class DefaultGroup(WholeSentences):
    """A group whose usual command need not be written."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, with the usual command before them unless they name one, or ask for help."""
        named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else [USUAL, *args])
