"""Models of every shape and layout that the page must run, small and quick to make."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import torch

from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.explorer.page_data import Explored
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer
from carrylens.tasks.task import Task

EXAMPLE = Path(__file__).parents[2] / "examples" / "brackets.py"


@cache
def brackets_example() -> ModuleType:
    spec = spec_from_file_location("brackets_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for their module
    spec.loader.exec_module(module)
    return module


def drawn(task: Task, **shape: object) -> Explored:
    """A model of this task with random weights, so that every answer is close and every part of it matters."""
    layout = task.layout
    sizes = {"n_layers": 2, "n_heads": 2, "d_model": 24, "d_head": 8, "d_mlp": 40, "seed": 3} | shape
    config = ModelConfig(
        **sizes,  # type: ignore[arg-type]
        n_ctx=layout.n_positions,
        d_vocab=len(layout.vocabulary),
        d_vocab_out=len(layout.output_vocabulary or layout.vocabulary),
        reads=layout.reads,
    )
    model = Transformer(config).eval()
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():  # biases and norms, too
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=random))
    model.task = task
    return Explored(model, task, "drawn")


def _layout(**changes: object) -> QuestionLayout:
    return QuestionLayout(3, **changes)  # type: ignore[arg-type]


def _planted(operation: Operation, digits: int, dials: Dials) -> Explored:
    model = plant(describe(operation, digits, dials)).model.eval()
    assert model.task is not None
    return Explored(model, model.task, "planted")


def _brackets() -> Explored:
    example = brackets_example()
    task = example.brackets(6)
    return Explored(example.wired(task, 6)[0], task, "brackets")


def _double() -> Explored:
    made = drawn(arithmetic_task(Operation.ADD, 2))
    return Explored(made.model.double(), made.task, "double")


def _query() -> Explored:
    layout = _layout(query="*", sign=False, equals=(), output_vocabulary=tuple("9876543210"))
    return drawn(arithmetic_task(Operation.ADD, 3, layout))


SHAPES: dict[str, Callable[[], Explored]] = {
    "mix": lambda: drawn(arithmetic_task(Operation.MIX, 3)),
    "one layer": lambda: drawn(arithmetic_task(Operation.SUB, 2), n_layers=1),
    "three layers, odd sizes": lambda: drawn(
        arithmetic_task(Operation.ADD, 2), n_layers=3, d_model=13, d_head=5, d_mlp=7
    ),
    "attention only": lambda: drawn(arithmetic_task(Operation.ADD, 3), d_mlp=0),
    "no norm": lambda: drawn(arithmetic_task(Operation.ADD, 2), normalization="none", d_model=12),
    "bare norm": lambda: drawn(arithmetic_task(Operation.ADD, 2), normalization="LNPre"),
    "gelu": lambda: drawn(arithmetic_task(Operation.ADD, 2), act_fn="gelu"),
    "gelu by tanh": lambda: drawn(arithmetic_task(Operation.ADD, 2), act_fn="gelu_new"),
    "units first": lambda: drawn(arithmetic_task(Operation.SUB, 3, _layout(units_first=True))),
    "small sums": lambda: drawn(
        arithmetic_task(Operation.ADD, 3, _layout(answer_digits=3, sign=False, operator=False))
    ),
    "start and end": lambda: drawn(
        arithmetic_task(Operation.ADD, 3, _layout(start=("*",), end=("/",), equals=("=", "=")))
    ),
    "query tokens, own output vocabulary": _query,
    "double": _double,
    "brackets": _brackets,
    "planted": lambda: _planted(Operation.ADD, 3, Dials(redundancy=2, decoys=1)),
    "planted mix": lambda: _planted(Operation.MIX, 2, Dials(sharing=True, rotated=True)),
}
"""Every shape and layout by what is special about it."""


def shipped(name: str) -> Explored:
    source = find_source(name)
    return Explored(source.load(), source.task, source.name)
