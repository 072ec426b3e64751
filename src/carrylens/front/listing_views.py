"""Listing views: tables of records, learning curves, the family of models, the answered paper.

Takes  records that were saved or computed elsewhere.
Gives  results that print in a line and draw themselves in a notebook.
Never  measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.front.tabular import Tabular
from carrylens.report.notebook.html_parts import drawing, framed, heading, paragraph, rows_html

if TYPE_CHECKING:
    from carrylens.arithmetic.family.table import FamilyTable
    from carrylens.report.terminal.paper import AnsweredSections

_MOST_ROWS = 60


@dataclass(frozen=True, repr=False)
class Listing(Tabular, Sequence[Mapping[str, Any]]):
    """A table of records."""

    title: str
    records: Sequence[Mapping[str, Any]]
    results: Sequence[Mapping[str, Any] | CarryLensError] = ()
    """Where questions were given: for each its row, or why it has none."""
    table: Sequence[Mapping[str, Any]] = ()
    """Rows of single figures, where a record holds more than that."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        return [dict(each) for each in self.table or self.records]

    def __getitem__(self, at: Any) -> Any:
        return self.records[at]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"<{self.title}: {len(self)}>"

    def _repr_html_(self) -> str:
        return rows_html(f"{self.title}: {len(self)}", self.rows(), most=_MOST_ROWS)


@dataclass(frozen=True, repr=False)
class LossCurves:
    """Learning curves, as a picture."""

    of: str
    svg: str

    def save(self, path: str | Path = "losses.svg") -> Path:
        """Write the picture to a file."""
        write_whole(Path(path), self.svg.encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"<Learning curves of {self.of}; save('losses.svg') writes them>"

    def _repr_html_(self) -> str:
        return framed(drawing(self.svg))


@dataclass(frozen=True, repr=False)
class FamilyFindings(Tabular):
    """Every finding on every model; and accurate models that were left out, with what was known of them."""

    table: FamilyTable
    left_out: Mapping[str, bool | None]

    @property
    def lines(self) -> list[str]:
        """What holds in all, what varies, what is missing."""
        from carrylens.report.terminal.family import family_lines

        return list(family_lines(self.table, self.left_out))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each finding: how it stands, and what each model shows."""
        names = [str(member.name) for member in self.table.members]
        return [
            {
                "section": row.section,
                "finding": row.name,
                "standing": row.standing.value,
                **dict(zip(names, (cell.word for cell in row.cells), strict=True)),
            }
            for row in self.table.rows
        ]

    def __repr__(self) -> str:
        return f"<Family: {len(self.table.rows)} findings in {len(self.table.members)} models>"

    def _repr_html_(self) -> str:
        from carrylens.report.figures.family import family_svg

        return framed(heading(repr(self)[1:-1]), drawing(family_svg(self.table)))


@dataclass(frozen=True, repr=False)
class AnsweredPaper(Tabular):
    """The paper's claims with ours beside them, and the rows of its tables of models."""

    sections: AnsweredSections
    models: Sequence[Mapping[str, Any]]

    @property
    def lines(self) -> list[str]:
        """How many claims agree, and every claim that differs."""
        from carrylens.report.terminal.paper import paper_lines

        return list(paper_lines(self.sections))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each claim."""
        return [
            {"section": title, **claim.record(answer)} for title, claims in self.sections for claim, answer in claims
        ]

    def save(self, path: str | Path = "paper.html") -> Path:
        """Write it as one HTML page."""
        from carrylens.report.terminal.paper import paper_html

        write_whole(Path(path), paper_html(self.sections, self.models).encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"<Paper: {self.lines[0]}>"

    def _repr_html_(self) -> str:
        first, *others = self.lines
        return framed(heading(first), *(paragraph(line) for line in others))
