"""A worked question: the algorithm's table on one side, the model's answer and nodes on the other.

Takes  what was saved.
Gives  what the model did with a question, and in arithmetic blocks of cells from the trace of the same question.
Never  takes one question for evidence: each interchange stands beside the map's own rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.traces import Trace, trace
from carrylens.discovery.node_map import NodeMap
from carrylens.report.page.effects import Effect, effect_of_record
from carrylens.report.page.node_grid import Chip, chip_of
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.trace_rows import TraceBlock, trace_blocks, trace_summary
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class InterchangeRow:
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
    """One question, traced through the algorithm where there is a trace, and through the model."""

    question: str
    summary: str
    right: str
    given: str
    tokens: tuple[Mapping[str, Any], ...]
    blocks: tuple[TraceBlock, ...]
    interchanges: tuple[InterchangeRow, ...]

    @property
    def n_agree(self) -> int:
        """How many interchanges did to the token what the algorithm says."""
        return sum(row.agrees for row in self.interchanges)


def worked_questions(saved: Saved) -> list[WorkedQuestion]:
    """Every question that was worked through the model."""
    if saved.worked is None:
        return []
    return [_worked(saved.map, each) for each in saved.worked["questions"]]


def _worked(found: NodeMap, given: Mapping[str, Any]) -> WorkedQuestion:
    traced = _traced(found, given["given"])
    return WorkedQuestion(
        question=given["question"],
        summary=f"{trace_summary(traced)}. " if traced is not None else "",
        right=given["right"],
        given=given["answer"],
        tokens=tuple(given["tokens"]),
        blocks=tuple(trace_blocks(traced)) if traced is not None else (),
        interchanges=tuple(_interchange(found, each) for each in given["swaps"]),
    )


def _traced(found: NodeMap, text: str) -> Trace | None:
    # A trace has carries as they become known in the paper's layout, by the algorithm that the task comes with.
    task = found.task
    if not isinstance(task, ArithmeticTask) or not task.question_layout.is_standard or found.causal != task.causal:
        return None
    return trace(text, task.digits)


def _interchange(found: NodeMap, given: Mapping[str, Any]) -> InterchangeRow:
    variable = Variable.parse(given["variable"])
    names = ("value", "nodes", "place", "source", "source_value", "token", "expected", "given", "agrees")
    return InterchangeRow(
        variable=chip_of(found, variable),
        **{name: given[name] for name in names},
        effect=effect_of_record(f"interchange of {variable}", given),
    )
