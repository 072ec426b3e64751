"""Model tables: every trained model's failures beside the paper's, for a terminal and for a document.

Takes  records of models, of what was tried and of what is published.
Gives  lines of text.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carrylens.report.plain_records import Record
from carrylens.report.terminal.tables import align, few_figures, markdown_table

_POPULATIONS = ("natural", "paper", "enriched", "structured")
_BAR = {True: "meets", False: "misses", None: "too few questions"}
_PAGE = """# Every trained model

Made by `make docs` with the command `carrylens models --markdown` from the models' folders. Each population's
failures are given per million questions with the exact 95% interval in brackets. The bar is fewer than 10 per million
natural and enriched questions for each operation, judged on a million of each, or on fewer where the interval lies
all below it. Structured questions ([what they are](arithmetic.md#structured-questions)) do not count for the bar.
Weakest is the class, exact depth or structure with the largest share of failures. The paper's figures are those of
its models of the same operation, digits, layers and heads (and inserted addition model), at width 510, each
evaluated on a million questions; their intervals are ours. Seconds are of one core that often did other work too. """


def model_lines(records: Iterable[Record]) -> list[str]:
    """One line for each model and operation: failures per million on each population, and the paper's."""
    head = ["model", "operation", *_POPULATIONS, "bar", "analysed", "seconds", "the paper"]
    body = []
    for record in records:
        for operation, figures in record["operations"].items():
            rates = [_rate(figures["streams"][name]) for name in _POPULATIONS]
            bar = "?" if figures["meets_bar"] is None else _BAR[figures["meets_bar"]]
            about = [bar, _analysed(record), _whole(record["seconds"])]
            body.append([record["model"], operation, *rates, *about, _paper_range(figures)])
    return [*align(head, body), "Failures per million questions."] if body else ["No models are shipped."]


def models_page(shipped: Sequence[Record], tried: Sequence[Record]) -> str:
    """The document with every model: those shipped, then what was trained and did not meet the bar."""
    rows = [(record, operation, figures) for record in shipped for operation, figures in record["operations"].items()]
    parts = [
        _PAGE,
        "## Failures\n",
        *markdown_table(
            ["model", "operation", "evaluated on", *_POPULATIONS, "weakest", "bar", "the paper"], map(_failures, rows)
        ),
        f"\n{_summary(rows)}\n",
        *_every_question(shipped),
        "## Training\n",
        "![Loss by step of every shipped model](losses.svg)\n",
        "Drawn by `carrylens losses --svg docs/losses.svg`. The curves of each answer digit, for one of them, by "
        "`carrylens losses mix_d6_l3_h4_w96_t4K_s1 --svg docs/losses_by_digit.svg`:\n",
        "![Loss by step of each answer digit of the six-digit mixed model](losses_by_digit.svg)\n",
        *markdown_table(["model", "steps", "batch", "seconds", "last loss", "analysed"], map(_training, shipped)),
        "\n## Tried and not shipped\n",
        *markdown_table(
            ["model", "operation", "evaluated on", "natural", "enriched", "what was tried"], map(_tried, tried)
        ),
    ]
    return "\n".join(parts)


def _failures(row: tuple[Record, str, Record]) -> list[str]:
    record, operation, figures = row
    cells = [_cell(figures["streams"][name]) for name in _POPULATIONS]
    asked = {f"{count['asked']:,}" for count in figures["streams"].values() if count is not None}
    return [
        f"`{record['model']}`",
        operation,
        " and ".join(sorted(asked)) or "none",
        *cells,
        _weakest(figures),
        _BAR[figures["meets_bar"]],
        _paper_cells(figures),
    ]


def _every_question(shipped: Sequence[Record]) -> list[str]:
    rows = [
        [f"`{record['model']}`", operation, f"{asked:,}", f"{failed:,}"]
        for record in shipped
        for operation, (failed, asked) in (record.get("every_question") or {}).items()
    ]
    if not rows:
        return []
    head = "## Checked on every question there is\n"
    said = "By `carrylens test MODEL --exhaustive`: no estimate, so there is no interval.\n"
    return [head, said, *markdown_table(["model", "operation", "questions", "wrong"], rows), ""]


def _training(record: Record) -> list[str]:
    loss = "?" if record["loss"] is None else f"{record['loss']:.2g}"
    numbers = [_whole(record[key]) for key in ("steps", "batch", "seconds")]
    return [f"`{record['model']}`", *numbers, loss, _analysed(record)]


def _analysed(record: Record) -> str:
    return ", ".join(record["analysed"]) or "tested only"


def _tried(record: Record) -> list[str]:
    populations = record["streams"]
    asked = f"{populations['natural']['asked']:,}"
    cells = [_cell(populations[name]) for name in ("natural", "enriched")]
    return [f"`{record['model']}`", record["operation"], asked, *cells, record["what"]]


def _summary(rows: Sequence[tuple[Record, str, Record]]) -> str:
    verdicts = [figures["meets_bar"] for _, _, figures in rows]
    ours = f"Of {len(rows)} rows {verdicts.count(True)} meet the bar, {verdicts.count(False)} miss it"
    return f"{ours} and {verdicts.count(None)} were evaluated on too few questions."


def _weakest(figures: Record) -> str:
    found = figures["weakest"]
    if found is None:
        return "not evaluated"
    if not found["failed"]:
        return f"none failed in {figures['n_targets']} classes, depths and structures of {found['asked']:,}"
    return f"{found['name']}: {found['failed']:,} of {found['asked']:,}"


def _paper_cells(figures: Record) -> str:
    found = sorted(figures["published"], key=lambda published: published["failed"])
    if not found:
        return "not reported"
    if len(found) == 1:
        return _cell(found[0])
    return f"{_cell(found[0])} to {_cell(found[-1])}, {len(found)} models"


def _paper_range(figures: Record) -> str:
    counts = sorted(published["failed"] for published in figures["published"])
    if not counts:
        return "not reported"
    return f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,} to {counts[-1]:,}"


def _cell(count: Record | None) -> str:
    if count is None:
        return "not evaluated"
    low, high = (few_figures(1e6 * bound) for bound in count["interval"])
    return f"{_rate(count)} ({low} to {high})"


def _rate(count: Record | None) -> str:
    return "?" if count is None else few_figures(1e6 * count["failed"] / count["asked"])


def _whole(number: float | None) -> str:
    return "?" if number is None else f"{number:,.0f}"
