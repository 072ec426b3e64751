"""Keys: what a row's outcome depends on, as one hash.

Takes  a model, edits, the sequences of a call, and the layout of its records.
Gives  a key for every row and one for every question's clean outcome: equal where all that matters is equal.
Never  depends on the order or the number of rows, nor on what a row does not use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from carrylens.interventions.edits import Edit, Fill
from carrylens.interventions.fills import Origin
from carrylens.interventions.sequences import Index, Sequences, fills_of, origins_of
from carrylens.model.transformer import Transformer

_MEANING = 1
"""To be raised when the same edit comes to mean something else, so that older outcomes are not taken over."""


def row_keys(
    model: bytes,
    edits: Sequence[Edit],
    rows: tuple[Index, Index],
    sequences: Sequences,
    origins: Mapping[Origin, Index],
    layout: str,
) -> list[bytes]:
    """A key for each row; `rows` are each row's edit and question, `model` is the model's digest."""
    tokens = [row.tobytes() for row in sequences.distinct]
    reference = b"".join(sorted(tokens[entry] for entry in sequences.reference))
    starts, foreign = [], []
    for edit in edits:
        start = _start(model, edit.to_json(), layout)
        if fills_of(edit) & {Fill.MEAN, Fill.CLASS_MEAN}:
            start.update(reference)
        starts.append(start)
        foreign.append([origins[each] for each in sorted(origins_of(edit), key=str)])
    keys = []
    for edit_at, question_at in zip(*(index.tolist() for index in rows), strict=True):
        key = starts[edit_at].copy()
        key.update(tokens[sequences.questions[question_at]])
        key.update(sequences.right[question_at].tobytes())
        for origin in foreign[edit_at]:
            key.update(tokens[origin[question_at]])
        keys.append(key.digest())
    return keys


def clean_keys(model: bytes, sequences: Sequences, layout: str) -> list[bytes]:
    """A key for the clean outcome of each question."""
    keys = []
    for entry, right in zip(sequences.questions, sequences.right, strict=True):
        key = _start(model, "clean", layout)
        key.update(sequences.distinct[entry].tobytes() + right.tobytes())
        keys.append(key.digest())
    return keys


def digest_of(model: Transformer) -> bytes:
    """A hash of the model's shape and weights."""
    digest = hashlib.sha256(model.config.to_json().encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.digest()


def _start(model: bytes, edit: str, layout: str) -> hashlib.blake2b:
    return hashlib.blake2b(model + f"{_MEANING} {edit} {layout}".encode(), digest_size=16)
