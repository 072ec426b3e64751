"""Graphs: maps and circuits as nodes and edges, for other programs.

Takes  nodes and edges with attributes.
Gives  `Graph`: node-link JSON, and a networkx graph where networkx is installed.
Never  imports networkx before it is asked for.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.report.notebook.html_parts import rows_html


class Graph:
    """A directed graph in which two nodes may have several edges.

    >>> graph = Graph("mine")
    >>> graph.add_node("P3L0H1", layer=0)
    >>> graph.add_edge("P3L0H1", "A1", variable="ST[0]")
    >>> graph
    <Graph mine: 1 node, 1 edge>
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []

    def add_node(self, name: str, /, **attributes: Any) -> None:
        """Add a node."""
        self.nodes.append({"id": name, **attributes})

    def add_edge(self, source: str, target: str, /, **attributes: Any) -> None:
        """Add an edge."""
        self.edges.append({"source": source, "target": target, **attributes})

    def to_json(self) -> str:
        """Node-link JSON, as networkx, d3 and others read it."""
        record = {"directed": True, "multigraph": True, "graph": {"name": self.name}}
        return json.dumps({**record, "nodes": self.nodes, "edges": self.edges}, indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the JSON to a file."""
        write_whole(Path(path), self.to_json().encode())
        return Path(path)

    def to_networkx(self) -> Any:
        """A networkx MultiDiGraph, where networkx is installed."""
        try:
            networkx = import_module("networkx")
        except ImportError as error:
            raise CarryLensError(
                "networkx is not installed here. Write pip install networkx, or use to_json()."
            ) from error
        return networkx.node_link_graph(json.loads(self.to_json()), edges="edges")

    def _repr_html_(self) -> str:
        return rows_html(repr(self)[1:-1], self.edges or self.nodes)

    def __repr__(self) -> str:
        counts = [f"{len(some)} {what}{'' if len(some) == 1 else 's'}" for some, what in self._parts]
        return f"<Graph {self.name}: {', '.join(counts)}>"

    @property
    def _parts(self) -> tuple[tuple[list[dict[str, Any]], str], ...]:
        return (self.nodes, "node"), (self.edges, "edge")
