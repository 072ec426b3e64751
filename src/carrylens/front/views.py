"""Views: the results of the front door, which are records of other rooms that also print and draw themselves.

Takes  a record.
Gives  the same record, of a class that has a line, HTML, rows, and where it fits a graph.
Never  changes or hides a field: a view is an instance of the record's own class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.planted.planting import Planted
from carrylens.benchmark.leaderboard import Leaderboard
from carrylens.discovery.node_map import NodeMap
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.front.tabular import Tabular, view_of
from carrylens.report.figures.planted_circuit import circuit_svg
from carrylens.report.notebook import map_display, result_displays
from carrylens.report.notebook.graphs import Graph
from carrylens.report.notebook.html_parts import drawing, frame_of, framed, heading, paragraph, rows_html
from carrylens.report.page.headline import verdict_lines
from carrylens.report.page.saved import Saved

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer
    from carrylens.training.acceptance import Acceptance


class MapView(Tabular, NodeMap):
    """The map of a model: which nodes are useful, and which variable each carries."""

    beside_truth: str = ""
    """How the map fits the truth about a planted or aligned model."""
    folder: Path | None = None
    """The folder that the map is in."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each role with its evidence."""
        return map_display.map_rows(self)

    def to_graph(self) -> Graph:
        """Nodes and outputs, with an edge for each role."""
        return map_display.map_graph(self)

    def __repr__(self) -> str:
        return f"<NodeMap {map_display.map_line(self)}>"

    def _repr_html_(self) -> str:
        return map_display.map_html(self, self.beside_truth)


class LeaderboardView(Leaderboard, frozen=True):
    """Methods of circuit discovery, scored."""

    def to_pandas(self) -> Any:
        """A row for each method on each suite, as a pandas DataFrame."""
        return frame_of([dict(_flat(msgspec.to_builtins(row))) for row in self.rows])

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return result_displays.leaderboard_html(self)


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    # A mean with its interval becomes columns of its own: node_auroc, node_auroc_low, node_auroc_high, ...
    for name, value in row.items():
        if isinstance(value, dict):
            yield from ((name if part == "value" else f"{name}_{part}", figure) for part, figure in value.items())
        else:
            yield name, value


class PlantedView(Planted):
    """A planted model and what is true of it."""

    def to_graph(self) -> Graph:
        """The circuit: nodes with the variables they carry, edges with what they bring."""
        graph = Graph(self.truth.name)
        for node, variables in self.truth.roles.items():
            graph.add_node(str(node), layer=node.layer, position=node.position, carries=sorted(map(str, variables)))
        graph.add_node("logits", kind="output")
        for edge in self.truth.edges:
            receiver = "logits" if edge.receiver is None else str(edge.receiver)
            graph.add_edge(str(edge.sender), receiver, variable=str(edge.variable), input=edge.input)
        return graph

    def __repr__(self) -> str:
        return f"<Planted {self.truth.name}: {len(self.truth.roles)} nodes with a role, {len(self.truth.edges)} edges>"

    def _repr_html_(self) -> str:
        return framed(heading(self.truth.name), drawing(circuit_svg(self.truth)))


@dataclass(frozen=True, repr=False)
class BatteryOutcomes(Tabular, Sequence[Outcome]):
    """What the experiments on a model gave; by place or by name: `outcomes["make-carry"]`."""

    model: str
    folder: Path
    all: tuple[Outcome, ...]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each estimate."""
        return result_displays.outcome_rows(self.all)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            return next(outcome for outcome in self.all if outcome.card.name == at)
        return self.all[at]

    def __len__(self) -> int:
        return len(self.all)

    def __repr__(self) -> str:
        said = ", ".join(f"{each.card.name} {each.verdict.value.lower()}" for each in self.all)
        return f"<Outcomes of {self.model}: {said}>"

    def _repr_html_(self) -> str:
        return result_displays.outcomes_html(self.model, self.all)


@dataclass(frozen=True, repr=False)
class Examined(Tabular):
    """How often a model fails, by population, class and depth; `path` is where that is kept."""

    figures: Mapping[str, Any]
    path: Path | None
    is_known: bool = False
    """Whether a saved test was taken."""
    notes: tuple[str, ...] = ()
    """What went wrong on the way, without stopping the test."""
    not_saved: CarryLensError | None = None
    """Why the result could not be saved."""

    @property
    def meets_bar(self) -> bool | None:
        """Whether it fails fewer than 10 times in a million; None where too few questions were asked to say."""
        met: bool | None = self.figures["meets_bar"]
        return met

    @property
    def failed(self) -> int:
        """How many questions it failed, of all."""
        return sum(part["failed"] for part in self.figures["parts"])

    @property
    def asked(self) -> int:
        """How many questions it was evaluated on."""
        return sum(part["asked"] for part in self.figures["parts"])

    def rows(self) -> list[dict[str, Any]]:
        """A row for each population, class and depth."""
        return result_displays.exam_rows(self.figures)

    def __repr__(self) -> str:
        return f"<Test of {self.figures['model']}: {self.failed:,} of {self.asked:,} questions failed>"

    def _repr_html_(self) -> str:
        return result_displays.exam_html(self.figures)


@dataclass(frozen=True, repr=False)
class Trained(Tabular):
    """A trained model, where it is, and how its losses fell."""

    name: str
    folder: Path
    model: Transformer
    history: Sequence[Mapping[str, Any]]
    finished: bool = True
    """False if the run was stopped; the same call goes on."""
    acceptance: Acceptance | None = None
    """Of a model trained under an alignment: whether that came out, on held-out questions."""
    step: int = 0
    """How many steps were made."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each note of the run."""
        return result_displays.training_rows(self.history)

    def __repr__(self) -> str:
        if not self.history:
            return f"<Trained {self.name}: stopped after step {self.step:,}, in {self.folder}>"
        last = self.history[-1]
        return f"<Trained {self.name}: {last['step']:,} steps, loss {last['loss']:.2g}, in {self.folder}>"

    def _repr_html_(self) -> str:
        return result_displays.training_html(repr(self)[1:-1], self.name, self.history)


@dataclass(frozen=True, repr=False)
class Explained:
    """Everything about a model in one folder: its verdict in a few lines, its page and its explorer."""

    folder: Path
    page: Path
    explorer: Path | None
    saved: Saved = field(repr=False)
    files: tuple[str, ...] = ()
    """Figures and tables that were written, too."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Figures that could not be drawn, and why."""

    @property
    def lines(self) -> list[str]:
        """The verdict in a few lines, and how it fits what is known to be true."""
        return verdict_lines(self.saved)

    @property
    def beside_truth(self) -> str:
        """How the map fits the truth about a planted or aligned model."""
        return self.saved.beside_truth

    @property
    def map(self) -> MapView:
        """The map that the page shows."""
        return view_of(MapView, self.saved.map)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<Explained: {self.lines[0]} The page is {self.page}.>"

    def _repr_html_(self) -> str:
        first, *others = self.lines
        where = paragraph(f"The page is {self.page}.", quiet=True)
        return framed(heading(first), *map(paragraph, others), where)


@dataclass(frozen=True, repr=False)
class Comparison:
    """What is the same in several models, and what differs: a page, which `save` writes."""

    lines: tuple[str, ...]
    page: str = field(repr=False)
    claims: Mapping[str, str] = field(default_factory=dict)
    """What the claims about each model's map come to, in the words of saved files: present, absent or unclear."""
    files: tuple[str, ...] = ()
    """Tables that were written, too."""

    def save(self, path: str | Path = "comparison.html") -> Path:
        """Write the page to a file."""
        write_whole(Path(path), self.page.encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"<Comparison: {self.lines[0]}>"

    def _repr_html_(self) -> str:
        first, *others = self.lines
        return framed(heading(first), *map(paragraph, others))


@dataclass(frozen=True, repr=False)
class Published(Tabular):
    """What went to a repository, or would go; `address` is None if nothing was sent."""

    repository: str
    address: str | None
    sizes: Mapping[str, int]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each file."""
        return [{"file": name, "bytes": size} for name, size in self.sizes.items()]

    def __repr__(self) -> str:
        how = "not sent" if self.address is None else self.address
        return f"<{len(self.sizes)} files, {sum(self.sizes.values()) / 1e6:.1f} MB, for {self.repository}: {how}>"

    def _repr_html_(self) -> str:
        return rows_html(repr(self)[1:-1], self.rows())
