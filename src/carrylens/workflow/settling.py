"""Settling: one site for each variable, rivals fitted just as hard, and more questions until a verdict is decided.

Takes  an analysis, and how many seconds it may take.
Gives  the measured alignment and the judgement that it comes to; `alignment.json`, sealed where the folder is.
Never  counts questions that sites were chosen with, or looks often without saying so. Never measures again what a saved
       alignment of these weights says as well, unless it is told to.

1. Fit the hypothesis and its rivals; measure them on held-out questions.
2. While the verdict is open for want of questions, draw twice as many, and judge by intervals that are as much wider as
   there were looks.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from carrylens.arithmetic.hypotheses import aligned_rivals, hypothesis_called, mixture_where, usual_for
from carrylens.arithmetic.hypotheses import weighted_sum as weighted_sum_of
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.claims.declared_hypotheses import hypotheses_of
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.own_files import own_file
from carrylens.claims.run_verdict import RunJudgement, needs_more_questions, run_judgement, settle_command
from carrylens.discovery.alignment.aligner import AlignSettings
from carrylens.discovery.alignment.contest import MOST_LOOKS, Contest, ContestModel, contest_for, population_name
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.discovery.alignment.kept_fits import KeptFits
from carrylens.errors import CarryLensError, quote
from carrylens.files import working
from carrylens.folders import add_sealed
from carrylens.steps import read_made
from carrylens.tasks.task import Task
from carrylens.workflow.analysis import Analysis

UNDER_WAY = "settling"
"""What the file of the fits so far is called, with the alignment's own name behind it."""
BUDGET = 600
"""Seconds after which no further look begins."""
_LEFT_OUT = ("with binary carries", "weighted-sum on")  # a recoding of the same, and mixtures that a deviation brings


@dataclass(frozen=True)
class Settlement:
    """The file of the alignment, the alignment, and what it comes to; whether it was there already."""

    path: Path
    alignment: MeasuredAlignment
    judgement: RunJudgement
    is_known: bool = False


def settle_source(analysis: Analysis, budget: float = BUDGET, algorithm: str | None = None) -> Settlement:
    """What is measured now, or was saved before with these settings or on more questions."""
    stated = hypothesis_of(analysis, algorithm)
    path = alignment_path(analysis, None if _is_usual(analysis, algorithm) else stated.name)
    kept = KeptFits(path.with_name(path.name.replace("alignment", UNDER_WAY, 1)), analysis.about)
    with working(analysis.folder):
        kept.sweep(path)
        return _settled_before(analysis, budget, algorithm) or _settle(analysis, budget, algorithm, path, kept)


def _settled_before(analysis: Analysis, budget: float, algorithm: str | None) -> Settlement | None:
    # Of a hypothesis or a task of the user's own a file keeps the name alone, and what is declared may have changed.
    if analysis.restart or analysis.hypothesis is not None or not isinstance(analysis.source.task, ArithmeticTask):
        return None
    stated = hypothesis_of(analysis, algorithm)
    for place in analysis.places:
        path = place / (ALIGNMENT if algorithm is None else own_file("alignment", stated.name, [place]))
        with suppress(CarryLensError):  # what cannot be read is measured anew
            content = read_made(place, path.name, "carrylens settle")
            found = None if content is None else MeasuredAlignment.from_json(content, str(path))
            if found is not None and _says_as_much(found, analysis, stated):
                judged = run_judgement(found, _command(analysis, algorithm))
                if not (budget and found.looks < MOST_LOOKS and needs_more_questions(judged)):
                    return Settlement(path, found, judged, is_known=True)
    return None


def _command(analysis: Analysis, algorithm: str | None) -> str:
    own = None if analysis.hypothesis_file is None else str(analysis.hypothesis_file)
    return settle_command(analysis.source.given, algorithm=algorithm, hypothesis_file=own)


def _says_as_much(found: MeasuredAlignment, analysis: Analysis, stated: Hypothesis) -> bool:
    settings, drawn = AlignSettings.chosen(analysis.seed, quick=analysis.quick), found.drawn
    fit, test = settings.fit, settings.test
    at_least = zip(
        (drawn.rows, drawn.each, drawn.fit_rows, drawn.fit_sweeps),
        (test.n_rows, test.n_each, fit.n_rows, fit.n_sweeps),
        strict=True,
    )
    is_of_this = found.is_of(analysis.source.name, analysis.source.sha256, stated.name) and drawn.seed == test.seed
    return is_of_this and all(there >= wanted for there, wanted in at_least)


def _settle(analysis: Analysis, budget: float, algorithm: str | None, path: Path, kept: KeptFits) -> Settlement:
    began = time.monotonic()
    stated, rivals = hypothesis_of(analysis, algorithm), _rivals(analysis, algorithm)

    def wants_more(so_far: MeasuredAlignment) -> bool:
        in_time = time.monotonic() - began <= budget / 2  # the next look takes twice as long as the last
        return in_time and needs_more_questions(run_judgement(so_far))

    contest = _contest(analysis, kept)
    found = contest.settled(stated, rivals, wants_more, lambda where: _mixtures(analysis, stated, where))
    judged, content = run_judgement(found, _command(analysis, algorithm)), found.to_json()
    kept.note_made(content)
    add_sealed(path.parent, {path.name: content})
    kept.drop()
    return Settlement(path, found, judged)


def alignment_path(analysis: Analysis, own: str | None) -> Path:
    """Where the alignment with the usual hypothesis goes, or with one called `own`."""
    return analysis.folder / (ALIGNMENT if own is None else own_file("alignment", own))


def hypothesis_of(analysis: Analysis, algorithm: str | None) -> Hypothesis:
    """The hypothesis that was asked for: the user's own, a named one, or the usual one."""
    if analysis.hypothesis is not None:
        if algorithm is not None:
            raise CarryLensError("--algorithm and --hypothesis both name an algorithm. Write one of them.")
        return analysis.hypothesis
    task = analysis.source.task
    if not isinstance(task, ArithmeticTask):
        return _declared(task, algorithm)
    return usual_for(task) if algorithm is None else hypothesis_called(algorithm, task)


def _declared(task: Task, algorithm: str | None) -> Hypothesis:
    usual, *others = hypotheses_of(task)
    found = next((each for each in (usual, *others) if each.name == algorithm), usual if algorithm is None else None)
    if found is None:
        names = " or ".join(quote(each.name) for each in (usual, *others))
        raise CarryLensError(f"{quote(str(algorithm))} is not an algorithm of {task.name!r}. Write {names}.")
    return found


def _is_usual(analysis: Analysis, algorithm: str | None) -> bool:
    return algorithm is None and analysis.hypothesis is None


def _rivals(analysis: Analysis, algorithm: str | None) -> Sequence[Hypothesis]:
    task = analysis.source.task
    stated = hypothesis_of(analysis, algorithm)
    if not isinstance(task, ArithmeticTask):
        return [each for each in hypotheses_of(task) if each.name != stated.name]
    some = [usual_for(task), *aligned_rivals(task)]
    return [
        each
        for each in some
        if each.name != stated.name and not any(words in each.name for words in _LEFT_OUT) and _can_be_asked(each)
    ]


def _can_be_asked(each: Hypothesis) -> bool:
    # With two digits one column's carry is all there is to resolve: most rivals do then just what the algorithm does.
    digits = max(variable.index or 0 for variable in each.model.inputs) + 1
    return digits > 2 or (each.name.startswith("one-layer") and "sum 9" not in each.name)


def _mixtures(analysis: Analysis, stated: Hypothesis, where: str) -> Sequence[Hypothesis]:
    task = analysis.source.task
    usual = isinstance(task, ArithmeticTask) and task.question_layout.is_standard
    if not usual or where.startswith("the class") or stated.name != usual_for(task).name:
        return ()
    assert isinstance(task, ArithmeticTask)
    return (mixture_where(where, stated, weighted_sum_of(task.operation, task.digits)),)


def _contest(analysis: Analysis, kept: KeptFits) -> Contest:
    source, settings = analysis.source, AlignSettings.chosen(analysis.seed, quick=analysis.quick)
    about = ContestModel(source.name, source.sha256, population_name(source.task))
    return contest_for(analysis.model, source.task, about, settings, analysis.progress, kept)
