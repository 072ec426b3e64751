"""Aligning: one site for each variable of an algorithm in a model, and how well it holds.

Takes  an analysis, and the name of another algorithm where it is not the usual one.
Gives  the measured alignment, and the folder that it is in.
Never  tests on the questions that it chose sites with.
"""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.aligned.named_algorithms import algorithm_called
from carrylens.arithmetic.hypotheses import usual_for
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.judgement import slug
from carrylens.discovery.alignment.fit import FitSettings, fit_alignment
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.discovery.alignment.joint_test import JointSettings, measure_jointly
from carrylens.discovery.alignment.targets import targets_of
from carrylens.discovery.alignment.trial import AlignmentTask
from carrylens.errors import CarryLensError
from carrylens.folders import add_sealed
from carrylens.tasks.samplers import population_of
from carrylens.workflow.analysis import Analysis

_RESOLVED = ("SV", "MV", "NV", "WS", "WM", "WN", "SU")
_ENRICHED = "enriched"


def align_source(analysis: Analysis, algorithm: str | None = None) -> tuple[Path, MeasuredAlignment]:
    """The file of the alignment, and the alignment."""
    stated = _hypothesis(analysis, algorithm)
    task, seed = analysis.source.task, analysis.seed
    population = task.samplers.get(_ENRICHED, population_of(task.causal))
    about = AlignmentTask(analysis.model, task, stated.model, population)
    fit, test = FitSettings(seed=seed), JointSettings(n_rows=512 if analysis.quick else 2048, seed=seed)
    fitted = fit_alignment(about, targets_of(stated.model, stated.required, stated.folded), fit, analysis.progress)
    analysis.progress("testing the alignment", 0, 1)
    placement = fitted.placement
    missing = [str(each) for each, has in zip(placement.targets, placement.placed, strict=True) if not has]
    drawn = {"population": _ENRICHED if _ENRICHED in task.samplers else "own", "seed": seed, "rows": test.n_rows}
    found = MeasuredAlignment(
        analysis.source.name,
        analysis.source.sha256,
        placement.alignment(stated.name),
        measure_jointly(about, placement, test),
        tuple(missing),
        {**drawn, "fit_rows": fit.n_rows, "fit_sweeps": fit.n_sweeps},
    )
    usual = algorithm is None and analysis.hypothesis is None
    path = analysis.folder / (ALIGNMENT if usual else f"alignment.{slug(stated.name)}.json")
    add_sealed(path.parent, {path.name: found.to_json()})
    return path, found


def _hypothesis(analysis: Analysis, algorithm: str | None) -> Hypothesis:
    task = analysis.source.task
    if analysis.hypothesis is not None:
        if algorithm is not None:
            raise CarryLensError("--algorithm and --hypothesis both name an algorithm. Write one of them.")
        return analysis.hypothesis
    if algorithm is None:
        return usual_for(task)
    if not isinstance(task, ArithmeticTask) or not task.question_layout.is_standard:
        raise CarryLensError(f"--algorithm names algorithms of arithmetic, not of {task.name!r}. Write --hypothesis.")
    model = algorithm_called(algorithm, task.operation, task.digits)
    used = {each.name for output in model.outputs for each in model.ancestors(output)} - {"D", "D'", "OPR"}
    required = tuple(
        dict.fromkeys(each.name for each in model.by_variable if each.name in used or each in model.outputs)
    )
    return Hypothesis(
        model.name, model, required=required, folded=tuple(each for each in _RESOLVED if each in required)
    )
