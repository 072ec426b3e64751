"""The route of a row: its steps by name, each of which looks at the folder first and does only what is missing.

Takes  a row and the folder of the family.
Gives  `take_step`: the one function that workers run; what became of the step.
Never  does again what is there, whoever did it.

A step is a function in `ROUTE`. One that the package does not have yet is in `STEP_NAMES` alone, and is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from carrylens.arithmetic.exam_counts import parse_counts
from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.family.rows import ModelRow
from carrylens.arithmetic.family.run_state import StepEnd
from carrylens.arithmetic.layouts import PAPER_LAYOUT
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.exam_record import TEST
from carrylens.arithmetic.zoo.model_facts import saved_test, training_run
from carrylens.arithmetic.zoo.sources import SHIPPED, find_source
from carrylens.errors import CarryLensError
from carrylens.folders import MANIFEST, read_sealed, write_sealed
from carrylens.progress import Progress
from carrylens.training.checkpoint import CHECKPOINT
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.battery import run_battery
from carrylens.workflow.explaining import explain_source, settle_if_unsettled
from carrylens.workflow.judging import claims_beside, judge_map, save_claims
from carrylens.workflow.mapping import map_source, sufficient_map
from carrylens.workflow.testing import start_exam
from carrylens.workflow.training import train_model, training_plan

_KEEP_SECONDS = 30.0
_CHECKPOINT_SECONDS = 15.0
_NOT_TAKEN = (
    "map.json",
    "facts.jsonl",
    "facts.jsonl.gz",
    "battery.json",
    "claims.json",
    "alignment.json",
)  # what the steps after `test` make themselves


@dataclass(frozen=True)
class RowWork:
    """A row on its way: its folder, the model that is put into it, and whom to tell how far it is."""

    row: ModelRow
    folder: Path
    inserted: str | None
    threads: int
    progress: Progress

    def analysis(self) -> Analysis:
        """The row's model, and how it is analysed."""
        source = find_source(str(self.folder))
        return Analysis(source, self.folder, "cpu", self.threads, self.progress, self.row.quick, self.row.seed)


RowStep = Callable[[RowWork], StepEnd]


def take_step(work: RowWork, step: str) -> tuple[StepEnd, float]:
    """Take one step of a row, unless it is done; what became of it, and the seconds it took."""
    started = monotonic()
    if step not in ROUTE:
        return StepEnd.PASSED, 0.0
    return ROUTE[step](work), monotonic() - started


def _train(work: RowWork) -> StepEnd:
    row, folder = work.row, work.folder
    if (folder / MANIFEST).exists():
        _check_is_this_row(work)
        return StepEnd.THERE
    if not row.anew and _is_shipped(work):
        _take_shipped(row, folder)
        return StepEnd.DONE
    plan = training_plan(
        row.model, row.recipe, work.inserted, row.placement, layout=row.layout, population=row.population
    )
    train_model(
        plan,
        folder,
        "cpu",
        work.threads,
        _TrainingWatch(work.progress),
        _CHECKPOINT_SECONDS,
        resume=(folder / CHECKPOINT).exists(),
        restart=False,
    )
    return StepEnd.DONE


@dataclass(frozen=True)
class _TrainingWatch:
    progress: Progress

    def note(self, step: int, n_steps: int, _line: dict[str, object], /) -> None:
        self.progress("training", step, n_steps)

    def stop_wanted(self) -> bool:
        return False


def _is_shipped(work: RowWork) -> bool:
    # A shipped model of that name, which was made as the row says.
    folder = SHIPPED / work.row.model
    return (folder / MANIFEST).is_file() and not _differences(work, folder)


def _take_shipped(row: ModelRow, folder: Path) -> None:
    came = SHIPPED / row.model
    names = [path.name for path in sorted(came.iterdir()) if path.name not in (*_NOT_TAKEN, MANIFEST)]
    write_sealed(folder, {name: read_sealed(came, name) for name in names})


def _check_is_this_row(work: RowWork) -> None:
    if wrong := _differences(work, work.folder):
        raise CarryLensError(
            f"{work.folder} holds a model made otherwise than its row says: {wrong}. "
            "Give the row another `folder`, or remove that model."
        )


def _differences(work: RowWork, folder: Path) -> str:
    run, row = training_run(folder), work.row
    if not run:
        return ""  # brought from elsewhere: its name is checked where it is read
    inserted = None if work.inserted is None else find_source(work.inserted).name
    wanted = {"name": row.model, "kind": row.recipe, "inserted_from": inserted}
    wanted |= {"placement": row.placement} if inserted is not None else {}
    wanted |= {"layout": None if row.layout == PAPER_LAYOUT else row.layout}
    wanted |= {} if row.population is None else {"stream": row.population}
    real = {name: run.get(name) for name in wanted}
    return ", ".join(f"{name} {real[name]}, not {wanted[name]}" for name in wanted if real[name] != wanted[name])


def _test(work: RowWork) -> StepEnd:
    if _is_tested(work):
        return _held_to_bar(work, StepEnd.THERE)
    row = work.row
    exam = start_exam(str(work.folder), row.questions, row.per_class, "cpu", work.threads, row.of)
    kept_at = monotonic()
    for _ in exam.sit():
        work.progress("testing", exam.asked, exam.total)
        if monotonic() - kept_at >= _KEEP_SECONDS:
            with suppress(CarryLensError):  # no reason to stop
                exam.keep()
            kept_at = monotonic()
    exam.save()
    exam.forget()
    return _held_to_bar(work, StepEnd.DONE)


def _is_tested(work: RowWork) -> bool:
    # As many questions of every part as the row asks for, of these weights.
    row, source = work.row, find_source(str(work.folder))
    test = saved_test(work.folder)
    if test is None or test["sha256"] != source.sha256 or not isinstance(source.task, ArithmeticTask):
        return False
    asked = {(part["name"], part["operation"]): part["asked"] for part in test["parts"]}
    parts = exam_parts(source.task, row.questions, row.per_class, of=parse_counts(row.of))
    return all(asked.get((part.name, part.label), 0) >= part.count for part in parts)


def _held_to_bar(work: RowWork, end: StepEnd) -> StepEnd:
    test = saved_test(work.folder)
    assert test is not None, TEST
    return StepEnd.MISSED if work.row.accurate and test["meets_bar"] is False else end


def _map(work: RowWork) -> StepEnd:
    analysis = work.analysis()
    if sufficient_map(analysis):
        return StepEnd.THERE
    map_source(analysis)
    return StepEnd.DONE


def _settle(work: RowWork) -> StepEnd:
    settle_if_unsettled(work.analysis())
    return StepEnd.DONE


def _judge(work: RowWork) -> StepEnd:
    judgement = judge_map(work.folder, None)
    path = claims_beside(work.folder, None)
    if path.is_file() and path.read_bytes() == judgement.to_json().encode():
        return StepEnd.THERE
    save_claims(judgement, path, seal=True)
    return StepEnd.DONE


def _battery(work: RowWork) -> StepEnd:
    run_battery(work.analysis())
    return StepEnd.DONE


def _page(work: RowWork) -> StepEnd:
    explain_source(work.analysis())
    return StepEnd.DONE


ROUTE: Mapping[str, RowStep] = {
    "train": _train,
    "test": _test,
    "map": _map,
    "settle": _settle,
    "judge": _judge,
    "battery": _battery,
    "page": _page,
}
"""The steps that there are. To add one: a function, and a line here; its place in the order is in `STEP_NAMES`."""
