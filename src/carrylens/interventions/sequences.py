"""Sequences: every distinct sequence of tokens that a call needs, each once.

Takes  questions, sources for each slot, reference questions.
Gives  their tokens, and for each question which sequence each of its values comes from.
Never  runs a model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.classes import classify
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.errors import CarryLensError
from carrylens.interventions.edits import Add, Edge, Edit, Fill, KeepOnly, Replace
from carrylens.interventions.fills import Origin
from carrylens.model.transformer import Transformer
from carrylens.tokens import answer_positions, encode

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sequences:
    """Distinct sequences, and where questions, sources and reference questions stand among them."""

    distinct: Index
    questions: Index
    slots: tuple[Index, ...]
    reference: Index
    classes: Index
    right: NDArray[np.int8]

    @classmethod
    def of(
        cls, questions: Questions, slots: Sequence[Questions], reference: Questions | None, read: Answers | None
    ) -> Sequences:
        """The sequences of these questions; `read` are the answers the asked questions are read with."""
        right = encode(questions, answers(questions))
        asked = right if read is None else encode(questions, read)
        others = [encode(some, answers(some)) for some in (*slots, *(() if reference is None else (reference,)))]
        distinct, index = np.unique(np.concatenate([asked, *others]), axis=0, return_inverse=True)
        ends = np.cumsum([len(asked), *map(len, others)])
        found = np.split(index.reshape(-1).astype(np.int64), ends[:-1])
        first = answer_positions(questions.digits).start + 1
        return cls(
            distinct=distinct,
            questions=found[0],
            slots=tuple(found[1 : 1 + len(slots)]),
            reference=found[-1] if reference is not None else np.empty(0, dtype=np.int64),
            classes=classify(questions).code.astype(np.int64),
            right=right[:, first:].astype(np.int8),
        )

    def tokens(self, entries: Index) -> Tensor:
        """The tokens of some of the sequences."""
        return torch.from_numpy(self.distinct[entries])

    def origin(self, origin: Origin, questions: Index) -> Index:
        """For each of these questions the sequence its foreign values come from."""
        fill, number = origin
        if fill is Fill.SOURCE:
            return self.slots[number][questions]
        return np.array([self._draw(int(entry), number) for entry in self.questions[questions]], dtype=np.int64)

    def needed(self, block: Index, origins: Collection[Origin]) -> Index:
        """The sequences that a block of questions needs."""
        return np.unique(np.concatenate([self.questions[block], *(self.origin(each, block) for each in origins)]))

    def _draw(self, entry: int, seed: int) -> int:
        # By content, so that the draw depends neither on the order nor on the number of questions.
        digest = hashlib.blake2b(self.distinct[entry].tobytes() + seed.to_bytes(8, "little"), digest_size=8).digest()
        others = self.reference[self.reference != entry]
        if not len(others):
            raise CarryLensError("The reference has no question but the one asked. Give more to resample from.")
        return int(others[int.from_bytes(digest, "little") % len(others)])


def origins_of(edit: Edit) -> set[Origin]:
    """Where the edit's values come from, if from other questions."""
    found: set[Origin] = set()
    for change in edit.changes:
        if isinstance(change, Replace | KeepOnly) and change.fill is Fill.RESAMPLE:
            found.add((Fill.RESAMPLE, change.seed))
        elif isinstance(change, Edge) or (isinstance(change, Replace) and change.fill is Fill.SOURCE):
            found.add((Fill.SOURCE, change.source))
    return found


def fills_of(edit: Edit) -> set[Fill]:
    """The fills the edit's changes use."""
    return {change.fill for change in edit.changes if not isinstance(change, Add | Edge)}


def row_keys(
    model: Transformer, edits: Sequence[Edit], edit_of: Index, question_of: Index, sequences: Sequences, request: str
) -> list[bytes]:
    """For each row a key made from the content of all that its outcome depends on."""
    tokens = [row.tobytes() for row in sequences.distinct]
    reference = b"".join(tokens[entry] for entry in sequences.reference)
    starts, origins = [], []
    for edit in edits:
        start = hashlib.blake2b(digest_of(model) + edit.to_json().encode() + request.encode(), digest_size=16)
        if fills_of(edit) & {Fill.MEAN, Fill.CLASS_MEAN}:
            start.update(reference)
        starts.append(start)
        every = np.arange(len(sequences.questions))
        origins.append([sequences.origin(each, every) for each in sorted(origins_of(edit), key=str)])
    keys = []
    for edit_at, question_at in zip(edit_of.tolist(), question_of.tolist(), strict=True):
        key = starts[edit_at].copy()
        key.update(tokens[sequences.questions[question_at]])
        key.update(sequences.right[question_at].tobytes())
        for origin in origins[edit_at]:
            key.update(tokens[origin[question_at]])
        keys.append(key.digest())
    return keys


def digest_of(model: Transformer) -> bytes:
    """A hash of the model's shape and weights."""
    digest = hashlib.sha256(model.config.to_json().encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.digest()
