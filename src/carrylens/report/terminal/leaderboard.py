"""The leaderboard in tables: for a terminal, and as the page `docs/leaderboard.md`.

Takes  a `Leaderboard`, and the methods on it.
Gives  text.
Never  computes: every figure is the leaderboard's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import UnsetType

from carrylens.benchmark.averages import Averaged, Reliability
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.benchmark.leaderboard import Leaderboard, LeaderboardRow
from carrylens.benchmark.method_interface import DiscoveryMethod
from carrylens.report.terminal.leaderboard_words import INTRODUCTION, NOTES, SUITE_WORDS
from carrylens.report.terminal.tables import align, few_figures, markdown_table

BoardTable = tuple[str, list[str], list[list[str]]]

_ROLES, _GROUPS = ("precision", "recall", "strict_precision", "strict_recall"), ("group_precision", "group_recall")
_ROLE_HEAD = ["method", "precision", "recall", "strict precision", "strict recall", "decoys given a role"]
_TOLD = {True: "yes", False: "no", None: "not stated"}


def leaderboard_text(board: Leaderboard) -> str:
    """The tables for a terminal."""
    return "\n".join(
        line for title, head, body in leaderboard_tables(board) for line in (title, *align(head, body), "")
    )


def leaderboard_page(board: Leaderboard, methods: Sequence[DiscoveryMethod], picture: str) -> str:
    """The page of the documentation; the picture lies beside it."""
    signed, models = board.signature, board.models
    circuits = len({(model.suite, model.circuit) for model in models})
    lines = [INTRODUCTION.format(command=signed.command, n_models=len(models), n_circuits=circuits, picture=picture)]
    about = {method.name: method.about for method in methods}
    told = {row.method: _TOLD[row.told] for row in board.rows}
    named = [[name, told[name], about.get(name) or "-"] for name in told]
    lines += [
        "## Methods",
        "",
        NOTES["Methods"],
        "",
        *markdown_table(["method", "told the algorithm", "what it does"], named),
        "",
    ]
    for title, head, body in leaderboard_tables(board):
        note = NOTES.get(title.split(":")[0])
        lines += [f"## {title}", "", *([note, ""] if note else []), *markdown_table(head, body), ""]
    lines += ["## Signature", "", NOTES["Signature"], "", *_signature(board), ""]
    return "\n".join(lines).rstrip() + "\n"


def leaderboard_tables(board: Leaderboard) -> list[BoardTable]:
    """Every table that has rows: title, head and body."""
    tables: list[BoardTable] = []
    for suite in dict.fromkeys(row.suite for row in board.rows):
        rows = [row for row in board.rows if row.suite == suite]
        words = f"{suite}, {_counted(rows[0].n_models, 'model')} of {_counted(rows[0].n_circuits, 'circuit')}"
        tables += [
            (f"Roles: {words}", _ROLE_HEAD, _role_rows(rows)),
            (f"Roles reported where there is none: {words}", ["method", "roles in a model"], _empty_rows(rows)),
            (f"Groups: {words}", ["method", "precision", "recall"], _cells(rows, _GROUPS)),
            (
                f"Nodes and edges: {words}",
                ["method", "node AUROC", "edge AUROC"],
                _cells(rows, ("node_auroc", "edge_auroc")),
            ),
        ]
    every = [row for row in board.rows if row.verdicts]
    says = [f"called {each.value}" for each in RunVerdict]
    tables += [
        ("Verdicts", ["suite", "method", "deserves", *says], _verdict_rows(every)),
        (
            "Called running what it does not run",
            ["suite", "method", "verdicts", "share by circuit"],
            _false_rows(every),
        ),
        ("Stated confidence", _STATED_HEAD, _stated_rows(board.rows)),
        ("Found again", ["suite", "method", "seeds", "Jaccard"], _stable_rows(board.rows)),
        ("Cost for one model", ["suite", "method", "forward rows", "seconds"], _cost_rows(board.rows)),
        ("Cost of every suite", _WHOLE_HEAD, _whole_rows(board)),
    ]
    return [table for table in tables if table[2]]


def shown(figure: Averaged | None) -> str:
    """A figure with its interval; of one circuit alone the figure.

    >>> shown(Averaged(0.5, 0.25, 0.751, 4)), shown(None)
    ('0.50 [0.25, 0.75]', '-')
    """
    if figure is None:
        return "-"
    interval = f" [{figure.low:.2f}, {figure.high:.2f}]" if figure.n > 1 else ""
    return f"{figure.value:.2f}{interval}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number:,} {what}s"


_STATED_HEAD = ["suite", "method", "roles of", "roles", "mean stated", "share true", "Brier score", "calibration error"]


def _cells(rows: Iterable[LeaderboardRow], names: Sequence[str]) -> list[list[str]]:
    found = [[row.method, *(shown(getattr(row, name)) for name in names)] for row in rows]
    return [cells for cells in found if set(cells[1:]) != {"-"}]


def _role_rows(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    cells = {row.method: f"{row.decoys[0]} of {row.decoys[1]}" if row.decoys[1] else "-" for row in rows}
    return [[*each, cells[each[0]]] for each in _cells(rows, _ROLES) if _has_truth(rows)]


def _has_truth(rows: Iterable[LeaderboardRow]) -> bool:
    return any(row.recall is not None for row in rows)


def _empty_rows(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    return [[row.method, f"{row.roles_in_empty.value:.1f}"] for row in rows if row.roles_in_empty is not None]


def _verdict_rows(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    return [
        [row.suite, row.method, deserved, *(str(said[each.value]) for each in RunVerdict)]
        for row in rows
        for deserved, said in row.verdicts.items()
    ]


def _false_rows(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    return [
        [row.suite, row.method, "{} of {}".format(*row.n_false_runs), shown(row.false_runs)]
        for row in rows
        if row.n_false_runs[1]
    ]


def _stated_rows(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    return [
        [row.suite, row.method, of, *_stated_cells(stated)]
        for row in rows
        for of, stated in (("single nodes", row.nodes_stated), ("sets", row.sets_stated))
        if stated is not None
    ]


def _stated_cells(stated: Reliability) -> list[str]:
    shares = [f"{stated.mean_stated:.3f}", f"{stated.share_true:.3f}"]
    figures = [_fine(stated.brier), _fine(stated.calibration_error)]
    return [f"{stated.n:,}", *shares, *figures]


def _fine(figure: Averaged) -> str:
    return f"{figure.value:.3f}" + (f" [{figure.low:.3f}, {figure.high:.3f}]" if figure.n > 1 else "")


def _stable_rows(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    return [[row.suite, row.method, str(row.n_seeds), shown(row.jaccard)] for row in rows if row.jaccard is not None]


def _cost_rows(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    return [[row.suite, row.method, few_figures(row.rows), few_figures(row.seconds)] for row in rows]


_WHOLE_HEAD = ["suite", "measured on", "seconds a model", "models", "for thresholds", "further seeds", "seconds"]


def _whole_rows(board: Leaderboard) -> list[list[str]]:
    if isinstance(board.cost, UnsetType):
        return []
    rows = [
        [each.suite, _counted(each.n_measured, "model"), few_figures(each.seconds_a_model)]
        + [f"{number:,}" for number in (each.n_models, each.n_dev, each.n_again)]
        + [few_figures(each.seconds)]
        for each in board.cost.whole
    ]
    return [*rows, ["all of them", "", "", "", "", "", few_figures(sum(each.seconds for each in board.cost.whole))]]


def _signature(board: Leaderboard) -> list[str]:
    signed = board.signature
    versions = ", ".join(f"{name} {number}" for name, number in signed.versions.items())
    thresholds = {f"{row.method} on {row.suite}": row.threshold for row in board.rows if row.threshold is not None}
    lines = [f"- Command: `{signed.command}`", f"- Versions: {versions}"]
    lines += [f"- Machine: {signed.machine}"] if signed.machine else []
    if not isinstance(board.cost, UnsetType):
        lines += [f"- CPU seconds: {board.cost.seconds:,.0f}, of {board.cost.n_runs:,} runs of a method on a model"]
    lines += [f"- Seeds of questions: {', '.join(map(str, signed.question_seeds))}"]
    lines += [f"- Thresholds were chosen on: {', '.join(signed.thresholds_chosen_on)}"]
    if thresholds:
        lines += ["- Thresholds: " + ", ".join(f"{name} {value:.3g}" for name, value in thresholds.items())]
    hashes = [[model.suite, model.name, f"`{model.sha256[:16]}`"] for model in board.models]
    words = ", ".join(f"`{suite}`: {SUITE_WORDS[suite]}" for suite in SUITE_WORDS)
    return [*lines, f"- Suites: {words}", "", *markdown_table(["suite", "model", "sha256 (first 16)"], hashes)]
