r"""Tables for print: what a paper's tables hold, as LaTeX and as Markdown.

Takes  what was saved about one or more models.
Gives  `Table`: the model table with intervals, the location map, coverage of question classes, and the invariants.
Never  prints a rate without its interval, or an effect without its null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.discovery.node_map import Role
from carrylens.nodes import print_nodes
from carrylens.report.page.effects import effect_of_role
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.claims import grouped
from carrylens.report.terminal.map import short_name, shown_roles
from carrylens.report.terminal.tables import few_figures, markdown_table
from carrylens.tasks.task import Task

_LETTERS = {"S": "addition", "M": "subtraction, positive", "N": "subtraction, negative"}
_VERDICTS = ("SUPPORTED", "REFUTED", "INCONCLUSIVE", "UNTESTED")
_SPECIAL = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "$": r"\$"}


@dataclass(frozen=True)
class Table:
    """One table: its file name, caption, head and rows."""

    name: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table as Markdown."""
        return "\n".join([self.caption, "", *markdown_table(self.head, self.rows), ""])

    def latex(self) -> str:
        r"""The table as LaTeX; it needs the package booktabs.

        >>> print(Table("x", "50% of a_1.", ("a", "b"), (("1", "2"),)).latex().splitlines()[2])
          \caption{50\% of a\_1.}
        """
        columns = "l" * len(self.head)
        lines = [rf"    {' & '.join(map(_latex, row))} \\" for row in self.rows]
        return "\n".join(
            [
                r"\begin{table}",
                r"  \centering",
                rf"  \caption{{{_latex(self.caption)}}}",
                rf"  \label{{tab:{self.name}}}",
                rf"  \begin{{tabular}}{{{columns}}}",
                r"    \toprule",
                rf"    {' & '.join(map(_latex, self.head))} \\",
                r"    \midrule",
                *lines,
                r"    \bottomrule",
                r"  \end{tabular}",
                r"\end{table}",
                "",
            ]
        )


def tables_of(saved: Sequence[Saved]) -> list[Table]:
    """Every table of these models."""
    return [
        model_table(saved),
        *(location_map(each) for each in saved),
        coverage_table(saved),
        invariants_table(saved),
    ]


def model_table(saved: Sequence[Saved]) -> Table:
    """Failures on each population with exact intervals, and how many nodes are useful."""
    rows = []
    for each in saved:
        heads = sum(not node.is_mlp for node in each.map.useful)
        nodes = (f"{heads}", f"{len(each.map.useful) - heads}")
        parts = [part for part in (each.test or {"parts": ()})["parts"] if " " not in part["name"]]
        for part in parts:
            low, high = (few_figures(1e6 * bound) for bound in part["interval"])
            rate = few_figures(1e6 * part["failed"] / max(1, part["asked"]))
            asked = (f"{part['asked']:,}", f"{part['failed']:,}", f"{rate} ({low} to {high})")
            rows.append((each.map.model, part["operation"] or each.map.task.name, part["name"], *asked, *nodes))
        if not parts:
            rows.append((each.map.model, _operation(each.map.task), "not tested", "0", "0", "unknown", *nodes))
    head = (
        "model",
        "operation",
        "questions",
        "evaluated on",
        "failed",
        "per million (95%)",
        "useful heads",
        "useful MLPs",
    )
    return Table("models", "Failures per million questions with exact 95% intervals.", head, tuple(rows))


def location_map(saved: Saved) -> Table:
    """For each variable the sets that carry it, with the rates of the token at which each hits least."""
    names, tokens = saved.map.task.layout.place_names, saved.map.task.layout.output_places
    rows = []
    for (nodes, variable), roles in sorted(shown_roles(saved.map).items(), key=lambda item: _order(item[1][0])):
        least = min(roles, key=lambda role: role.hit.interval[0])
        effect = effect_of_role(least)
        low, high = effect.hit.interval
        rows.append(
            (
                short_name(variable),
                print_nodes(nodes),
                names[max(node.position for node in nodes)],
                " ".join(tokens[role.token] for role in roles),
                f"{effect.hit.value:.2f} [{low:.2f}, {high:.2f}]",
                f"{effect.null.value:.2f}",
                str(effect.hit.n),
            )
        )
    head = ("carries", "nodes", "place", "for", "hit", "null", "n")
    caption = f"Where {saved.map.model} carries each variable: the token that is hit least often stands for all."
    return Table(f"location_map_{saved.map.model}", caption, head, tuple(rows))


def coverage_table(saved: Sequence[Saved]) -> Table:
    """How many useful nodes serve each kind of question, and how many serve several."""
    rows = []
    for each in saved:
        useful, sorts = each.map.useful, _sorts_of_questions(each.map.task)
        served = [{sorts[name] for name in found.hit_classes} for found in each.map.nodes if found.node in useful]
        shown = [sort for sort in dict.fromkeys(sorts.values()) if any(sort in some for some in served)]
        for sort in shown:
            n = sum(sort in some for some in served)
            rows.append((each.map.model, sort, str(n), f"{n / max(1, len(served)):.0%}"))
        several = sum(len(some) > 1 for some in served)
        if len(shown) > 1:
            rows.append((each.map.model, "more than one of them", str(several), f"{several / len(served):.0%}"))
    caption = "Useful nodes without which some question of a kind fails, by mean ablation of the node alone."
    return Table("coverage", caption, ("model", "questions", "nodes", "of the useful"), tuple(rows))


def invariants_table(saved: Sequence[Saved]) -> Table:
    """What the hypothesis says, and how many claims of each model bear it out."""
    rows = []
    for each in saved:
        required = [claim for claim in each.claims["claims"] if claim["required"]]
        for what, some in grouped(required).items():
            counts = [str(sum(claim["verdict"] == verdict for claim in some)) for verdict in _VERDICTS]
            rows.append((each.map.model, what, str(len(some)), *counts))
    head = ("model", "what the hypothesis says", "claims", *(verdict.lower() for verdict in _VERDICTS))
    return Table("invariants", "Required claims of the hypothesis by kind, and their verdicts.", head, tuple(rows))


def files_of(tables: Sequence[Table]) -> Iterator[tuple[str, bytes]]:
    """Every table twice: name.tex and name.md."""
    for table in tables:
        yield f"{table.name}.tex", table.latex().encode()
        yield f"{table.name}.md", table.markdown().encode()


def _operation(task: Task) -> str:
    return task.operation.value if isinstance(task, ArithmeticTask) else task.name


def _sorts_of_questions(task: Task) -> dict[str, str]:
    # The sort of each question class: in arithmetic, classes of one letter are of one sort.
    if not isinstance(task, ArithmeticTask):
        return {name: name for name in task.class_names}
    return {name: sort for letter, sort in _LETTERS.items() for name in task.class_names if name[0] == letter}


def _order(role: Role) -> tuple[str, int, tuple[object, ...]]:
    return (role.variable.name, -(role.variable.index or 0), role.nodes)


def _latex(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in text)
