"""Trace rows: a trace laid out as a table of cells, which the terminal and the picture then draw alike.

Takes  a `Trace`.
Gives  blocks of rows of cells, columns in reading order.
Never  chooses a colour or a size.

Every block has one column per digit k, highest first. In the blocks of a chain, column k is also the moment at which
D'k arrives, so a row of `SV8` read left to right is how the carry out of digit 8 becomes known.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.traces import Trace, TraceChain, answer_parts
from carrylens.arithmetic.variables import D_PRIME, SGN, D, label
from carrylens.tasks.variables import UNKNOWN


class CellLook(Enum):
    """What a cell shows, for the artist to give a look to."""

    EMPTY = "empty"
    DIGIT = "digit"
    ZERO = "zero"
    ONE = "one"
    UNCERTAIN = "uncertain"
    ANSWER = "answer"


@dataclass(frozen=True)
class TraceCell:
    """One entry of the table. `fresh` marks where a resolved carry or borrow is first settled."""

    text: str = ""
    look: CellLook = CellLook.EMPTY
    fresh: bool = False


@dataclass(frozen=True)
class TraceRow:
    """A name and one cell per column."""

    name: str
    cells: tuple[TraceCell, ...]


@dataclass(frozen=True)
class TraceBlock:
    """Rows under one heading."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[TraceRow, ...]


def trace_blocks(trace: Trace) -> list[TraceBlock]:
    """The table of a trace: one block per chain, then the answer."""
    return [*(_chain_block(trace, chain) for chain in trace.chains), _answer_block(trace)]


def trace_summary(trace: Trace) -> str:
    """One line on what is traced: class and depths."""
    depths = [f"{name.replace('_', ' ')} {depth}" for name, depth in trace.depths.items() if depth is not None]
    digits = f"{trace.digits} digit{'s' if trace.digits > 1 else ''}"
    return ", ".join([digits, f"class {trace.question_class.value}", *depths])


def _chain_block(trace: Trace, chain: TraceChain) -> TraceBlock:
    down = range(trace.digits - 1, -1, -1)
    columns = ("", "", *(f"D'{k}" for k in down))
    ahead = (TraceCell(), TraceCell())  # the answer has a sign and one more digit
    rows = [
        TraceRow("D", (*ahead, *(_digit(trace.values[D[k]]) for k in down))),
        TraceRow("D'", (*ahead, *(_digit(trace.values[D_PRIME[k]]) for k in down))),
        TraceRow(chain.base.name, (*ahead, *(_digit(trace.values[chain.base[k]]) for k in down))),
        TraceRow(chain.tri.name, (*ahead, *(_state(trace.values[chain.tri[k]]) for k in down))),
        *(TraceRow(f"{chain.resolved.name}{k}", (*ahead, *_resolved_cells(trace, chain, k))) for k in down),
    ]
    if chain.resolved.name == "MV":
        n_blank = trace.digits - 1
        sign = TraceCell(label(SGN, trace.values[SGN]), CellLook.ANSWER)
        rows.append(TraceRow("SGN", (*ahead, *[TraceCell()] * n_blank, sign)))
    what = "carry" if trace.model.operation is Operation.ADD else "borrow"
    subject = {"SV": "D+D'", "MV": "D-D'", "NV": "D'-D"}[chain.resolved.name]
    return TraceBlock(f"The {what} of {subject} as the tokens arrive: decides {chain.decides}", columns, tuple(rows))


def _resolved_cells(trace: Trace, chain: TraceChain, k: int) -> list[TraceCell]:
    # Nothing is drawn before the column's own digits are there; then U until a lower column settles it.
    variable, cells, before = chain.resolved[k], [], UNKNOWN
    for column in range(trace.digits - 1, -1, -1):
        now = trace.known[variable][position_of(D_PRIME[column], trace.digits)]
        fresh = now != UNKNOWN and before == UNKNOWN
        cells.append(
            TraceCell() if column > k else TraceCell("U", CellLook.UNCERTAIN) if now == UNKNOWN else _state(now, fresh)
        )
        before = now
    return cells


def _answer_block(trace: Trace) -> TraceBlock:
    n, chain = trace.digits, trace.chains[-1]
    down = range(n, -1, -1)
    parts = [answer_parts(trace, k) for k in down]
    below = "+ " if trace.model.operation is Operation.ADD else "- "
    rows = (
        TraceRow(
            chain.base.name, (TraceCell(), *(_digit(trace.values[base]) if base else TraceCell() for base, _ in parts))
        ),
        TraceRow(
            f"{below}{chain.resolved.name} below",
            (TraceCell(), *(_state(trace.values[carry]) if carry else TraceCell() for _, carry in parts)),
        ),
        TraceRow("answer", tuple(TraceCell(token, CellLook.ANSWER) for token in trace.answer)),
    )
    return TraceBlock("The answer, from = on", tuple(f"A{k}" for k in range(n + 1, -1, -1)), rows)


def _digit(value: int) -> TraceCell:
    return TraceCell(str(value), CellLook.DIGIT)


def _state(value: int, fresh: bool = False) -> TraceCell:
    look = (CellLook.ZERO, CellLook.ONE, CellLook.UNCERTAIN)[value]
    return TraceCell("01U"[value], look, fresh)
