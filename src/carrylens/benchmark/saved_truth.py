"""Saved truth: a `KnownTruth` as JSON, such as the `truth.json` of a model trained under an alignment.

Takes  a `KnownTruth`, or the bytes of a file.
Gives  bytes, or the `KnownTruth` they hold; other fields of the file are left alone.
Never  imports torch.

The form, with all but `groups` optional:

    {"groups": [{"variable": "ST[1]", "copies": ["P3L0H0 + P3L0MLP"], "outputs": ["A[2]"], "brings_inputs": false,
                 "share": 1.0, "as_whole": true, "basis": {"P3L0H0": [[1.0, 0.0]]}}],
     "edges": [{"sender": "P3L0H0", "receiver": "P9L1H0", "input": "v", "variable": "ST[1]"}],
     "decoys": {"P3L0H1": ["ST[1]"]},
     "single_inputs": [["P3L0H0", "D[1]"]],
     "idle": ["P0L0H0"],
     "deserved": {"left-to-right add": "runs", "one-layer add": "does not run"}}
"""

from __future__ import annotations

import msgspec

from carrylens.benchmark.known_truth import Directions, KnownTruth, RunVerdict, TrueEdge, TrueGroup
from carrylens.json_records import Schema
from carrylens.nodes import Node, parse_nodes, print_nodes
from carrylens.tasks.variables import Variable


class _SavedGroup(msgspec.Struct, omit_defaults=True):
    variable: str
    copies: list[str]
    outputs: list[str] = []
    brings_inputs: bool = False
    share: float = 1.0
    as_whole: bool = False
    basis: dict[str, Directions] = {}


class _SavedEdge(msgspec.Struct):
    sender: str
    receiver: str | None
    input: str
    variable: str


class _SavedTruth(msgspec.Struct, omit_defaults=True):
    groups: list[_SavedGroup]
    edges: list[_SavedEdge] = []
    decoys: dict[str, list[str]] = {}
    single_inputs: list[tuple[str, str]] = []
    idle: list[str] | None = None
    deserved: dict[str, RunVerdict] = {}


_SCHEMA = Schema(_SavedTruth, "truth about a model", "See docs/benchmark.md.", others=True)


def truth_to_json(truth: KnownTruth) -> bytes:
    """The truth as a file has it."""
    saved = _SavedTruth(
        [_saved_group(group) for group in truth.groups],
        [
            _SavedEdge(str(e.sender), str(e.receiver) if e.receiver else None, e.input, str(e.variable))
            for e in truth.edges
        ],
        {str(node): sorted(map(str, held)) for node, held in sorted(truth.decoys.items())},
        sorted((str(node), str(variable)) for node, variable in truth.single_inputs),
        None if truth.idle is None else [str(node) for node in sorted(truth.idle)],
        dict(truth.deserved),
    )
    return msgspec.json.format(msgspec.json.encode(saved), indent=1) + b"\n"


def truth_from_json(content: bytes, where: str = "truth.json") -> KnownTruth:
    """The truth that `truth_to_json` wrote, or that a hand wrote in its form; `where` names the file in an error."""
    saved = _SCHEMA.decode(content, where)
    with _SCHEMA.refusing(where):
        return _truth(saved)


def _truth(saved: _SavedTruth) -> KnownTruth:
    return KnownTruth(
        tuple(map(_group, saved.groups)),
        tuple(
            TrueEdge(
                Node.parse(e.sender),
                Node.parse(e.receiver) if e.receiver else None,
                e.input,
                Variable.parse(e.variable),
            )
            for e in saved.edges
        ),
        {Node.parse(node): frozenset(map(Variable.parse, held)) for node, held in saved.decoys.items()},
        frozenset((Node.parse(node), Variable.parse(variable)) for node, variable in saved.single_inputs),
        None if saved.idle is None else frozenset(map(Node.parse, saved.idle)),
        saved.deserved,
    )


def _saved_group(group: TrueGroup) -> _SavedGroup:
    return _SavedGroup(
        str(group.variable),
        [print_nodes(copy) for copy in group.copies],
        [str(output) for output in group.outputs],
        group.brings_inputs,
        group.share,
        group.as_whole,
        {str(node): directions for node, directions in group.basis.items()},
    )


def _group(saved: _SavedGroup) -> TrueGroup:
    return TrueGroup(
        Variable.parse(saved.variable),
        tuple(tuple(sorted(parse_nodes(copy))) for copy in saved.copies),
        tuple(map(Variable.parse, saved.outputs)),
        saved.brings_inputs,
        saved.share,
        saved.as_whole,
        {Node.parse(node): directions for node, directions in saved.basis.items()},
    )
