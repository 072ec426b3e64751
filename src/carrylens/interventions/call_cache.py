"""The call cache: what the next call may need again: clean passes, the model's digest, an open store.

Takes  the questions of a call, and how many bytes may be held.
Gives  their sequences and clean passes, made once as long as they are held; nothing is held if no bytes may be.
Never  notices that the model changed: who holds must leave it as it is.

Calls are told apart by their questions being the very same objects; clean passes by their tokens (`held_passes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from carrylens.interventions.clean import Book
from carrylens.interventions.held_passes import HeldPasses
from carrylens.interventions.keys import digest_of
from carrylens.interventions.parts import Parts
from carrylens.interventions.sequences import Index, Sequences
from carrylens.interventions.store import Store
from carrylens.model.transformer import Transformer
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.task import Task

_CALLS = 32


@dataclass(frozen=True)
class CallInputs:
    """What a call is made with: questions, sources for each slot, reference questions, and outputs to be read."""

    questions: Batch
    slots: tuple[Batch, ...]
    reference: Batch | None
    read: Columns | None

    def is_same(self, other: CallInputs) -> bool:
        """Whether both have the very same objects."""
        return len(self.slots) == len(other.slots) and all(
            mine is theirs for mine, theirs in zip(self._objects(), other._objects(), strict=True)
        )

    def _objects(self) -> tuple[object, ...]:
        return (self.questions, *self.slots, self.reference, self.read)


@dataclass(frozen=True)
class _Call:
    given: CallInputs
    sequences: Sequences


class CallCache:
    """The latest calls, latest last, and up to `memory` bytes of clean passes, whichever call they were made for."""

    def __init__(self, memory: int) -> None:
        self._memory, self._calls, self._passes = memory, list[_Call](), HeldPasses(memory)
        self._digest: bytes | None = None
        self._store: Store | None = None

    def digest(self, model: Transformer) -> bytes:
        """The model's digest."""
        if self._digest is None or not self._memory:
            self._digest = digest_of(model)
        return self._digest

    @contextmanager
    def store(self, path: Path) -> Iterator[Store]:
        """The store in a file, which stays open for the next call."""
        if not self._memory:
            with closing(Store(path)) as store:
                yield store
            return
        if self._store is None or not self._store.is_at(path):
            self.close()
            self._store = Store(path)
        yield self._store

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def sequences(self, task: Task, given: CallInputs) -> Sequences:
        """The call's sequences."""
        for call in self._calls:
            if call.given.is_same(given):
                self._calls.remove(call)
                self._calls.append(call)
                return call.sequences
        made = Sequences.of(task, given.questions, given.slots, given.reference, given.read)
        if self._memory:
            self._calls = [*self._calls[1 - _CALLS :], _Call(given, made)]
        return made

    def book(self, parts: Parts, tokens: Index, make: Callable[[Tensor], Book]) -> tuple[Book, Index]:
        """Clean passes that have those of all these distinct sequences, and where each of them stands."""
        return self._passes.find(parts, tokens, make)
