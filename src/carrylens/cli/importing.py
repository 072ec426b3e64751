"""The command that takes in models of others: import.

Takes  a file of weights, and how questions are written for the model.
Gives  a model folder on which every other command works.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption, TaskOption
from carrylens.files import place_here
from carrylens.terminal import print_line, print_note, print_record


def import_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Weights: .pt, .pth, .bin or .safetensors, or a folder.")
    ],
    digits: Annotated[int | None, typer.Option(min=1, help="How many digits an operand has.")] = None,
    operation: Annotated[str, typer.Option(help="What the model does: add, sub or mix.")] = "add",
    layout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="How a question is written, where it is not the paper's way: units_first=yes, operator=no, sign=no, "
            "answer_digits=4, start=BOS, equals='=', end=EOS, padding='PAD PAD', query=END, vocabulary='0123456789+=', "
            "output_vocabulary='0123456789'; or a JSON file with such fields.",
        ),
    ] = None,
    task: TaskOption = None,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where to put it, if not models/FILE.")] = None,
    heads: Annotated[int | None, typer.Option(help="How many heads a layer has, where weights do not show it.")] = None,
    activation: Annotated[str | None, typer.Option(help="relu, gelu or gelu_new, if not the format's own.")] = None,
    norm: Annotated[str | None, typer.Option(help="LN, LNPre or none, if it cannot be seen in the weights.")] = None,
    eps: Annotated[float | None, typer.Option(help="LayerNorm's epsilon, if not the format's own.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a model folder from weights that someone else saved.

    Reads TransformerLens 1.x to 4.x, GPT-2's format and plain state dicts of either; only tensors are read from a file,
    and a file that holds anything else is refused. The weights are checked against the layout.
    """
    from carrylens.workflow.importing import imported_task, n_places

    folder = out or place_here(Path("models", file.stem))
    model = cl.load(
        file,
        task=imported_task(task, operation, digits, layout or ()),
        n_heads=heads,
        act_fn=activation,
        normalization=norm,
        eps=eps,
        folder=folder,
    )
    made_for, config = model.task, model.config
    assert made_for is not None
    spare = n_places(file, heads) - config.n_ctx
    if spare:
        print_note(
            f"The weights have {spare} positions more than the layout, which are left out. Are the digits right?"
        )
    places = list(made_for.layout.place_names)
    if as_json:
        shape = {"n_layers": config.n_layers, "n_heads": config.n_heads, "d_model": config.d_model}
        print_record({"folder": str(folder), "task": dict(made_for.spec), **shape, "places": places})
        return
    print_line(f"Layers {config.n_layers}, heads {config.n_heads}, width {config.d_model}: {made_for.name}")
    print_line(f"Places: {' '.join(places)}")
    more = "" if task is None else f" --task {task}"
    print_line(f"The model is in {folder}. Try: carrylens test {folder}{more}")


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("import")(import_command)
