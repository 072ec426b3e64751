"""Exam counts: how many questions of each population a test draws, as the command line writes it.

Takes  texts such as `enriched=400000` or `enriched:add=1000000`; or how many were asked.
Gives  the count of every population of every operation; or the options that draw so many.
Never  runs a model.

A count for one operation goes before a count for the population, and that before the count for all populations, in
whatever order they are written. Of the structured population at most MOST_STRUCTURED are drawn unless a count is
written: it repeats itself sooner than the others do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.errors import CarryLensError, quote

WrittenCounts = Mapping[tuple[PopulationKind, Operation | None], int]
"""What was written; with None for the operation, for both."""

PopulationCounts = Mapping[tuple[PopulationKind, Operation], int]

MOST_STRUCTURED = 100_000
"""How many structured questions are drawn at most, unless a count is written."""

_OF = re.compile(rf"({'|'.join(kind.value for kind in PopulationKind)})(?::(add|sub))?=([0-9]{{1,15}})", re.ASCII)


def single_operations(operation: Operation) -> tuple[Operation, ...]:
    """The operations a model is tested on one by one."""
    return (Operation.ADD, Operation.SUB) if operation is Operation.MIX else (operation,)


def parse_counts(texts: Sequence[str]) -> WrittenCounts:
    """What the texts say.

    >>> parse_counts(["enriched:add=1000000"])
    {(<PopulationKind.ENRICHED: 'enriched'>, <Operation.ADD: 'add'>): 1000000}
    """
    given: dict[tuple[PopulationKind, Operation | None], int] = {}
    for text in texts:
        if (match := _OF.fullmatch(text)) is None:
            raise CarryLensError(
                f"--of {quote(text)} is not a count. Write natural, paper, enriched or structured, for one "
                "operation :add "
                "or :sub after it, then = and a whole number, such as enriched=400000 or enriched:add=1000000."
            )
        key = PopulationKind(match[1]), Operation(match[2]) if match[2] else None
        if key in given:
            raise CarryLensError(f"--of {text.split('=')[0]} is given twice. Write it once.")
        given[key] = int(match[3])
    return given


def named_counts(texts: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """What the texts say about populations of another task, which has these.

    >>> named_counts(["uniform=300"], ["uniform", "hard"])
    {'uniform': 300}
    """
    given: dict[str, int] = {}
    for text in texts:
        name, _, count = text.rpartition("=")
        if name not in names or not count.isascii() or not count.isdecimal() or len(count) > 15:
            raise CarryLensError(
                f"--of {quote(text)} is not a count. Write {' or '.join(names)}, then = and a whole number."
            )
        if name in given:
            raise CarryLensError(f"--of {name} is given twice. Write it once.")
        given[name] = int(count)
    return given


def population_counts(operation: Operation, usual: int, given: WrittenCounts) -> PopulationCounts:
    """How many are drawn from each population, for each operation of a model that does `operation`."""
    operations = single_operations(operation)
    for kind, each in given:
        if each is not None and each not in operations:
            verb = "add" if operation is Operation.ADD else "subtract"
            raise CarryLensError(
                f"--of {kind.value}:{each.value} is not for this model, which can only {verb}. "
                f"Write {kind.value}:{operation.value}, or {kind.value} alone."
            )
    return {
        (kind, each): given.get((kind, each), given.get((kind, None), usual_count(kind, usual)))
        for each in operations
        for kind in PopulationKind
    }


def usual_count(kind: PopulationKind, n_questions: int) -> int:
    """How many of this kind are drawn where `n_questions` of each are wanted."""
    return min(n_questions, MOST_STRUCTURED) if kind is PopulationKind.STRUCTURED else n_questions


def count_options(operation: Operation, asked: PopulationCounts) -> str:
    """The options that draw so many: `--questions` for the paper's population and those of as many questions.

    >>> count_options(Operation.ADD, {(kind, Operation.ADD): 400 for kind in PopulationKind})
    '--questions 400'
    """
    operations = single_operations(operation)
    usual = asked.get((PopulationKind.PAPER, operations[0]), 0)
    options = [f"--questions {usual}"]
    for kind in PopulationKind:
        counts, expected = {each: asked.get((kind, each), 0) for each in operations}, usual_count(kind, usual)
        if len(set(counts.values())) == 1:
            count = counts[operations[0]]
            options += [f"--of {kind.value}={count}"] if count != expected else []
        else:
            options += [f"--of {kind.value}:{each.value}={n}" for each, n in counts.items() if n != expected]
    return " ".join(options)


def asked_options(name: ModelName, test: dict[str, Any]) -> str:
    """The options of `carrylens test` that repeat the test, as long as that command made it."""
    populations, operations = {kind.value for kind in PopulationKind}, {each.value for each in Operation}
    if unknown := {part["operation"] for part in test["parts"]} - operations:
        raise CarryLensError(
            f"A test of {quote(min(unknown))} is none of arithmetic. Test the model again with --save."
        )
    asked = {
        (PopulationKind(part["name"]), Operation(part["operation"])): int(part["asked"])
        for part in test["parts"]
        if part["name"] in populations
    }
    per_class = max((part["asked"] for part in test["parts"] if part["name"] not in populations), default=0)
    return f"{count_options(name.operation, asked)} --per-class {per_class}"
