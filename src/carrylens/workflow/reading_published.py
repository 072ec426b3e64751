"""Reading a published analysis: files of others, judged by the algorithm and beside a map of ours.

Takes  a folder with `behaviors.json` or `features.json`, called as its model; a model with a saved map.
Gives  `PublishedAnalysis`: the nodes, what is tagged of each variable, how far the map agrees.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from carrylens.arithmetic.published_comparison import MapOverlap, TaggedVariable, overlap_of, tagged_variables
from carrylens.arithmetic.published_map import BEHAVIORS, FEATURES, PublishedNode, read_published
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.model_facts import model_name
from carrylens.errors import CarryLensError
from carrylens.files import read_whole
from carrylens.tasks.layout import Layout
from carrylens.workflow.reading import read_members


@dataclass(frozen=True)
class PublishedAnalysis:
    """What the files say; `overlap` is that with our map, where one was named."""

    name: str
    layout: Layout
    nodes: Sequence[PublishedNode]
    variables: Sequence[TaggedVariable]
    overlap: MapOverlap | None = None

    def rows(self) -> list[dict[str, object]]:
        """A row for each variable."""
        return [
            {
                "variable": str(each.variable),
                "published": each.state.value,
                "nodes": [str(node) for node in each.nodes],
                **({} if self.overlap is None else {"ours": [str(node) for node in each.ours]}),
            }
            for each in self.variables
        ]


def read_analysis(folder: Path, beside: str | None = None) -> PublishedAnalysis:
    """The analysis in a folder, and beside it the map of a model of the same operation and digits."""
    paths = [folder / name for name in (BEHAVIORS, FEATURES) if (folder / name).is_file()]
    if not paths:
        raise CarryLensError(f"{folder} has neither {BEHAVIORS} nor {FEATURES}. Name a folder with one of them.")
    name = model_name(folder)
    task = arithmetic_task(name.operation, name.digits)
    nodes = read_published(name.digits, *map(read_whole, paths))
    if beside is None:
        return PublishedAnalysis(str(name), task.layout, nodes, tagged_variables(nodes, task))
    (ours,) = read_members([beside])
    if ours.map is None:
        raise CarryLensError(f"{beside} has no saved map. Write carrylens map {beside}.")
    if (ours.name.operation, ours.name.digits) != (name.operation, name.digits):
        raise CarryLensError(
            f"{beside} has another operation or number of digits than {folder}. "
            f"Name a model whose name begins with {name.operation.value}_d{name.digits}."
        )
    found = tagged_variables(nodes, task, ours.map)
    return PublishedAnalysis(str(name), task.layout, nodes, found, overlap_of(nodes, ours.map))
