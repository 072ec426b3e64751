"""Interchange sites: the places of a network whose nodes take their values from a source together.

Takes  a subject; a causal model.
Gives  every site, and the variables of the model that it may hold.
Never  says which of them it does hold: `alignment.py` chooses.

1. Sites: every place D'k; `=`; at each place that predicts a digit, the nodes before the last layer, and the last
   layer's heads.
2. What a site may hold: parts, such as the tri-state values of a column, that can be known there.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.timeline import first_computable
from carrylens.arithmetic.variables import D_PRIME, SGN, D
from carrylens.discovery.node_map import Nodes
from carrylens.tasks.variables import Variable

SiteLabel = tuple[Variable, ...]
_TOGETHER = (
    ("SA", "MD", "ND"),
    ("ST", "MB", "NB"),
    ("SV", "MV", "NV"),
    ("C", "B"),
    ("R", "Z"),
    ("SC",),
    ("S9",),
    ("SU",),
)
"""Families that a site holds together: sources ask for the base's operation, so one of them speaks at a time."""


@dataclass(frozen=True)
class InterchangeSite:
    """Nodes that are interchanged together, for one digit of the answer, or for all above where `digit` is None."""

    name: str
    nodes: Nodes
    position: int
    columns: tuple[int, ...]
    digit: int | None


def all_sites(subject: Subject) -> list[InterchangeSite]:
    """Every site, those that serve all digits first."""
    digits, last = subject.digits, subject.last_layer
    found = []
    for k in range(digits - 1, -1, -1):
        place = subject.position(f"D'{k}")
        found.append(InterchangeSite(f"D'{k}", subject.nodes_at(place), place, (k, k + 1), None))
    place = subject.position("=")
    found.append(InterchangeSite("=", subject.nodes_at(place), place, (), None))
    for digit in range(digits, -1, -1):
        here = subject.nodes_at(subject.predicting(digit))
        columns = tuple(k for k in (digit, digit - 1) if 0 <= k < digits)
        early = tuple(node for node in here if node.layer < last)
        heads = tuple(node for node in here if node.layer == last and not node.is_mlp)
        for name, nodes in ((f"A{digit} early", early), (f"A{digit} last heads", heads)):
            if nodes:
                found.append(InterchangeSite(name, nodes, subject.predicting(digit), columns, digit))
    return found


def holdable_parts(model: Algorithm, site: InterchangeSite, last_read: int) -> list[SiteLabel]:
    """What the site may hold. From `last_read` on all resolved values can be known."""
    needed = frozenset[Variable]().union(*(model.ancestors(answer) for answer in model.outputs))
    able = [
        variable
        for variable in model.by_variable
        if variable in needed and variable != SGN and first_computable(model, variable) <= site.position
    ]
    parts: list[SiteLabel] = []
    for names in _TOGETHER:
        parts += [tuple(v for v in able if v.name in names and v.index == k) for k in site.columns]
        if site.digit is None and site.position >= last_read:
            parts.append(tuple(v for v in able if v.name in names and first_computable(model, v) == last_read))
    if SGN in model.by_variable and model.by_variable[SGN].parents and site.position > last_read:
        parts.append((SGN,))
    if site.digit is None and site.columns and not any(parts):  # a hypothesis that names nothing but the digits
        parts.append((D[site.columns[0]], D_PRIME[site.columns[0]]))
    return [part for part in dict.fromkeys(parts) if part]
