"""Stored rows: the rows of one call that are on disk already, and the place for the rest.

Takes  a store or none, a call's records, and the keys of its rows and of its questions' clean outcomes.
Gives  what is still to be run, and puts away what has been.
Never  trusts a record of the wrong length: it is run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.interventions.records import Records
from carrylens.interventions.sequences import Index
from carrylens.interventions.store import Store


@dataclass(frozen=True)
class StoredRows:
    """The records of one call, with keys to find them by in a store."""

    store: Store
    records: Records
    row_keys: Sequence[bytes]
    clean_keys: Sequence[bytes]

    def restore(self) -> tuple[Index, Index]:
        """Take over what the store has; the rows and the questions it has not."""
        known = self.store.known([*self.row_keys, *self.clean_keys])
        records = self.records
        return _restore(records.rows, self.row_keys, known), _restore(records.clean, self.clean_keys, known)

    def add(self, rows: Index, questions: Index) -> None:
        """Put away rows that were run, and questions that were run clean."""
        done = [(self.row_keys[row], self.records.rows[row].tobytes()) for row in rows]
        clean = [(self.clean_keys[question], self.records.clean[question].tobytes()) for question in questions]
        self.store.add(done + clean)


def _restore(records: NDArray[np.void], keys: Sequence[bytes], known: Mapping[bytes, bytes]) -> Index:
    missing = []
    for at, key in enumerate(keys):
        if len(known.get(key, b"")) == records.dtype.itemsize:
            records[at] = np.frombuffer(known[key], dtype=records.dtype)[0]
        else:
            missing.append(at)
    return np.array(missing, dtype=np.int64)
