"""Trace as text: the table for a terminal, and the record for a machine.

Takes  a `Trace`.
Gives  rich text (plain where colour is not wanted), or a dictionary ready to become JSON.
Never  prints.
"""

from __future__ import annotations

from rich.text import Text

from carrylens.arithmetic.tokens import place_names
from carrylens.arithmetic.traces import Trace
from carrylens.arithmetic.variables import label
from carrylens.report.terminal.trace_rows import CellLook, TraceBlock, TraceCell, TraceRow, trace_blocks, trace_summary
from carrylens.tasks.variables import UNKNOWN, Variable

_STYLES = {
    CellLook.EMPTY: "",
    CellLook.DIGIT: "",
    CellLook.ZERO: "blue",
    CellLook.ONE: "bold red",
    CellLook.UNCERTAIN: "yellow",
    CellLook.ANSWER: "bold green",
}
_NAME_WIDTH = 12
_RESOLVED = ("SV", "MV", "NV", "SGN")


def trace_text(trace: Trace) -> Text:
    """The trace as a table. A carry is highlighted where it is settled."""
    lines = [Text(f"{trace.question}{trace.answer}", style="bold"), Text(trace_summary(trace), style="dim")]
    for block in trace_blocks(trace):
        lines += [Text(), Text(block.heading, style="italic"), *_block_lines(block, _column_width(trace))]
    return Text("\n").join(lines)


def trace_record(trace: Trace) -> dict[str, object]:
    """The trace as plain data: every variable's value, and what is known of it at each place up to `=`.

    A digit or single-column value not known yet is None; a resolved carry, borrow or sign not known yet is U.
    """
    places = place_names(trace.digits)[: len(next(iter(trace.known.values())))]
    return {
        "question": trace.given,
        "padded": trace.question,
        "digits": trace.digits,
        "operation": trace.model.operation.value,
        "class": trace.question_class.value,
        "answer": trace.answer,
        **trace.depths,
        "variables": {str(variable): label(variable, value) for variable, value in trace.values.items()},
        "places": list(places),
        "known": {str(variable): [_known(variable, value) for value in row] for variable, row in trace.known.items()},
    }


def _known(variable: Variable, value: int) -> str | None:
    if value != UNKNOWN:
        return label(variable, value)
    return "U" if variable.name in _RESOLVED else None


def _column_width(trace: Trace) -> int:
    return 4 if trace.digits <= 10 else 3  # wide questions drop the D' of the heading to fit a terminal


def _block_lines(block: TraceBlock, width: int) -> list[Text]:
    columns = [name if width == 4 else name.removeprefix("D'").removeprefix("A") for name in block.columns]
    heading = "".join(name.rjust(width) for name in columns)
    return [Text(" " * _NAME_WIDTH + heading, style="dim"), *(_row_line(row, width) for row in block.rows)]


def _row_line(row: TraceRow, width: int) -> Text:
    line = Text(row.name.ljust(_NAME_WIDTH))
    for cell in row.cells:
        line.append(" " * (width - len(cell.text)))
        line.append(cell.text, style=_style(cell))
    line.rstrip()
    return line


def _style(cell: TraceCell) -> str:
    return _STYLES[cell.look] + (" reverse" if cell.fresh else "")
