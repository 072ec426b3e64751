"""The engine: answers for edits x questions, from one planner.

Takes  a model, edits, questions, and where edits need them sources and reference questions.
Gives  `Outcomes`.
Never  keeps anything of one call for the next, unless it is told to hold clean passes.

1. Check and plan every edit.
2. Go through the questions in blocks that fit into memory; run each distinct sequence of a block clean, once.
3. Sort the block's rows by footprint, then by edit; run neighbours together from the first place they can change.
   Rows of small footprints that begin at one place are run together.
4. Rows that a store already has are not run; new ones are put in it after every batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.interventions.call_cache import CallCache, CallInputs
from carrylens.interventions.checks import check_edit
from carrylens.interventions.clean import Book, Means, clean_book, reference_means, sequence_bytes
from carrylens.interventions.edited_pass import EditedPass, Segment
from carrylens.interventions.edits import Edit, Fill, slots_of
from carrylens.interventions.fills import Origin, Rows
from carrylens.interventions.keys import clean_keys, row_keys
from carrylens.interventions.limits import batch_limit, memory_limit
from carrylens.interventions.outcomes import Outcomes, RowAnswers
from carrylens.interventions.parts import Parts
from carrylens.interventions.plan import EditPlan, Footprint, batch_rows, footprint_groups, plan_edit, route
from carrylens.interventions.records import Records, Request, token_type
from carrylens.interventions.sequences import Index, Sequences, fills_of, origins_of
from carrylens.interventions.store import Store
from carrylens.interventions.stored_rows import StoredRows
from carrylens.model.pieces import by_threads
from carrylens.model.transformer import Transformer
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.task import Task

RowProgress = Callable[[int, int], None]
"""Called with how many rows are done and how many there are."""

_MEMORY = 256 << 20  # bytes of clean passes held at a time
_PLACES = 2048  # rows times positions in one batch, so that an MLP's neurons stay in the cache
_DEVICE_PLACES = 1 << 17  # off the CPU, where larger is faster


@dataclass(frozen=True)
class _Job:
    """All that one call works with."""

    plans: Sequence[EditPlan]
    edit_of: Index
    question_of: Index
    sequences: Sequences
    origins: Mapping[Origin, Index]
    means: Means | None
    classes: Index
    records: Records


class Engine:
    """Runs edits on one model, which is for one task: the one it was loaded with, unless another is given.

    It is a context manager: leaving it closes the store. `memory` bounds the bytes of clean passes held at a time,
    though one question's are always held; `places` bounds the rows times positions of one batch, though one row is
    always run. Neither changes an outcome but in rounding. Where they are not given, the environment may set them.
    `hold` keeps as many bytes of clean passes from call to call, for searches that use the same questions over and
    over, and the store open: the model must not change meanwhile.
    """

    def __init__(
        self,
        model: Transformer,
        task: Task | None = None,
        *,
        memory: int | None = None,
        places: int | None = None,
        hold: int = 0,
    ) -> None:
        most = memory_limit()
        self._model, self._memory = model, memory or most or _MEMORY
        self._task = _task_of(model, task)
        on_cpu = model.unembed.W_U.device.type == "cpu"
        self._places = places or batch_limit() or (_PLACES if on_cpu else _DEVICE_PLACES)
        self.hold = hold if most is None else min(hold, most)
        self._cache = CallCache(self.hold)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store that is held open, if any."""
        self._cache.close()

    @property
    def task(self) -> Task:
        """What the model is for."""
        return self._task

    def stored(self, path: Path) -> AbstractContextManager[Store]:
        """The store in a file, which stays open if clean passes are held."""
        return self._cache.store(path)

    def digest(self) -> bytes:
        """A hash of the model's shape and weights."""
        return self._cache.digest(self._model)

    @property
    def token_type(self) -> np.dtype[np.signedinteger]:
        """How answers are kept."""
        return token_type(self._model.config)

    @property
    def model(self) -> Transformer:
        """The model whose insides are edited."""
        return self._model

    def run(
        self,
        edits: Sequence[Edit],
        questions: Batch,
        sources: Batch | Sequence[Batch] = (),
        *,
        reference: Batch | None = None,
        read: Columns | None = None,
        logits: bool = False,
        keep: Sequence[str] = (),
        store: Path | None = None,
        watch: RowProgress | None = None,
    ) -> Outcomes:
        """Every edit on every question: axes edit, question, answer.

        `sources` has for each slot as many questions as are given: question i takes from source i. The model reads each
        question with its right answer, or with `read` instead; sources are read with their right answers. `keep` names
        activations to give back.
        """
        n_edits, n_questions = len(edits), len(questions)
        edit_of, question_of = (index.ravel() for index in np.indices((n_edits, n_questions)))
        given = CallInputs(questions, _slots(sources), reference, read)
        records = self._run(edits, (edit_of, question_of), given, Request(logits, tuple(keep)), store, watch)
        return self._named(records.outcomes(("edit", "question", "answer"), (n_edits, n_questions)))

    def run_each(
        self,
        edits: Sequence[Edit],
        questions: Batch,
        sources: Batch | Sequence[Batch] = (),
        *,
        reference: Batch | None = None,
        read: Columns | None = None,
        logits: bool = False,
        keep: Sequence[str] = (),
        store: Path | None = None,
        watch: RowProgress | None = None,
    ) -> Outcomes:
        """Edit i on question i: axes question, answer."""
        if len(edits) != len(questions):
            raise CarryLensError(f"{len(edits)} edits do not go with {len(questions)} questions. Give one for each.")
        distinct = {edit: place for place, edit in enumerate(dict.fromkeys(edits))}
        edit_of = np.array([distinct[edit] for edit in edits], dtype=np.int64)
        given = CallInputs(questions, _slots(sources), reference, read)
        rows, request = (edit_of, np.arange(len(questions))), Request(logits, tuple(keep))
        records = self._run(list(distinct), rows, given, request, store, watch)
        return self._named(records.outcomes(("question", "answer"), (len(questions),)))

    def run_rows(
        self,
        edits: Sequence[Edit],
        rows: tuple[Index, Index],
        questions: Batch,
        sources: Sequence[Batch] = (),
        *,
        reference: Batch | None = None,
        outputs: Sequence[int | None] = (),
        watch: RowProgress | None = None,
    ) -> RowAnswers:
        """For each row, by its edit and its question among those given, the answer: axes row, answer.

        `outputs` names for an edit the one output that is wanted; others may be given as if nothing was replaced.
        """
        given, places = CallInputs(questions, tuple(sources), reference, None), self._task.layout.read_positions
        until = [None if output is None else places[output] for output in outputs]
        records = self._run(edits, rows, given, Request(answers_alone=True), None, watch, until)
        return RowAnswers(*(np.ascontiguousarray(some["tokens"]) for some in (records.rows, records.clean)))

    def _named(self, outcomes: Outcomes) -> Outcomes:
        layout = self._task.layout
        return replace(outcomes, vocabulary=layout.output_vocabulary or layout.vocabulary)

    @torch.inference_mode()
    def _run(
        self,
        edits: Sequence[Edit],
        rows: tuple[Index, Index],
        given: CallInputs,
        request: Request,
        path: Path | None,
        watch: RowProgress | None,
        until: Sequence[int | None] = (),
    ) -> Records:
        parts = Parts(self._model)
        classes = _check(given, edits, parts, self._task)
        sequences = self._cache.sequences(self._task, given)
        origins = {origin: sequences.origin(origin) for origin in set().union(*map(origins_of, edits))}
        records = Records.blank(request, parts, sequences.right, len(rows[0]))
        with ExitStack() as stack:
            todo, unasked, shelf = np.arange(len(rows[0])), np.arange(len(sequences.questions)), None
            if path is not None:
                digest, layout = self._cache.digest(self._model), records.layout
                keys = row_keys(digest, edits, rows, sequences, origins, layout), clean_keys(digest, sequences, layout)
                shelf = StoredRows(stack.enter_context(self._cache.store(path)), records, *keys)
                todo, unasked = shelf.restore()
            n_rows = len(rows[0])
            done = n_rows - len(todo)
            if watch is not None and done:
                watch(done, n_rows)
            last = until or [None] * len(edits)
            plans = [plan_edit(edit, parts.config, stop) for edit, stop in zip(edits, last, strict=True)]
            records.idle[:] = _idle(plans, rows, sequences.questions, origins, parts)
            if request.answers_alone:  # what can do nothing need not be run
                todo = np.flatnonzero(~records.idle)
                done = n_rows - len(todo)
            means = self._means(edits, given.reference, sequences, parts) if len(todo) else None
            job = _Job(plans, *rows, sequences, origins, means, classes, records)
            for batch, asked in self._batches(job, todo, unasked, parts):
                done += len(batch)
                if shelf is not None:
                    shelf.add(batch, asked)
                if watch is not None and len(batch):
                    watch(done, n_rows)
            if request.answers_alone:
                records.note_idle(idle := np.flatnonzero(records.idle), rows[1][idle])
        return records

    def _means(
        self, edits: Sequence[Edit], reference: Batch | None, sequences: Sequences, parts: Parts
    ) -> Means | None:
        wanted = set().union(*map(fills_of, edits))
        if reference is None or not {Fill.MEAN, Fill.CLASS_MEAN} & wanted:
            return None
        code = self._task.classes(reference).code.astype(np.int64) if Fill.CLASS_MEAN in wanted else None
        classes = None if code is None else torch.from_numpy(code)
        return reference_means(parts, sequences.tokens(sequences.reference), classes, len(self._task.class_names))

    def _batches(self, job: _Job, todo: Index, unasked: Index, parts: Parts) -> Iterator[tuple[Index, Index]]:
        # Runs every row to be done and gives the rows just run, and the questions just run clean.
        for block in self._blocks(job, np.union1d(job.question_of[todo], unasked), parts):
            wanted = np.unique(
                np.concatenate([each[block] for each in (job.sequences.questions, *job.origins.values())])
            )
            where = np.full(len(job.sequences.distinct), -1)
            book, where[wanted] = self._cache.book(parts, job.sequences.distinct[wanted], partial(_book_of, parts))
            asked = np.intersect1d(block, unasked)
            job.records.note_clean(asked, book.logits[torch.from_numpy(where[job.sequences.questions[asked]])])
            yield asked[:0], asked
            rows = todo[np.isin(job.question_of[todo], block)]
            run = partial(self._run_batch, job, book, where, parts)
            batches = self._split(rows, job, parts)
            for batch in by_threads(run, batches) if parts.device.type == "cpu" else map(run, batches):
                yield batch, asked[:0]
            del book, run  # before the next block's is made: memory holds one at a time

    def _blocks(self, job: _Job, questions: Index, parts: Parts) -> list[Index]:
        # A question brings its own sequence and one from each origin, if they all differ.
        size = max(1, self._memory // ((1 + len(job.origins)) * sequence_bytes(parts)))
        return [questions[at : at + size] for at in range(0, len(questions), size)]

    def _split(self, rows: Index, job: _Job, parts: Parts) -> Iterator[tuple[Index, Footprint]]:
        # Batches of one footprint; what is left of footprints from one place on is run together, as if each had all.
        n_rows = np.bincount(job.edit_of[rows], minlength=len(job.plans))
        sizes = dict[Footprint, int]()
        for plan, count in zip(job.plans, n_rows.tolist(), strict=True):
            sizes[plan.footprint] = sizes.get(plan.footprint, 0) + count
        groups = list(footprint_groups(sizes, parts.config, self._places))
        place = {each: at for at, (some, _) in enumerate(groups) for each in some}
        group_of = np.array([place.get(plan.footprint, -1) for plan in job.plans], dtype=np.int64)
        rows = rows[np.lexsort((job.question_of[rows], job.edit_of[rows], group_of[job.edit_of[rows]]))]
        of_row = group_of[job.edit_of[rows]]
        for some in np.split(rows, np.flatnonzero(np.diff(of_row)) + 1) if len(rows) else []:
            footprint = groups[group_of[job.edit_of[some[0]]]][1]
            size = batch_rows(footprint, parts.config, self._places)
            yield from ((some[at : at + size], footprint) for at in range(0, len(some), size))

    def _run_batch(self, job: _Job, book: Book, where: Index, parts: Parts, piece: tuple[Index, Footprint]) -> Index:
        batch, footprint = piece
        edit_of, question_of, device = job.edit_of[batch], job.question_of[batch], parts.device
        cuts = [0, *(np.flatnonzero(np.diff(edit_of)) + 1), len(batch)]
        segments = [Segment(job.plans[edit_of[start]], slice(int(start), int(stop))) for start, stop in pairwise(cuts)]

        def in_book(entries: Index) -> Tensor:
            return torch.from_numpy(where[entries]).to(device)

        origins: dict[Origin, Tensor] = {
            origin: in_book(job.origins[origin][question_of])
            for origin in {origin for segment in segments for origin in origins_of(segment.plan.edit)}
        }
        classes = torch.from_numpy(job.classes[question_of]).to(device)
        own = in_book(job.sequences.questions[question_of])
        rows = Rows(book, job.means, own, origins, classes)
        edited = EditedPass(parts, rows, segments, footprint)
        job.records.note(batch, question_of, edited, rows)
        return batch


def _task_of(model: Transformer, task: Task | None) -> Task:
    found = task or model.task
    if found is None:
        raise CarryLensError("It is not known what this model is for. Give its task: Engine(model, task).")
    layout, config = found.layout, model.config
    if (layout.n_positions, layout.reads) != (config.n_ctx, config.reads):
        raise CarryLensError(
            f"A layout of {layout.n_positions} positions, read at {layout.reads.start} to {layout.reads.stop - 1}, "
            f"does not fit a model of {config.n_ctx}, read at {config.reads.start} to {config.reads.stop - 1}. "
            "Give its own task."
        )
    if layout.read_positions != tuple(layout.reads):
        raise CarryLensError(
            "The model's outputs are not read at neighbouring positions. Give the engine a task in which they are."
        )
    return found


def _check(given: CallInputs, edits: Sequence[Edit], parts: Parts, task: Task) -> Index:
    # Refuse what does not fit the model or each other; gives the class of every question where that matters.
    count = len(given.questions)
    if not edits or not count:
        raise CarryLensError(f"{len(edits)} edits on {count} questions were given. Give at least one of each.")
    for some in (given.questions, *given.slots, *(() if given.reference is None else (given.reference,))):
        task.causal.check_batch(some)
    if any(len(slot) != count for slot in given.slots):
        raise CarryLensError(
            f"{count} questions are given, but a slot has {', '.join(str(len(slot)) for slot in given.slots)} "
            "sources. Give one source for each question."
        )
    if given.reference is not None and not len(given.reference):
        raise CarryLensError("The reference has no questions. Give some, or leave it out.")
    for edit in dict.fromkeys(edits):
        check_edit(edit, parts.config, len(given.slots), given.reference is not None)
    if given.reference is None or not any(Fill.CLASS_MEAN in fills_of(edit) for edit in edits):
        return np.zeros(count, dtype=np.int64)
    own, there = task.classes(given.questions), task.classes(given.reference)
    if absent := sorted({own.names[code] for code in set(own.code.tolist()) - set(there.code.tolist())}):
        raise CarryLensError(
            f"The reference has no question of class {', '.join(absent)}, which the questions have. Add some of it."
        )
    return own.code.astype(np.int64)


def _idle(
    plans: Sequence[EditPlan], rows: tuple[Index, Index], own: Index, origins: Mapping[Origin, Index], parts: Parts
) -> NDArray[np.bool_]:
    # Rows whose edit reaches no output, or takes nothing but what the question itself has.
    idle = np.zeros((len(plans), len(own)), dtype=bool)
    same: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    for at, plan in enumerate(plans):
        if not route(plan.footprint, parts.config)[1]:
            idle[at] = True
            continue
        slots = [slots_of(change) for change in plan.edit.changes]
        for some in slots:
            if some and some not in same:
                first, *other = (origins[Fill.SOURCE, slot] for slot in some)
                same[some] = first == (other[0] if other else own)
        if all(slots):
            idle[at] = np.logical_and.reduce([same[some] for some in slots])
    return np.asarray(idle[rows])


def _book_of(parts: Parts, tokens: Tensor) -> Book:
    return clean_book(parts, tokens)


def _slots(sources: Batch | Sequence[Batch]) -> tuple[Batch, ...]:
    return (sources,) if isinstance(sources, Batch) else tuple(sources)
