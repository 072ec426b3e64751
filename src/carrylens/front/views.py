"""Views: the results of the front door, which are records of other rooms that also print and draw themselves.

Takes  a record.
Gives  the same record, of a class that has a line, HTML, rows, and where it fits a graph.
Never  changes or hides a field: a view is an instance of the record's own class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.planted.planting import Planted
from carrylens.arithmetic.traces import Trace
from carrylens.benchmark.leaderboard import Leaderboard
from carrylens.claims.judgement import Judgement
from carrylens.claims.run_verdict import RunJudgement
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.discovery.node_map import NodeMap
from carrylens.files import write_whole
from carrylens.report.figures.planted_circuit import circuit_svg
from carrylens.report.figures.trace import trace_svg
from carrylens.report.notebook import claim_display, map_display, result_displays
from carrylens.report.notebook.attention_display import attention_html
from carrylens.report.notebook.graphs import Graph
from carrylens.report.notebook.html_parts import drawing, frame_of, framed, heading, paragraph
from carrylens.report.page.headline import verdict_lines
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.trace_rows import trace_summary
from carrylens.report.terminal.verdict import verdict_lines as verdict_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from carrylens.model.transformer import Transformer

View = TypeVar("View")


def view_of(kind: type[View], record: Any, **more: Any) -> View:
    """The record as one of `kind`, a class made from the record's own."""
    if isinstance(record, msgspec.Struct):
        return kind(**{name: getattr(record, name) for name in record.__struct_fields__})
    made = object.__new__(kind)
    vars(made).update(vars(record), **more)
    return made


class Tabular:
    """What has rows: they become a pandas DataFrame where pandas is installed."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return frame_of(self.rows())


class MapView(Tabular, NodeMap):
    """The map of a model: which nodes are useful, and which variable each carries."""

    beside_truth: str = ""
    """How the map fits the truth about a planted or aligned model."""

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


class JudgementView(Tabular, Judgement):
    """The verdict about a model, claim by claim."""

    def rows(self) -> list[dict[str, Any]]:
        """A row for each claim."""
        return claim_display.claims_rows(self.saved_record())

    def __repr__(self) -> str:
        return f"<Judgement {claim_display.claims_line(self.saved_record())}>"

    def _repr_html_(self) -> str:
        return claim_display.claims_html(self.saved_record())


@dataclass(frozen=True, repr=False)
class Settled(Tabular):
    """The verdict from one joint alignment, the alignment itself, and the file it is in."""

    path: Path
    alignment: MeasuredAlignment
    judgement: RunJudgement

    @property
    def lines(self) -> list[str]:
        """The verdict in words."""
        return list(verdict_text(self.judgement))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each rate."""
        return result_displays.alignment_rows(self.alignment)

    def __repr__(self) -> str:
        return f"<Settled {' '.join(self.lines[0].split())}>"

    def _repr_html_(self) -> str:
        return result_displays.alignment_html(self.lines, self.alignment)


class LeaderboardView(Leaderboard, frozen=True):
    """Methods of circuit discovery, scored."""

    def to_pandas(self) -> Any:
        """A row for each method on each suite, as a pandas DataFrame."""
        return frame_of([msgspec.to_builtins(row) for row in self.rows])

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return result_displays.leaderboard_html(self)


class TraceView(Trace):
    """One question followed through its algorithm."""

    def __repr__(self) -> str:
        return f"<Trace {self.question}{self.answer}: {trace_summary(self)}>"

    def _repr_html_(self) -> str:
        return framed(drawing(trace_svg(self)))


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

    def rows(self) -> list[dict[str, Any]]:
        """A row for each note of the run."""
        return result_displays.training_rows(self.history)

    def __repr__(self) -> str:
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

    @property
    def map(self) -> MapView:
        """The map that the page shows."""
        return view_of(MapView, self.saved.map)

    def __str__(self) -> str:
        return "\n".join(verdict_lines(self.saved))

    def __repr__(self) -> str:
        return f"<Explained {verdict_lines(self.saved)[0]} {self.page}>"

    def _repr_html_(self) -> str:
        first, *others = verdict_lines(self.saved)
        where = paragraph(f"The page is {self.page}.", quiet=True)
        return framed(heading(first), *map(paragraph, others), where)


@dataclass(frozen=True, repr=False)
class Comparison:
    """What is the same in several models, and what differs: a page, which `save` writes."""

    lines: tuple[str, ...]
    page: str = field(repr=False)

    def save(self, path: str | Path = "comparison.html") -> Path:
        """Write the page to a file."""
        write_whole(Path(path), self.page.encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"<Comparison {self.lines[0]}>"

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
        return result_displays.rows_html(repr(self)[1:-1], self.rows())


@dataclass(frozen=True, repr=False)
class Asked(Tabular, Sequence[Mapping[str, Any]]):
    """What a model answered."""

    model: str
    answers: tuple[Mapping[str, Any], ...]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each question."""
        return [dict(each) for each in self.answers]

    def __getitem__(self, at: Any) -> Any:
        return self.answers[at]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        said = [f"{each['question']}={each['answer']}{'' if each['correct'] else ' (wrong)'}" for each in self.answers]
        return f"<{self.model}: {', '.join(said[:5])}{', ...' if len(said) > 5 else ''}>"

    def _repr_html_(self) -> str:
        return result_displays.answers_html(self.model, self.answers)


@dataclass(frozen=True, repr=False, eq=False)
class AttentionPicture:
    """Where each head looks for one question: `patterns` has axes [layer, head, query, key]."""

    question: str
    tokens: tuple[str, ...]
    patterns: NDArray[np.floating]

    def __repr__(self) -> str:
        n_layers, n_heads = self.patterns.shape[:2]
        return f"<Attention for {self.question}: {n_layers} layers of {n_heads} heads>"

    def _repr_html_(self) -> str:
        return attention_html(f"Attention for {self.question}", self.patterns, self.tokens)
