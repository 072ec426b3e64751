"""The challenge: a planted circuit to be found by hand, in three levels.

Takes  a level and a seed.
Gives  a planted model, and what its page needs to score a reader.
Never  writes the truth so that it could be read at a glance: it is veiled, and its name says nothing.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from carrylens.arithmetic.planted.dials import Copies, Dials, describe
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation
from carrylens.errors import CarryLensError
from carrylens.explorer.page_data import Explored
from carrylens.tasks.task import Task


@dataclass(frozen=True)
class Level:
    """How hard a challenge is: the circuit, and what the reader is told."""

    title: str
    operation: Operation
    digits: int
    dials: Dials
    text: str


LEVELS = {
    1: Level(
        "one node a job",
        Operation.ADD,
        3,
        Dials(),
        "Every variable has one carrier: a head that fetches, and an MLP that looks the value up. Nothing is in vain.",
    ),
    2: Level(
        "decoys and backups",
        Operation.ADD,
        3,
        Dials(redundancy=3, decoys=1),
        "Some nodes hold a right value that no later component reads: those are decoys, and they carry nothing. "
        "Others have backups: interchange one alone and nothing moves, interchange most of them and the answer "
        "follows.",
    ),
    3: Level(
        "backups elsewhere, shared work, noise",
        Operation.ADD,
        3,
        Dials(redundancy=3, copies=Copies.PLACES, sharing=True, decoys=2, noise=1, rotated=True),
        "Backups stand at other places, two heads share one fetch so that neither alone has the value, one head of "
        "each layer is noise, there are more decoys, and no direction of the stream means anything by itself.",
    ),
}
"""The levels by number."""

_GOAL = (
    "A circuit was planted in this model. Choose nodes on the board and tag each with the variable it carries. "
    "Attention says where to look, an interchange says what is so: say what it moves, and see whether the model "
    "answers as the algorithm does."
)


def challenge(level: int, seed: int = 0) -> Explored:
    """The challenge of this level; the seed turns its basis and its noise."""
    if level not in LEVELS:
        raise CarryLensError(f"There is no level {level}. Write one of {', '.join(map(str, LEVELS))}.")
    chosen = LEVELS[level]
    dials = Dials(**{**vars(chosen.dials), "seed": seed})
    planted = plant(describe(chosen.operation, chosen.digits, dials))
    task = planted.model.task
    assert task is not None
    name = f"challenge, level {level}"
    return Explored(planted.model.eval(), task, name, challenge=_record(level, seed, planted, task))


def _record(level: int, seed: int, planted: Planted, task: Task) -> dict[str, Any]:
    chosen, key = LEVELS[level], 7919 * (seed + 1) + level
    known = {str(variable) for variable in task.causal.variables}
    inputs = {str(variable) for variable in task.causal.inputs}
    carried = [str(each) for each in task.causal.variables if str(each) in known - inputs]
    return {
        "level": level,
        "title": chosen.title,
        "text": [chosen.text, _GOAL],
        "variables": carried,
        "key": key,
        "veiled": veiled(truth_record(planted.truth), key),
    }


def truth_record(truth: Truth) -> dict[str, Any]:
    """Which node carries what, which nodes are backups of each other, and which are decoys."""
    return {
        "pairs": [[str(node), str(each)] for node, some in truth.roles.items() for each in sorted(some)],
        "groups": [
            {"variable": str(group.variable), "copies": [[str(node) for node in copy] for copy in group.copies]}
            for group in truth.groups
        ],
        "decoys": [[str(node), str(each)] for node, some in truth.decoys.items() for each in sorted(some)],
    }


def veiled(record: dict[str, Any], key: int) -> str:
    """The record, each byte mixed with one that the key gives; the page has the same generator."""
    mask = _mask(key)
    return b64encode(bytes(byte ^ next(mask) for byte in json.dumps(record).encode())).decode("ascii")


def _mask(seed: int) -> Any:
    # The page's own generator (mulberry32), as whole numbers below 256.
    state, word = seed & 0xFFFFFFFF, 0xFFFFFFFF
    while True:
        state = (state + 0x6D2B79F5) & word
        t = state
        t = ((t ^ (t >> 15)) * (t | 1)) & word
        t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & word)) & word
        t &= word
        yield ((t ^ (t >> 14)) & word) * 256 >> 32
