"""A worked question: the algorithm's table on one side, the model's answer and nodes on the other.

Takes  what was saved.
Gives  blocks of cells from the trace, and what the model did with the same question, if that was saved.
Never  takes one question for evidence: each swap stands beside the map's own rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from carrylens.arithmetic.traces import Trace, trace
from carrylens.report.page.effects import Effect, effect_of_record
from carrylens.report.page.node_grid import Chip
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.map import short
from carrylens.report.terminal.trace_rows import Block, trace_blocks, trace_summary
from carrylens.report.variable_kinds import kind_of
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class SwapRow:
    """One variable taken from another question: what must become of the answer, and what did."""

    variable: Chip
    value: str
    nodes: str
    place: str
    source: str
    source_value: str
    token: str
    expected: str
    given: str
    agrees: bool
    effect: Effect


@dataclass(frozen=True)
class WorkedQuestion:
    """One question, traced through the algorithm and through the model."""

    question: str
    summary: str
    right: str
    given: str
    tokens: tuple[Mapping[str, Any], ...]
    blocks: tuple[Block, ...]
    swaps: tuple[SwapRow, ...]

    @property
    def n_agree(self) -> int:
        """How many swaps did to the token what the algorithm says."""
        return sum(row.agrees for row in self.swaps)


def worked_questions(saved: Saved) -> list[WorkedQuestion]:
    """Every question that was worked through the model."""
    if saved.worked is None:
        return []
    return [_worked(each, trace(each["given"], saved.map.digits)) for each in saved.worked["questions"]]


def _worked(given: Mapping[str, Any], traced: Trace) -> WorkedQuestion:
    return WorkedQuestion(
        question=given["question"],
        summary=trace_summary(traced),
        right=given["right"],
        given=given["answer"],
        tokens=tuple(given["tokens"]),
        blocks=tuple(trace_blocks(traced)),
        swaps=tuple(map(_swap_row, given["swaps"])),
    )


def _swap_row(given: Mapping[str, Any]) -> SwapRow:
    variable = Variable.parse(given["variable"])
    names = ("value", "nodes", "place", "source", "source_value", "token", "expected", "given", "agrees")
    return SwapRow(
        variable=Chip(short(variable), kind_of(variable).name),
        **{name: given[name] for name in names},
        effect=effect_of_record(f"swap of {variable}", given),
    )
