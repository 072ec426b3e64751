"""Saved: everything that is known of one model, read from its folders.

Takes  the folder of a map, and the model's own.
Gives  `Saved`, with the hash of every file it came from.
Never  mixes two models: a test or a claim about other weights is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from carrylens.arithmetic.battery.battery_file import BATTERY, battery_record
from carrylens.arithmetic.task import find_task as find_arithmetic_task
from carrylens.arithmetic.zoo.exam_record import TEST, read_test
from carrylens.claims.judgement import CLAIMS
from carrylens.claims.own_files import own_file
from carrylens.claims.records import read_claims
from carrylens.claims.run_verdict import RunJudgement, run_judgement, settle_command
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, DrawnFrom, MeasuredAlignment
from carrylens.discovery.node_map import MAP, NodeMap, Way
from carrylens.discovery.stimulus_spec import MADE_FOR, MADE_FOR_OUTPUT, Split, saved_spec
from carrylens.discovery.worked_example_record import WORKED, read_worked
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import FACT_SCHEMA, FACTS, Fact
from carrylens.json_records import Count, Schema
from carrylens.nodes import print_nodes
from carrylens.report.plain_records import Record
from carrylens.steps import read_made
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import TaskFinder
from carrylens.training.history import HISTORY, read_history


@dataclass(frozen=True, eq=False)
class Saved:
    """What was saved about one model; `hashes` has the SHA-256 of each file that was read.

    `beside_truth` is a sentence, found against true, where the truth about the model is known.
    """

    source: str
    map: NodeMap
    facts: tuple[Fact, ...]
    claims: Record
    test: Record | None = None
    history: Sequence[Record] = ()
    battery: Sequence[Record] = ()
    battery_about: Record = field(default_factory=dict)
    worked: Record | None = None
    joint: RunJudgement | None = None
    drawn: DrawnFrom | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    beside_truth: str = ""

    @property
    def is_usual(self) -> bool:
        """Whether the claims are of the hypothesis that its task comes with, not of a user's own."""
        return bool(self.claims["hypothesis"] == self.map.task.causal.name)

    @property
    def weights(self) -> str | None:
        """The hash of the weights that were mapped, if the map says."""
        said = self.map.stimuli.get("sha256")
        return None if said is None else str(said)


def read_saved(
    source: str,
    folder: Path,
    own: Path | None,
    *,
    find_task: TaskFinder = find_arithmetic_task,
    causal: CausalModel | None = None,
    hypothesis: str | None = None,
) -> Saved:
    """What is in the map's folder, and in the model's own where the first does not have it.

    `causal` is needed for a map of variables that its task does not have. `hypothesis` names the one whose claims are
    read: that of the map's own variables, or else the usual one, if nothing is said.
    """
    reading = _Reading([folder, *([own] if own is not None else [])])
    explain = f"carrylens explain {source}"
    found: NodeMap = reading.need(
        MAP, f"carrylens map {source}", lambda content, path: NodeMap.from_json(content, find_task, causal, path)
    )
    judged = hypothesis or found.causal.name
    is_usual = judged == found.task.causal.name
    claims = CLAIMS if is_usual else own_file("claims", judged, reading.folders)
    judging = f"carrylens judge {folder if (folder / MAP).is_file() else source}"
    battery = reading.take(BATTERY, f"carrylens battery {source}", battery_record) or {"about": {}, "outcomes": ()}
    settles = settle_command(source)
    measured = _measured(reading, settles, judged, found)
    saved = Saved(
        source=source,
        map=found,
        facts=reading.take(FACTS, f"carrylens map {source} --restart", _facts) or _facts_of_roles(found),
        claims=reading.need(claims, judging + ("" if claims == CLAIMS else " --hypothesis FILE"), read_claims),
        test=reading.take(TEST, explain, read_test),
        history=reading.take(HISTORY, "carrylens train", read_history) or (),
        battery=battery["outcomes"],
        battery_about=battery["about"],
        worked=reading.take(WORKED, explain, read_worked),
        joint=None if measured is None else run_judgement(measured, settles),
        drawn=None if measured is None else measured.drawn,
        hashes=reading.hashes,
    )
    _check_same(saved, claims, judged)
    return saved


def _measured(reading: _Reading, command: str, judged: str, found: NodeMap) -> MeasuredAlignment | None:
    # The alignment that a verdict rests on, if one is there and of these weights.
    is_usual = judged == found.task.causal.name
    name = ALIGNMENT if is_usual else own_file("alignment", judged, reading.folders)
    measured: MeasuredAlignment | None = reading.take(name, command, MeasuredAlignment.from_json)
    is_of = measured is not None and measured.is_of(found.model, found.stimuli.get("sha256"), judged)
    return measured if is_of else None


class _Reading:
    # Files looked for in one folder after another, and what their hashes are.
    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self.hashes: dict[str, str] = {}

    def take(self, name: str, command: str, read: Callable[[bytes, str], Any]) -> Any:
        for folder in self.folders:
            content = read_made(folder, name, command)
            if content is not None:
                self.hashes[name] = hashlib.sha256(content).hexdigest()
                return read(content, str(folder / name))
        return None

    def need(self, name: str, command: str, read: Callable[[bytes, str], Any]) -> Any:
        found = self.take(name, command, read)
        if found is None:
            raise CarryLensError(f"{self.folders[0] / name} is not there. Write {command} first, or carrylens explain.")
        return found


class _InterchangeAbout(Struct):
    # What pages read of a fact about an interchange.
    nodes: str
    variable: str
    token: Count
    split: str


_ABOUT_SCHEMA = Schema(
    _InterchangeAbout, "fact about an interchange", "Restore the file, or map the model again.", others=True
)


def _facts(content: bytes, source: str) -> tuple[Fact, ...]:
    facts = tuple(FACT_SCHEMA.decode_lines(content, source))
    for at, fact in enumerate(facts, 1):
        if fact.kind == Way.INTERCHANGE.value:
            _ABOUT_SCHEMA.convert(dict(fact.about), f"Line {at} of {source}")
    return facts


def _facts_of_roles(found: NodeMap) -> tuple[Fact, ...]:
    # A map that came without its facts still says of each role how it was confirmed.
    spec = saved_spec(found.stimuli, Split.CONFIRM)
    if spec is None:
        return ()
    made_for = {MADE_FOR: MADE_FOR_OUTPUT} if found.stimuli.get(MADE_FOR) == MADE_FOR_OUTPUT else {}
    drawn: dict[Way, dict[str, object]] = {
        Way.INTERCHANGE: {"pairs": spec.count * (2 if made_for else 1), "seed": spec.seed, **made_for},
        Way.DIFFERENCE: {"triples": spec.count, "seed": spec.seed},
    }
    return tuple(
        Fact(
            role.way.value,
            {"nodes": print_nodes(role.nodes), "variable": str(role.variable), "token": role.token, "split": "confirm"},
            *(role.hit, role.null, drawn[role.way]),
        )
        for role in found.roles
    )


def _check_same(saved: Saved, claims: str, wanted: str) -> None:
    if saved.claims["model"] != saved.map.model:
        raise CarryLensError(
            f"{claims} is about {saved.claims['model']}, the map about {saved.map.model}. Judge the map again."
        )
    if saved.claims.get("map_sha256", saved.map.sha256) != saved.map.sha256:
        raise CarryLensError(f"{claims} was judged from another map than the one here. Judge the map again.")
    judged = saved.claims["hypothesis"]
    if judged != wanted:
        how = "without" if claims == CLAIMS else "with its"
        raise CarryLensError(
            f"{claims} judges the hypothesis {judged!r}, but the page is about {wanted!r}. Judge the map again {how} "
            "--hypothesis."
        )
    for name, record in ((TEST, saved.test), (WORKED, saved.worked), (BATTERY, saved.battery_about or None)):
        other = None if record is None else record["sha256"]
        if other is not None and saved.weights is not None and other != saved.weights:
            raise CarryLensError(
                f"{name} is of other weights ({other[:12]}) than the map ({saved.weights[:12]}). Make both again."
            )
