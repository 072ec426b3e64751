"""Tables: records as aligned text for a terminal or as Markdown for a document.

Takes  records that were computed elsewhere.
Gives  lines of text.
Never  computes more than a share of a total.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carrylens.report.plain_records import Record

_MARKDOWN_TITLE = """# How often each question class turns up

Made by `make docs` with the command `carrylens frequencies`. The populations are described in
`src/carrylens/arithmetic/populations.py`, the classes in `docs/glossary.md`.
"""
_OPERATIONS = {"add": "Addition", "sub": "Subtraction"}


def class_line(record: Record) -> str:
    """One classified question on one line.

    >>> class_line({"question": "45+7", "digits": 2, "class": "S1", "answer": "+052", "cascade_depth": 0})
    '45+7  +052  S1  cascade 0'
    """
    depths = [f"{name.removesuffix('_depth')} {depth}" for name, depth in record.items() if name.endswith("_depth")]
    shown = [depth for depth in depths if not depth.endswith("None")]
    return "  ".join([str(record["question"]), str(record["answer"]), str(record["class"]), *shown])


def frequency_table(records: Iterable[Record], markdown: bool) -> str:
    """Class frequencies in percent, a table for each operation."""
    by_operation: dict[str, list[Record]] = {}
    for record in records:
        by_operation.setdefault(record["operation"], []).append(record)
    tables = []
    for operation, rows in by_operation.items():
        head = ["population", "digits", *rows[0]["counts"]]
        body = [[row["stream"], str(row["digits"]), *map(_percent, _shares(row))] for row in rows]
        title = f"{_OPERATIONS[operation]}, percent of {rows[0]['questions']:,} questions"
        tables.append("\n".join([f"## {title}\n" if markdown else title, *_lines(head, body, markdown), ""]))
    if markdown:
        tables.insert(0, _MARKDOWN_TITLE)
    return "\n".join(tables).strip()


def align(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns, columns of numbers to the right.

    >>> align(["name", "count"], [["a", "12"], ["bc", "7"]])
    ['name  count', 'a        12', 'bc        7']
    """
    columns = list(zip(head, *body, strict=True))
    padded = []
    for column in columns:
        width, numbers = max(map(len, column)), all(cell[:1].isdigit() for cell in column[1:])
        padded.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in column])
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]


def few_figures(number: float) -> str:
    """A number of which only the size matters, in three figures or as a whole number.

    >>> few_figures(0.0), few_figures(3.6888), few_figures(12621.4)
    ('0', '3.69', '12,621')
    """
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Rows as a Markdown table, columns of numbers to the right.

    >>> markdown_table(["name", "count"], [["a", "12"]])
    ['| name | count |', '| --- | ---: |', '| a | 12 |']
    """
    rows = list(body)
    columns = list(zip(*rows, strict=True)) or [("",)] * len(head)
    rule = ["---:" if all(cell[:1].isdigit() for cell in column) else "---" for column in columns]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def _lines(head: Sequence[str], body: Sequence[Sequence[str]], markdown: bool) -> list[str]:
    return markdown_table(head, body) if markdown else align(head, body)


def _shares(record: Record) -> list[float]:
    return [count / record["questions"] for count in record["counts"].values()]


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.3g}" if share >= 1e-4 else f"{100 * share:.1e}"
