"""The help shows every command in a group, with its first sentence whole, and -h is --help."""

import re

from typer.testing import CliRunner

from carrylens.cli import app
from carrylens.cli.groups import GROUPS


def test_every_command_is_in_a_group_and_its_sentence_is_whole() -> None:
    shown = CliRunner().invoke(app, ["-h"]).stdout
    assert shown == CliRunner().invoke(app, ["--help"]).stdout
    flat = " ".join(shown.split())
    assert "..." not in flat.replace("COMMAND [ARGS]...", "")
    assert re.findall(r"^(\w+):$", shown, re.MULTILINE) == ["Options", *GROUPS], "no command is left over"
    for command in app.registered_commands:
        assert command.callback is not None
        first = " ".join((command.callback.__doc__ or "").split("\n\n")[0].split())
        assert f"{command.name} {first}" in flat


def test_commands_of_a_command_take_h_too() -> None:
    for words in (["map"], ["bench"], ["bench", "train"]):
        assert CliRunner().invoke(app, [*words, "-h"]).exit_code == 0
