"""The help shows every command in a group, with its first sentence whole, and -h is --help."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from carrylens.cli import app
from carrylens.cli.groups import GROUPS
from command_line import run_here


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


def every_command(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each command with the words that name it, and the commands under it."""
    yield words, command
    for name, under in getattr(command, "commands", {}).items():
        yield from every_command(under, (*words, name))


COMMANDS = dict(every_command(get_command(app)))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_h_is_help_and_no_line_is_cut_off_in_80_columns(words: tuple[str, ...]) -> None:
    short, long = (CliRunner().invoke(app, [*words, asked], terminal_width=80) for asked in ("-h", "--help"))
    assert short.exit_code == 0
    assert short.stdout == long.stdout
    lines = long.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "[[" not in lines[0], "a name in brackets would be bracketed twice"
    flat = " ".join(long.stdout.split())
    for name, under in getattr(COMMANDS[words], "commands", {}).items():
        assert f"{name} {' '.join(under.help.split(chr(10) * 2)[0].split())}" in flat


def test_the_commands_under_a_command_are_among_them() -> None:
    assert {("map",), ("bench", "explore"), ("family", "show")} <= set(COMMANDS)


@pytest.mark.parametrize(
    ("words", "help_of"),
    [
        (["nonsense"], "carrylens"),
        (["train", "add", "--nonsense"], "carrylens train"),
        (["settle"], "carrylens settle"),
        (["family", "run"], "carrylens family run"),
    ],
)
def test_a_mistake_in_a_command_names_the_help_of_that_command(words: list[str], help_of: str) -> None:
    said = run_here(*words)
    assert said.returncode == 2
    assert f" {help_of} --help" in said.stderr
