"""Published files on the terminal: what their tags say of each variable, and the nodes as a grid.

Takes  tagged variables, published nodes, the task.
Gives  lines, and a grid of parts by positions in Markdown.
Never  computes: every cell is a tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from carrylens.arithmetic.published_comparison import MapOverlap, TaggedVariable, TagState
from carrylens.arithmetic.published_map import PublishedNode
from carrylens.report.terminal.tables import align, markdown_table
from carrylens.tasks.layout import Layout


def published_lines(found: Sequence[TaggedVariable], overlap: MapOverlap | None) -> list[str]:
    """A line for each variable, how many are tagged where they may stand, and how far our map agrees."""
    counts = Counter(each.state for each in found)
    said = ", ".join(f"{counts[state]} {state.value}" for state in TagState if counts[state])
    head = ["variable", "published", "nodes", *(["our map"] if overlap else [])]
    rows = [
        [str(each.variable), each.state.value, _printed(each.nodes), *([_printed(each.ours)] if overlap else [])]
        for each in found
    ]
    lines = [*align(head, rows), f"Of {len(found)} variables that the algorithm needs: {said}."]
    if overlap is not None:
        (nodes, all_nodes), (roles, all_roles) = overlap.nodes, overlap.roles
        lines.append(
            f"Both maps have {nodes} of {all_nodes} useful nodes and {roles} of {all_roles} pairs of node and variable."
        )
    return [*lines, "A tag has neither a rate nor a null, so nothing is supported by it."]


def published_grid(nodes: Sequence[PublishedNode], layout: Layout) -> list[str]:
    """The nodes as the paper draws them: layers and their parts downwards, positions across, roles in the cells."""
    used = sorted({each.node.position for each in nodes})
    parts = sorted(
        {(each.node.layer, each.node.head) for each in nodes}, key=lambda part: (part[0], part[1] is None, part[1] or 0)
    )
    cells = {(each.node.layer, each.node.head, each.node.position): _cell(each) for each in nodes}
    head = ["", *(f"P{position} {layout.place_names[position]}" for position in used)]
    rows = [
        [f"L{layer}{'MLP' if part is None else f'H{part}'}", *(cells.get((layer, part, at), "") for at in used)]
        for layer, part in parts
    ]
    return markdown_table(head, rows)


def _cell(each: PublishedNode) -> str:
    said = [str(variable) for variable in each.roles] or list(each.hits or ()) or [each.impact]
    return " ".join(filter(None, said)) or "useful"


def _printed(nodes: Sequence[object]) -> str:
    return ", ".join(map(str, nodes)) or "none"
