"""A node map in a notebook: the grid of nodes with what each carries, and the evidence of every role.

Takes  a `NodeMap`; how it fits a known truth, where there is one.
Gives  a line, HTML, rows for a table, and a graph.
Never  shows a rate without the null it stands beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from carrylens.discovery.node_map import NodeMap, Role
from carrylens.evidence.confidence import say_confidence
from carrylens.nodes import Node, print_nodes
from carrylens.report.kind_styles import variable_kind
from carrylens.report.notebook.graphs import Graph
from carrylens.report.notebook.html_parts import Html, chip, folded, framed, heading, paragraph, table
from carrylens.report.terminal.map import confidence_of, short_name, shown_roles
from carrylens.tasks.variables import Variable


def map_line(found: NodeMap) -> str:
    """The map in a line."""
    roles = len(shown_roles(found))
    return f"{found.model}: {len(found.useful)} of {len(found.nodes)} nodes are useful, {roles} roles"


def map_html(found: NodeMap, beside_truth: str = "") -> str:
    """The map as the grid, then its roles with their evidence, folded."""
    parts: list[str] = [heading(map_line(found)), _grid(found), _legend(found)]
    if beside_truth:
        parts.append(paragraph(beside_truth))
    head = ["nodes", "carries", "for", "hit", "95% interval", "of", "null", "of", "p", "confidence"]
    rows = [_role_row(found, variable, some) for (_, variable), some in shown_roles(found).items()]
    parts.append(folded(f"Evidence of {len(rows)} roles", table(head, rows, numbers=(3, 5, 6, 7, 8))))
    return framed(*parts)


def map_rows(found: NodeMap) -> list[dict[str, Any]]:
    """A row for each role: the nodes, the variable, the output, hit and null with their intervals, p, confidence."""
    places = found.task.layout.output_places
    return [
        {
            "nodes": print_nodes(role.nodes),
            "n_nodes": len(role.nodes),
            "variable": str(role.variable),
            "output": places[role.token],
            "hit": role.hit.value,
            "hit_low": role.hit.interval[0],
            "hit_high": role.hit.interval[1],
            "hit_n": role.hit.n,
            "null": role.null.value,
            "null_n": role.null.n,
            "p": role.p,
            "confidence": confidence_of(role),
            "way": role.way.name.lower(),
        }
        for (_, _), roles in shown_roles(found).items()
        for role in roles
    ]


def map_graph(found: NodeMap) -> Graph:
    """The map as a graph: useful nodes and outputs, and an edge from a node to each output it carries something for."""
    names, outputs = found.task.layout.place_names, found.task.layout.output_places
    in_roles = {node for nodes, _ in shown_roles(found) for node in nodes}
    graph = Graph(found.model)
    for node in sorted(found.useful | in_roles):
        graph.add_node(
            str(node),
            kind="mlp" if node.is_mlp else "head",
            position=node.position,
            layer=node.layer,
            head=node.head,
            place=names[node.position],
            useful=node in found.useful,
        )
    for place in outputs:
        graph.add_node(place, kind="output")
    for (nodes, variable), roles in shown_roles(found).items():
        for role in roles:
            for node in nodes:
                graph.add_edge(
                    str(node),
                    outputs[role.token],
                    variable=str(variable),
                    together_with=[str(other) for other in nodes if other != node],
                    hit=role.hit.value,
                    null=role.null.value,
                    confidence=confidence_of(role),
                )
    return graph


def _grid(found: NodeMap) -> Html:
    useful, names = found.useful, found.task.layout.place_names
    carried: dict[Node, list[tuple[Variable, Sequence[Role]]]] = {}
    grouped: set[Node] = set()
    for (nodes, variable), roles in shown_roles(found).items():
        if len(nodes) == 1:
            carried.setdefault(nodes[0], []).append((variable, roles))
        else:
            grouped.update(nodes)
    places = sorted({node.position for node in useful | set(carried) | grouped})
    top = "".join(f"<th>{escape(names[at])}</th>" for at in places)
    lines = []
    for layer in reversed(range(found.n_layers)):
        for head in reversed(found.layer_parts):
            nodes_here = [Node(at, layer, head) for at in places]
            cells = "".join(_cell(found, node, carried.get(node, ()), node in grouped) for node in nodes_here)
            name = f"L{layer} " + ("MLP" if head is None else f"H{head}")
            lines.append(f'<tr><th class="row">{name}</th>{cells}</tr>')
    return Html(f'<table class="grid"><thead><tr><th></th>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table>')


def _cell(found: NodeMap, node: Node, carried: Sequence[tuple[Variable, Sequence[Role]]], in_group: bool) -> str:
    if carried:
        chips = "".join(_chip(found, variable, roles) for variable, roles in carried)
        return f'<td title="{escape(str(node), quote=True)}">{chips}</td>'
    mark, said = ("+", "carries something only together with others") if in_group else ("", "")
    if not mark and node in found.useful:
        mark, said = "o", "useful, no role found"
    return f'<td class="quiet" title="{escape(f"{node} {said}", quote=True)}">{mark}</td>'


def _chip(found: NodeMap, variable: Variable, roles: Sequence[Role]) -> Html:
    fill, ink = variable_kind(found, variable).light
    least = min(roles, key=lambda role: role.hit.value)
    outputs = " ".join(found.task.layout.output_places[role.token] for role in roles)
    said = (
        f"{print_nodes(least.nodes)} carries {variable} for {outputs}: hit {least.hit.value:.2f} of {least.hit.n}, "
        f"null {least.null.value:.2f} of {least.null.n}"
    )
    return chip(short_name(variable), fill, ink, said)


def _legend(found: NodeMap) -> Html:
    kinds = {variable_kind(found, variable): None for _, variable in shown_roles(found)}
    parts: list[object] = []
    for kind in kinds:
        parts += [chip(kind.name, *kind.light), f": {kind.meaning}. "]
    return paragraph(*parts, "o: useful, no role found. +: only together with others.", quiet=True)


def _role_row(found: NodeMap, variable: Variable, roles: Sequence[Role]) -> list[object]:
    least = min(roles, key=lambda role: role.hit.value)
    low, high = least.hit.interval
    return [
        print_nodes(least.nodes),
        _chip(found, variable, roles),
        " ".join(found.task.layout.output_places[role.token] for role in roles),
        f"{least.hit.value:.2f}",
        f"{low:.2f} to {high:.2f}",
        least.hit.n,
        f"{least.null.value:.2f}",
        least.null.n,
        f"{max(role.p for role in roles):.0e}",
        say_confidence(min(map(confidence_of, roles))),
    ]
