"""Sequences: every distinct sequence of tokens that a call needs, each once.

Takes  questions, sources for each slot, reference questions.
Gives  their tokens, and for each question which sequence each of its values comes from.
Never  runs a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.interventions.edits import Add, DifferencePatch, Edge, Edit, Fill, KeepOnly, Replace, slots_of
from carrylens.interventions.fills import Origin
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.task import Task

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sequences:
    """Distinct sequences, and where questions, sources and reference questions stand among them."""

    distinct: Index
    questions: Index
    slots: tuple[Index, ...]
    reference: Index
    right: NDArray[np.int8]
    n_question: int

    @classmethod
    def of(
        cls, task: Task, questions: Batch, slots: Sequence[Batch], reference: Batch | None, read: Columns | None
    ) -> Sequences:
        """The sequences of these questions; `read` are the outputs that the questions are read with."""
        right = task.right_outputs(questions)
        asked = task.token_ids(questions, right if read is None else read)
        others = [task.token_ids(some) for some in (*slots, *(() if reference is None else (reference,)))]
        distinct, index = np.unique(np.concatenate([asked, *others]), axis=0, return_inverse=True)
        ends = np.cumsum([len(asked), *map(len, others)])
        found = np.split(index.reshape(-1).astype(np.int64), ends[:-1])
        return cls(
            distinct=distinct,
            questions=found[0],
            slots=tuple(found[1 : 1 + len(slots)]),
            reference=found[-1] if reference is not None else np.empty(0, dtype=np.int64),
            right=task.output_ids(questions, right),
            n_question=task.layout.n_question,
        )

    def tokens(self, entries: Index) -> Tensor:
        """The tokens of some of the sequences."""
        return torch.from_numpy(self.distinct[entries])

    def origin(self, origin: Origin) -> Index:
        """For each question the sequence its foreign values come from."""
        fill, number = origin
        return self.slots[number] if fill is Fill.SOURCE else self._draws(number)

    def _draws(self, seed: int) -> Index:
        # By content, so that a draw depends neither on the order nor on the number of questions. Sequences are sorted,
        # so those of one question, however it is answered, are neighbours and are skipped together.
        asked = self.distinct[:, : self.n_question]
        group = np.cumsum(np.r_[False, (asked[1:] != asked[:-1]).any(1)])
        pool, groups = np.sort(self.reference), group[self.questions]
        starts, stops = (np.searchsorted(group[pool], groups, side) for side in ("left", "right"))
        counts = len(pool) - (stops - starts)
        if not counts.all():
            raise CarryLensError(
                "The reference has no question but the one that is edited. Give more to resample from."
            )
        salt = seed.to_bytes(8, "little")
        digests = [hashlib.blake2b(asked[entry].tobytes() + salt, digest_size=8).digest() for entry in self.questions]
        picks = np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)
        places = (picks % counts.astype(np.uint64)).astype(np.int64)
        return pool[np.where(places < starts, places, places + stops - starts)]


@lru_cache(maxsize=1 << 14)
def origins_of(edit: Edit) -> frozenset[Origin]:
    """Where the edit's values come from, if from other questions."""
    found: set[Origin] = set()
    for change in edit.changes:
        if isinstance(change, Replace | KeepOnly) and change.fill is Fill.RESAMPLE:
            found.add((Fill.RESAMPLE, change.seed))
        found.update((Fill.SOURCE, slot) for slot in slots_of(change))
    return frozenset(found)


def fills_of(edit: Edit) -> set[Fill]:
    """The fills the edit's changes use."""
    return {change.fill for change in edit.changes if not isinstance(change, Add | DifferencePatch | Edge)}
