"""Judgements: models and maps judged on demand, wherever they are.

Takes  a map, a mapped model, a hypothesis.
Gives  the verdict and the claims; what was saved about a model, with claims that are judged now where none were saved.
Never  maps a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.claims.judgement import CLAIMS, Judgement, judge
from carrylens.claims.run_verdict import RunJudgement
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.saved_map import read_map
from carrylens.model.source import ModelSource
from carrylens.report.page.saved import Saved
from carrylens.tasks.task import Task
from carrylens.workflow.given_models import source_of
from carrylens.workflow.judging import (
    claims_beside,
    hypotheses_for,
    joint_judgement,
    judge_map,
    judge_usual,
    map_path,
    save_claims,
    verdict_without_map,
)
from carrylens.workflow.task_files import own_task, task_finder

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer


def judge_given(
    given: str | Path | NodeMap | ModelSource | Transformer,
    hypothesis: str | Path | Hypothesis | None,
    *,
    save: bool,
    out: Path | None = None,
    task: Task | None = None,
) -> tuple[RunJudgement, Judgement | None, Path | None]:
    """The verdict of the joint test, the claims about the map, and the file these went to, if they were saved.

    There are no claims where an alignment was saved and no map. `task` is the user's own task, where a name or a folder
    is given and the model is for one.
    """
    if isinstance(given, NodeMap):
        claims = _judge(given, hypothesis)
        return joint_judgement(Path(given.model), claims, usual=hypothesis is None), claims, None
    if isinstance(given, str | Path):
        where = Path(given)
    else:
        source = source_of(given)
        where, task = _where(source), own_task(source.task)
    stated = Path(hypothesis) if isinstance(hypothesis, str) else hypothesis
    alone = verdict_without_map(where, stated, task)
    if alone is not None:
        return alone, None, None
    if isinstance(stated, Hypothesis):
        claims = _judge(read_map(map_path(where, task), task_finder(task)), stated)
        return joint_judgement(where, claims, usual=False, task=task), claims, None
    own = stated
    claims = judge_map(where, own, task)
    path = (out or claims_beside(where, None if own is None else claims.hypothesis.name, task)) if save else None
    joint = joint_judgement(where, claims, usual=own is None, task=task, own=own)
    if path is not None:
        save_claims(claims, path, seal=out is None)
    return joint, claims, path


def read_judged(source: ModelSource, hypothesis: Path | None = None) -> Saved:
    """What was saved about a mapped model, judged now if it was not."""
    from carrylens.workflow.reading import read_source  # needs PyTorch, which judging does not

    places = source.analysis_places(None)
    mapped = next((place for place in places if (place / MAP).is_file()), None)
    if mapped is not None and hypothesis is None and not any((place / CLAIMS).is_file() for place in places):
        judge_given(source, None, save=True)
    if hypothesis is not None:
        judge_given(source, hypothesis, save=True)
    return read_source(source, None, hypothesis)[1]


def _judge(found: NodeMap, hypothesis: str | Path | Hypothesis | None) -> Judgement:
    if hypothesis is None:
        return judge_usual(found)
    stated = hypothesis if isinstance(hypothesis, Hypothesis) else own_hypothesis(Path(hypothesis), found.task)
    return judge(found, stated, [each for each in hypotheses_for(found) if each.name != stated.name])


def _where(source: ModelSource) -> Path:
    # A name or folder that judging finds again, or, for a model in memory, where its analyses are.
    return Path(source.given) if source.folder is not None else source.analysis_folder(None)
