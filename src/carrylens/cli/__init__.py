"""The command line: arguments in, calls in the order of the route, text or JSON out.

Takes  arguments and standard input.
Gives  exit status 0 done, 1 the answer is no, 2 bad input.
Never  holds logic: `workflow/` and the rooms do the work.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
from typing import Annotated, NoReturn

import typer

from carrylens import __version__
from carrylens.cli.arithmetic import add_commands as add_arithmetic_commands
from carrylens.cli.battery import add_commands as add_battery_commands
from carrylens.cli.bench import bench_commands
from carrylens.cli.benchmark import add_commands as add_benchmark_commands
from carrylens.cli.discovery import add_commands as add_discovery_commands
from carrylens.cli.explore import add_commands as add_explore_commands
from carrylens.cli.family import family_commands
from carrylens.cli.groups import GroupedCommands
from carrylens.cli.importing import add_commands as add_import_commands
from carrylens.cli.judge import add_commands as add_judge_commands
from carrylens.cli.models import add_commands as add_model_commands
from carrylens.cli.paper import add_commands as add_paper_commands
from carrylens.cli.planted import add_commands as add_planted_commands
from carrylens.cli.published import add_commands as add_published_commands
from carrylens.cli.publishing import add_commands as add_publish_commands
from carrylens.cli.question_data import add_commands as add_question_commands
from carrylens.cli.report import add_commands as add_report_commands
from carrylens.errors import CarryLensError, quote
from carrylens.terminal import (
    BAD_INPUT,
    INTERRUPTED,
    UNREAD,
    Stopped,
    print_error,
    print_line,
    print_note,
    write_out_what_cannot_be_encoded,
)

_OUTPUT_ERRORS = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)

_PATH_ERRORS = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS)
"""What is wrong with a path that a user gave, whichever command reads or writes it."""

_NO_OBJECT = re.compile(
    r"PanicException.*PyObject pointer is null"
    r"|SystemError.*(error return without exception set|'<function .* returned NULL without setting an exception)"
)
"""Errors for want of memory for an object: of a library in Rust, of Python's compiler, of its interpreter."""

_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "bad_alloc", "failed to map segment")
"""How PyTorch says so, and the system of a library that does not fit."""

_LOOP = "Symlink loop"
"""How Python 3.11 and 3.12 say that a path cannot be resolved."""

app = typer.Typer(
    name="carrylens",
    help="Does a small transformer run this algorithm, how much of it, and how sure are we?",
    cls=GroupedCommands,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
add_arithmetic_commands(app)
add_model_commands(app)
add_planted_commands(app)
add_import_commands(app)
add_discovery_commands(app)
add_judge_commands(app)
add_benchmark_commands(app)
add_report_commands(app)
add_explore_commands(app)
add_battery_commands(app)
add_paper_commands(app)
add_published_commands(app)
app.add_typer(family_commands(), name="family")
add_question_commands(app)
add_publish_commands(app)
app.add_typer(bench_commands(), name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"carrylens {__version__}")
        raise typer.Exit


@app.callback()
def carrylens(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Does a small transformer run this algorithm, how much of it, and how sure are we?"""


def main() -> None:
    """Run the command line, with every mistake of the user's as one line."""
    try:
        if sys.stdout is None:
            raise CarryLensError("Standard output is closed. Leave it open, or send it to a file.")
        write_out_what_cannot_be_encoded(sys.stdout)
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # where it keeps its fonts is no news to the user
        status = _run_app()
        sys.stdout.flush()
        if status == INTERRUPTED:
            print_error("Stopped.")
        sys.exit(status if isinstance(status, int) else 0)
    except Stopped as stopped:
        _end_stopped(stopped)
    except CarryLensError as error:
        print_error(error)
        sys.exit(BAD_INPUT)
    except typer.TyperException as error:
        message = error.format_message()
        if message.startswith("Usage:"):  # a command that only has sub-commands was given none: this is its help
            print_line(message)
            sys.exit(0)
        context = getattr(error, "ctx", None)
        command = "carrylens" if context is None else context.command_path
        print_error(f"{message.rstrip('.')}. Write {command} --help for what there is.")
        sys.exit(BAD_INPUT)
    except OSError as error:
        _end_after(error)
    except (MemoryError, RuntimeError, ImportError) as error:
        _end_without_means(error)


def _run_app() -> object:
    # Typer ends with 1 where a pipe was closed, as where an answer is no; it then has put something else in place of
    # standard output.
    output = sys.stdout
    try:
        return app(standalone_mode=False, prog_name="carrylens")
    except SystemExit:
        if sys.stdout is not output:
            raise BrokenPipeError(errno.EPIPE, "") from None
        raise
    except BaseException as error:
        if _NO_OBJECT.match(repr(error)):
            raise MemoryError from error
        raise


def _end_stopped(stopped: Stopped) -> NoReturn:
    for note in getattr(stopped, "__notes__", ()):
        print_note(note)
    print_error(stopped)
    sys.exit(INTERRUPTED)


def _end_without_means(error: Exception) -> NoReturn:
    # What memory or paths lack; anything else is a bug of ours.
    if _LOOP in str(error):
        print_error(f"{error}: links there lead to each other. Remove them, or give another place.")
    elif isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY):
        print_error("There is not enough memory. What was finished is saved; free some, or take a smaller model.")
    else:
        raise error
    sys.exit(BAD_INPUT)


def _end_after(error: OSError) -> NoReturn:
    # What the user's paths, disk or pipe did; anything else is a bug of ours.
    if error.errno in _PATH_ERRORS and error.filename:
        print_error(f"{quote(str(error.filename))} cannot be used: {error.strerror}. Give another name or place.")
        sys.exit(BAD_INPUT)
    if error.errno not in _OUTPUT_ERRORS:
        raise error
    # Output that has no reader any more. Keep Python from complaining again when it closes standard output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        sys.exit(UNREAD)  # whoever read it has gone, and knows
    print_error(f"The output cannot be written: {error.strerror or error}. Make room, or send it elsewhere.")
    sys.exit(BAD_INPUT)
