"""The leaderboard: every method on every suite in one row, from the records of a run.

Takes  records of `method_runs.py`, and how the run was made.
Gives  `Leaderboard`, JSON in and out, signed with versions, seeds and hashes.
Never  runs a method, and never counts the rotations of one circuit as several.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import msgspec

from carrylens import __version__
from carrylens.benchmark.averages import Averaged, Reliability, averaged, reliability_of
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.benchmark.method_interface import DiscoveryMethod
from carrylens.benchmark.saved_results import Plain
from carrylens.errors import CarryLensError
from carrylens.json_records import Schema


class LeaderboardModel(msgspec.Struct, frozen=True):
    """A model that was scored on."""

    name: str
    suite: str
    split: str
    circuit: str
    sha256: str


class LeaderboardRow(msgspec.Struct, frozen=True):
    """A method on a suite.

    | field | meaning |
    |---|---|
    | `precision`, `recall` | by role, up to variables that no question can tell apart |
    | `strict_precision`, `strict_recall` | by role, with the very variable that the truth lists |
    | `node_auroc`, `edge_auroc` | how well scores part nodes and edges of the circuit from all others |
    | `group_precision`, `group_recall` | sets of copies or partners, found whole |
    | `decoys` | decoys that were given a role, of all decoys |
    | `roles_in_empty` | roles reported in a model that holds nothing, on average |
    | `verdicts` | for each deserved verdict, how often each verdict was stated |
    | `false_runs` | of the verdicts on a hypothesis that a model does not run, or runs in part, the share that says it runs |
    | `nodes_stated`, `sets_stated` | reliability of the confidence stated for single nodes, and for sets |
    | `jaccard` | the share of what is found with one seed of questions or another that is found with both, over pairs of seeds |
    | `rows`, `seconds` | for one model, on average: rows of which logits were computed, CPU seconds |
    """  # noqa: E501

    method: str
    told: bool | None
    suite: str
    split: str
    n_models: int
    n_circuits: int
    gives: list[str]
    precision: Averaged | None
    recall: Averaged | None
    strict_precision: Averaged | None
    strict_recall: Averaged | None
    node_auroc: Averaged | None
    edge_auroc: Averaged | None
    group_precision: Averaged | None
    group_recall: Averaged | None
    decoys: tuple[int, int]
    roles_in_empty: Averaged | None
    verdicts: dict[str, dict[str, int]]
    false_runs: Averaged | None
    n_false_runs: tuple[int, int]
    nodes_stated: Reliability | None
    sets_stated: Reliability | None
    jaccard: Averaged | None
    n_seeds: int
    threshold: float | None
    rows: float
    seconds: float


class Signature(msgspec.Struct, frozen=True):
    """How a leaderboard was made, and how busy the machine was at its end.

    `sha256` is that of all the rest of the file, as it is written without it.
    """

    command: str
    versions: dict[str, str]
    quick: bool
    question_seeds: list[int]
    thresholds_chosen_on: list[str]
    methods: dict[str, str]
    machine: str = ""
    sha256: str = ""


class SuiteCost(msgspec.Struct, frozen=True):
    """What all methods of a leaderboard together would take on a whole suite, by what they took on some of its models.

    `seconds_a_model` are CPU seconds; `n_dev` models are for thresholds, which only methods of role scores need;
    `n_again` are further seeds of questions on models that are run with several.
    """

    suite: str
    n_measured: int
    seconds_a_model: float
    n_models: int
    n_dev: int
    n_again: int
    seconds: float


class BoardCost(msgspec.Struct, frozen=True):
    """The CPU seconds of all methods in all of their runs, how many those were, and what every suite would take."""

    n_runs: int
    seconds: float
    whole: list[SuiteCost]


class Leaderboard(msgspec.Struct, frozen=True):
    """All rows, the models they were made on, and how."""

    signature: Signature
    models: list[LeaderboardModel]
    rows: list[LeaderboardRow]
    cost: BoardCost | msgspec.UnsetType = msgspec.UNSET

    def __str__(self) -> str:
        return f"Leaderboard: {len({row.method for row in self.rows})} methods on {len(self.models)} models"

    def of(self, method: str, suite: str) -> LeaderboardRow:
        """The row of one method on one suite."""
        for row in self.rows:
            if (row.method, row.suite) == (method, suite):
                return row
        raise CarryLensError(f"{method!r} was not scored on {suite!r}. See the rows: {self}.")

    def to_json(self) -> bytes:
        """As a file has it, signed."""
        unsigned = _encoded(msgspec.structs.replace(self, signature=msgspec.structs.replace(self.signature, sha256="")))
        signed = msgspec.structs.replace(self.signature, sha256=hashlib.sha256(unsigned).hexdigest())
        return _encoded(msgspec.structs.replace(self, signature=signed))

    @classmethod
    def from_json(cls, content: bytes, where: str = "leaderboard.json") -> Leaderboard:
        """What `to_json` wrote; an error if it was changed since."""
        found = _SCHEMA.decode(content, where)
        if found.to_json() != content:
            raise CarryLensError(f"{where} was changed after it was signed. Make it again.")
        return found


_SCHEMA = Schema(Leaderboard, "leaderboard", "Make it again.")


def leaderboard_of(records: Sequence[Plain], methods: Sequence[DiscoveryMethod], signature: Signature) -> Leaderboard:
    """The leaderboard that the records of a run make."""
    scores = [record for record in records if record["part"] == "scores"]
    stable = [record for record in records if record["part"] == "stability"]
    models = {each["model"]: each for each in scores}.values()
    listed = [LeaderboardModel(*(each[n] for n in ("model", "suite", "split", "circuit", "sha256"))) for each in models]
    rows = [
        _row(
            [each for each in scores if (each["method"], each["suite"]) == (method.name, suite)],
            stable,
            has_roles=any(method_has_roles(each) for each in scores if each["method"] == method.name),
        )
        for suite in dict.fromkeys(each["suite"] for each in scores)
        for method in methods
    ]
    return Leaderboard(signature, listed, rows)


def signature_of(
    command: str, quick: bool, seeds: Sequence[int], dev: Sequence[str], methods: Sequence[DiscoveryMethod]
) -> Signature:
    """How a run was made: versions of what computes, seeds, models of thresholds, hashes of methods' own code."""
    packages = ("torch", "numpy", "scipy")
    versions = {"carrylens": __version__, "python": platform.python_version()} | {p: version(p) for p in packages}
    sources = {method.name: method.code for method in methods}
    load = f", load average {os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else ""
    machine = f"{os.cpu_count()} cores{load}"
    return Signature(command, versions, quick, sorted(set(seeds)), list(dev), sources, machine)


def _row(records: Sequence[Plain], stability: Sequence[Plain], *, has_roles: bool) -> LeaderboardRow:
    # Whether a method gives roles is seen on all suites: of an empty model it may rightly give none.
    first = records[0]
    method, suite = first["method"], first["suite"]
    again = [each for each in stability if (each["method"], each["suite"]) == (method, suite)]
    asked = [(r["circuit"], deserved, said) for r in records for deserved, said in r["verdicts"].values()]
    runs = RunVerdict.RUNS.value
    false = [(circuit, float(said == runs)) for circuit, deserved, said in asked if deserved != runs]
    is_empty = [not record["result"]["nodes"]["n_true"] for record in records]
    gives = sorted({each for record in records for each in record["gives"]})
    here = bool({"roles", "role_scores"} & set(gives))
    thresholds = [record["threshold"] for record in records if record["threshold"] is not None]
    decoys = [record["result"]["decoys"] for record in records] if here else []
    return LeaderboardRow(
        method=method,
        told=first["told"],
        suite=suite,
        split=first["split"],
        n_models=len(records),
        n_circuits=len({record["circuit"] for record in records}),
        gives=gives,
        **_shares(records if here else (), "groups" in gives),
        node_auroc=averaged((r["circuit"], r["result"]["node_auroc"]) for r in records),
        edge_auroc=averaged((r["circuit"], r["result"]["edge_auroc"]) for r in records),
        decoys=(sum(each["n_found"] for each in decoys), sum(each["n_true"] for each in decoys)),
        roles_in_empty=averaged(
            (r["circuit"], float(r["result"]["roles"]["n_found"]))
            for r, empty in zip(records, is_empty, strict=True)
            if empty and has_roles
        ),
        verdicts=_confusion([(deserved, said) for _, deserved, said in asked]),
        false_runs=averaged(false),
        n_false_runs=(sum(int(each) for _, each in false), len(false)),
        nodes_stated=_stated(records, is_set=False),
        sets_stated=_stated(records, is_set=True),
        jaccard=averaged((each["circuit"], each["jaccard"]) for each in again),
        n_seeds=max((each["n_seeds"] for each in again), default=0),
        threshold=thresholds[0] if thresholds else None,
        rows=sum(record["rows"] for record in records) / len(records),
        seconds=round(sum(record["seconds"] for record in records) / len(records), 2),
    )


def method_has_roles(record: Mapping[str, object]) -> bool:
    """Whether it was a method of roles that found this: one that gives scores of edges and nodes alone is not."""
    gives = record["gives"]
    assert isinstance(gives, list)
    return not {"node_scores", "edge_scores"} & set(gives) or bool({"roles", "role_scores"} & set(gives))


def _shares(records: Sequence[Plain], has_groups: bool) -> dict[str, Averaged | None]:
    found: dict[str, Averaged | None] = {"group_precision": None, "group_recall": None}
    kinds = [("", "roles"), ("strict_", "strict"), *([("group_", "groups")] if has_groups else [])]
    for start, kind in kinds:
        for share, whole in (("precision", "n_found"), ("recall", "n_true")):
            counts = [(record["circuit"], record["result"][kind]) for record in records]
            values = ((circuit, each["n_both"] / each[whole] if each[whole] else None) for circuit, each in counts)
            found[f"{start}{share}"] = averaged(values)
    return found


def _confusion(asked: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    words = [each.value for each in RunVerdict]
    return {
        deserved: {said: asked.count((deserved, said)) for said in words}
        for deserved in words
        if any(each == deserved for each, _ in asked)
    }


def _stated(records: Sequence[Plain], is_set: bool) -> Reliability | None:
    return reliability_of(
        [
            (record["circuit"], each["confidence"], each["true"])
            for record in records
            for each in record["stated"]
            if each["is_set"] == is_set
        ]
    )


def _encoded(value: Leaderboard) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
