"""Waves: many calls of the engine as one, so that rows of different calls fill its batches together.

Takes  calls (edits on questions with their sources), or steps that ask for calls one after another.
Gives  what each call's rows answer; what was computed once is not computed again, in this process or from a store.
Never  lets the order or the number of calls change an outcome but in rounding.

1. A line is one edit on all questions of a call. Lines that are known are looked up.
2. Calls are taken together as long as their clean passes fit into memory; their missing lines are one run.
3. The lines of each run are put into the store in one transaction.
4. Steps are begun as long as the questions of those under way fit into memory, so that a step that goes over the same
   questions again finds their clean passes there.
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

_HELD = 128 << 20  # bytes of clean passes of one run, where the engine holds none
_MEANING = "wave 1"  # to be changed when the same line comes to mean something else

Reached = TypeVar("Reached")


@dataclass(frozen=True, eq=False)
class Call:
    """Every edit on every question; `sources` has for each slot as many questions, `reference` is what fills need.

    Where `output` names one, by its place among all, the answer at others is not to be used.
    """

    edits: tuple[Edit, ...]
    questions: Batch
    sources: tuple[Batch, ...] = ()
    reference: Batch | None = None
    output: int | None = None

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

    def __init__(self, engine: Engine, store: Path | None = None, memory: int | None = None) -> None:
        self._engine, self._path = engine, store
        self._memory = memory or engine.hold // 2 or _HELD
        self._sequence_bytes = sequence_bytes(Parts(engine.model))
        self._known: dict[bytes, bytes] = {}
        self._is_alone: bool | None = None
        self._texts: dict[Edit, bytes] = {}
        self._asked: dict[_Key, tuple[Call, Tokens, bytes]] = {}
        self._digest = engine.digest() if store is not None else b""

    def run(self, calls: Sequence[Call], watch: RowProgress | None = None) -> list[Answered]:
        """What each call answers. `watch` is told of the rows of each run."""
        asked = [self._prepared(call) for call in calls]
        for some in self._chunks(asked):
            self._recall(some)
            self._compute(some, watch)
        return [self._answered(each) for each in asked]

    def together(
        self, steps: Sequence[Steps[Reached]], watch: Callable[[int, int], None] | None = None
    ) -> list[Reached]:
        """What each of the steps comes to; all that wait for calls have them run together."""
        done: dict[int, Reached] = {}
        waiting: dict[int, Sequence[Call]] = {}
        n_begun = 0

        def go_on(at: int, answered: Sequence[Answered] | None) -> None:
            try:
                waiting[at] = next(steps[at]) if answered is None else steps[at].send(answered)
            except StopIteration as end:
                done[at] = end.value
                if watch is not None:
                    watch(len(done), len(steps))

        while waiting or n_begun < len(steps):
            n_bytes = sum(self._size(call) for calls in waiting.values() for call in calls)
            while n_begun < len(steps) and n_bytes <= self._memory:
                go_on(n_begun, None)
                n_bytes += sum(self._size(call) for call in waiting.get(n_begun, ()))
                n_begun += 1
            asked, waiting = waiting, {}
            answered = iter(self.run([call for calls in asked.values() for call in calls]))
            for at, calls in asked.items():
                go_on(at, [next(answered) for _ in calls])
        return [done[at] for at in range(len(steps))]

    def _size(self, call: Call) -> int:
        return self._sequence_bytes * sum(map(len, call.inputs))

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
        end = b"" if call.output is None else f" output {call.output}".encode()
        lines = [hashlib.blake2b(start + self._text(edit) + end, digest_size=16).digest() for edit in call.edits]
        return _Asked(call, key, right, start, lines)

    def _text(self, edit: Edit) -> bytes:
        if edit not in self._texts:
            self._texts[edit] = edit.to_json().encode()
        return self._texts[edit]

    def _chunks(self, asked: Sequence[_Asked]) -> Iterator[list[_Asked]]:
        # Calls of one kind, as many as fit into memory; those on the same questions side by side.
        order = {key: at for at, key in enumerate(dict.fromkeys(each.key for each in asked))}
        for kind in dict.fromkeys(map(_kind, asked)):
            n_bytes, some = 0, list[_Asked]()
            for each in sorted((one for one in asked if _kind(one) == kind), key=lambda one: order[one.key]):
                mine = 0 if some and some[-1].key == each.key else self._size(each.call)
                if some and n_bytes + mine > self._memory:
                    yield some
                    n_bytes, some = 0, []
                some.append(each)
                n_bytes += mine
            if some:
                yield some

    def _recall(self, asked: Sequence[_Asked]) -> None:
        if self._path is None or self._is_alone:
            return
        with self._engine.stored(self._path) as store:
            if self._is_alone is None:  # of a store that was empty all that is in it later is known here
                self._is_alone = store.is_empty()
            keys = {key for each in asked for key in (each.clean, *each.lines) if key not in self._known}
            self._known |= store.known(sorted(keys))

    def _compute(self, asked: Sequence[_Asked], watch: RowProgress | None) -> None:
        new = [each for each in asked if not self._known.keys() >= {each.clean, *each.lines}]
        if not new:
            if watch is not None:
                n_rows = sum(len(each.lines) * len(each.right) for each in asked)
                watch(n_rows, n_rows)
            return
        distinct = {each.key: each.call for each in new}
        questions, sources = _sides(list(distinct.values()))
        ends = np.cumsum([len(call.questions) for call in distinct.values()])
        rows_of = {
            key: np.arange(end - len(call.questions), end)
            for (key, call), end in zip(distinct.items(), ends, strict=True)
        }
        lines: dict[bytes, tuple[tuple[Edit, int | None], Index]] = {}
        for each in new:
            for edit, line in zip(each.call.edits, each.lines, strict=True):
                if line not in self._known or each.clean not in self._known:
                    lines[line] = ((edit, each.call.output), rows_of[each.key])
        edits = {edit: at for at, edit in enumerate(dict.fromkeys(edit for edit, _ in lines.values()))}
        edit_of = np.concatenate([np.full(len(rows), edits[edit]) for edit, rows in lines.values()])
        question_of = np.concatenate([rows for _, rows in lines.values()])
        found = self._engine.run_rows(
            [edit for edit, _ in edits],
            (edit_of, question_of),
            questions,
            sources,
            reference=new[0].call.reference,
            outputs=[output for _, output in edits],
            watch=watch,
        )
        tokens = np.split(found.tokens, np.cumsum([len(rows) for _, rows in lines.values()])[:-1])
        made = {line: some.tobytes() for line, some in zip(lines, tokens, strict=True)}
        made |= {each.clean: found.clean_tokens[rows_of[each.key]].tobytes() for each in new}
        self._known |= made
        if self._path is not None:
            with self._engine.stored(self._path) as store:
                store.add(made.items())

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
