"""Waves: many calls of the engine as one, so that rows of different calls fill its batches together.

Takes  calls (edits on questions with their sources), or steps that ask for calls one after another.
Gives  what each call's rows answer; what was computed once is not computed again, in this process or from a store.
Never  lets the order or the number of calls change an outcome but in rounding.

1. A line is one edit on all questions of a call. Lines that are known are looked up.
2. Calls are taken together as long as their clean passes fit into memory, and then stay together; their missing lines
   are one run.
3. The lines of each run are put into the store in one transaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from carrylens.interventions.clean import sequence_bytes
from carrylens.interventions.edits import Edit
from carrylens.interventions.engine import Engine, RowProgress
from carrylens.interventions.outcomes import Tokens
from carrylens.interventions.parts import Parts
from carrylens.interventions.sequences import Index
from carrylens.tasks.batches import Batch, joined

_HELD = 128 << 20  # bytes of clean passes of one run
_KEPT = 8  # runs whose questions are remembered
_MEANING = "wave 1"  # to be changed when the same line comes to mean something else

Reached = TypeVar("Reached")


@dataclass(frozen=True, eq=False)
class Call:
    """Every edit on every question; `sources` has for each slot as many questions, `reference` is what fills need."""

    edits: tuple[Edit, ...]
    questions: Batch
    sources: tuple[Batch, ...] = ()
    reference: Batch | None = None

    @property
    def inputs(self) -> tuple[Batch, ...]:
        """The questions, then the sources."""
        return (self.questions, *self.sources)

    @property
    def given(self) -> tuple[Batch, ...]:
        """All that its answers depend on, besides the edits."""
        return self.inputs if self.reference is None else (*self.inputs, self.reference)


@dataclass(frozen=True, eq=False)
class Answered:
    """The tokens that a call's rows answer: [edit, question, answer]; untouched and right ones without an edit."""

    tokens: Tokens
    right: Tokens
    clean_tokens: Tokens

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Where the token is another than without the edit."""
        return self.tokens != self.clean_tokens


Steps = Generator[Sequence[Call], Sequence[Answered], Reached]
"""Work that asks for calls and goes on with what they answered."""


_Key = tuple[int, ...]  # the identities of a call's questions and sources


@dataclass(frozen=True, eq=False)
class _Asked:
    """A call under way: its inputs' key, the right answers, and the keys of its untouched answers and of its lines."""

    call: Call
    key: _Key
    right: Tokens
    clean: bytes
    lines: list[bytes]


class Waves:
    """Runs calls on one engine, whose model must not change meanwhile. `store` keeps what was computed."""

    def __init__(self, engine: Engine, store: Path | None = None, memory: int = _HELD) -> None:
        self._engine, self._path, self._memory = engine, store, memory
        self._known: dict[bytes, bytes] = {}
        self._texts: dict[Edit, bytes] = {}
        self._asked: dict[_Key, tuple[Call, Tokens, bytes]] = {}
        self._bins: list[list[Call]] = []
        self._bin_of: dict[_Key, int] = {}
        self._together: dict[int, tuple[Batch, tuple[Batch, ...]]] = {}
        self._digest = engine.digest() if store is not None else b""

    def run(self, calls: Sequence[Call], watch: RowProgress | None = None) -> list[Answered]:
        """What each call answers. `watch` is told of the rows of each run."""
        asked = [self._prepared(call) for call in calls]
        for some in self._chunks(asked):
            self._recall(some)
            self._compute(some, watch)
        return [self._answered(each) for each in asked]

    def fitting(self, n_questions: int) -> int:
        """How many calls of so many questions, each with its source, have clean passes that fit into memory."""
        return max(1, self._memory // max(1, 2 * n_questions * sequence_bytes(Parts(self._engine.model))))

    def together(
        self, steps: Sequence[Steps[Reached]], watch: Callable[[int, int], None] | None = None
    ) -> list[Reached]:
        """What each of the steps comes to; all that wait for calls have them run together."""
        done: dict[int, Reached] = {}
        waiting: dict[int, Sequence[Call]] = {}

        def go_on(at: int, answered: Sequence[Answered] | None) -> None:
            try:
                waiting[at] = next(steps[at]) if answered is None else steps[at].send(answered)
            except StopIteration as end:
                done[at] = end.value
                if watch is not None:
                    watch(len(done), len(steps))

        for at in range(len(steps)):
            go_on(at, None)
        while waiting:
            asked, waiting = waiting, {}
            answered = iter(self.run([call for calls in asked.values() for call in calls]))
            for at, calls in asked.items():
                go_on(at, [next(answered) for _ in calls])
        return [done[at] for at in range(len(steps))]

    def _prepared(self, call: Call) -> _Asked:
        key = _key(call)
        if key not in self._asked:  # the call is kept, so no other object gets these ids
            task = self._engine.task
            right = task.output_ids(call.questions)
            read = [task.token_ids(some) for some in call.given]
            digest = hashlib.blake2b(self._digest + _MEANING.encode(), digest_size=16)
            for tokens in read:
                digest.update(f"{tokens.dtype.str} {tokens.shape} ".encode() + np.ascontiguousarray(tokens).tobytes())
            self._asked[key] = (call, right, digest.digest())
        _, right, start = self._asked[key]
        lines = [hashlib.blake2b(start + self._text(edit), digest_size=16).digest() for edit in call.edits]
        return _Asked(call, key, right, start, lines)

    def _text(self, edit: Edit) -> bytes:
        if edit not in self._texts:
            self._texts[edit] = edit.to_json().encode()
        return self._texts[edit]

    def _chunks(self, asked: Sequence[_Asked]) -> Iterator[list[_Asked]]:
        # Calls whose inputs were run together before are again, so that their clean passes are still there. New ones
        # are taken with others of their kind, as many as fit into memory.
        size = sequence_bytes(Parts(self._engine.model))
        for kind in dict.fromkeys(map(_kind, asked)):
            new = {each.key: each for each in asked if _kind(each) == kind and each.key not in self._bin_of}
            n_bytes, some = 0, list[_Asked]()
            for each in new.values():
                mine = size * sum(map(len, each.call.inputs))
                if some and n_bytes + mine > self._memory:
                    self._fill_bin(some)
                    n_bytes, some = 0, []
                some.append(each)
                n_bytes += mine
            if some:
                self._fill_bin(some)
        chunks: dict[int, list[_Asked]] = {}
        for each in asked:
            chunks.setdefault(self._bin_of[each.key], []).append(each)
        yield from chunks.values()

    def _fill_bin(self, asked: Sequence[_Asked]) -> None:
        self._bins.append([each.call for each in asked])
        self._bin_of |= {each.key: len(self._bins) - 1 for each in asked}

    def _recall(self, asked: Sequence[_Asked]) -> None:
        keys = {key for each in asked for key in (each.clean, *each.lines)} - self._known.keys()
        if self._path is not None and keys:
            with self._engine.stored(self._path) as store:
                self._known |= store.known(sorted(keys))

    def _compute(self, asked: Sequence[_Asked], watch: RowProgress | None) -> None:
        together, questions, sources = self._joined(asked)
        starts, end = {}, 0
        for call in together:
            starts[_key(call)] = end
            end += len(call.questions)
        lines: dict[bytes, tuple[Edit, Index]] = {}
        for each in asked:
            rows = np.arange(starts[each.key], starts[each.key] + len(each.right))
            missing = (pair for pair in zip(each.call.edits, each.lines, strict=True) if pair[1] not in self._known)
            lines |= {line: (edit, rows) for edit, line in missing}
        if not lines:
            if watch is not None:
                n_rows = sum(len(each.lines) * len(each.right) for each in asked)
                watch(n_rows, n_rows)
            return
        edits = {edit: at for at, edit in enumerate(dict.fromkeys(edit for edit, _ in lines.values()))}
        edit_of = np.concatenate([np.full(len(rows), edits[edit]) for edit, rows in lines.values()])
        question_of = np.concatenate([rows for _, rows in lines.values()])
        given = {"reference": asked[0].call.reference, "watch": watch}
        found = self._engine.run_rows(list(edits), (edit_of, question_of), questions, sources, **given)  # type: ignore[arg-type]
        tokens = np.split(found.tokens, np.cumsum([len(rows) for _, rows in lines.values()])[:-1])
        new = {line: some.tobytes() for line, some in zip(lines, tokens, strict=True)}
        for each in asked:
            start = starts[each.key]
            new[each.clean] = found.clean_tokens[start : start + len(each.right)].tobytes()
        self._known |= new
        if self._path is not None:
            with self._engine.stored(self._path) as store:
                store.add(new.items())

    def _joined(self, asked: Sequence[_Asked]) -> tuple[Sequence[Call], Batch, tuple[Batch, ...]]:
        # All calls of the bin, if most of it is needed: the very same objects as before, whose clean passes the engine
        # may still have. Else just those that are.
        number = self._bin_of[asked[0].key]
        needed = {each.key: each.call for each in asked}
        if 2 * len(needed) < len(self._bins[number]):
            return list(needed.values()), *_sides(list(needed.values()))
        if number not in self._together:
            self._together = dict(list(self._together.items())[1 - _KEPT :]) | {number: _sides(self._bins[number])}
        return self._bins[number], *self._together[number]

    def _answered(self, each: _Asked) -> Answered:
        shape, kind = each.right.shape, self._engine.token_type
        tokens = [np.frombuffer(self._known[line], dtype=kind).reshape(shape) for line in each.lines]
        clean = np.frombuffer(self._known[each.clean], dtype=kind).reshape(shape)
        return Answered(np.stack(tokens) if tokens else np.empty((0, *shape), dtype=kind), each.right, clean)


def _kind(asked: _Asked) -> tuple[int, int]:
    # Calls of one kind can be run together.
    return len(asked.call.sources), id(asked.call.reference)


def _key(call: Call) -> _Key:
    return tuple(map(id, call.given))


def _sides(calls: Sequence[Call]) -> tuple[Batch, tuple[Batch, ...]]:
    # The questions of all calls, and the sources of each slot.
    sides = zip(*(call.inputs for call in calls), strict=True)
    questions, *sources = (some[0] if len(some) == 1 else joined(some) for some in sides)
    return questions, tuple(sources)
