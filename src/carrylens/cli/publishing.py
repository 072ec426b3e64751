"""The command that shares a model: publish.

Takes  a model and `hf:owner/name`.
Gives  a model repository on the Hugging Face Hub, or with --dry-run the list of what would go up.
Never  takes a token as an argument: the Hub's own login has it.
"""

from __future__ import annotations

from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption, ModelArgument
from carrylens.cli.watch import Watch
from carrylens.terminal import print_line, print_record


def publish_command(
    model: ModelArgument,
    target: Annotated[str, typer.Argument(metavar="hf:OWNER/NAME", help="The repository to make or to update.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would go up; send nothing.")] = False,
    private: Annotated[bool, typer.Option("--private", help="Make the repository a private one.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Upload a model with its card, analyses, page and explorer to the Hugging Face Hub.

    The repository also has the files that the paper's tools read: model.pth, training_loss.json, behaviors.json and
    features.json. All files become one commit, or none does. Log in first: hf auth login.
    """
    from carrylens.arithmetic.zoo.sources import find_source

    with Watch(1, target) as watch:
        found = cl.publish(find_source(model), target, dry_run=dry_run, private=private, progress=watch.stage)
    if as_json:
        print_record({"repository": found.repository, "files": dict(found.sizes), "address": found.address})
        return
    for name, size in found.sizes.items():
        print_line(f"{size:>12,}  {name}")
    print_line(
        f"{len(found.sizes)} files, {sum(found.sizes.values()) / 1e6:.1f} MB, {'would go' if dry_run else 'went'} to "
        f"{found.repository if found.address is None else found.address}"
    )


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("publish")(publish_command)
