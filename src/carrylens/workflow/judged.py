"""Judged: models and maps judged on demand, wherever they are.

Takes  a map, a mapped model, a hypothesis.
Gives  the judgement; what was saved about a model, with claims that are judged now where none were saved.
Never  maps a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.claims.judgement import CLAIMS, Judgement, judge
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.saved_map import read_map
from carrylens.model.source import ModelSource
from carrylens.report.page.saved import Saved
from carrylens.workflow.given_models import source_of
from carrylens.workflow.judging import claims_beside, hypotheses_for, judge_map, judge_usual, map_path, save_claims
from carrylens.workflow.reading import read_source
from carrylens.workflow.task_files import own_task, task_finder

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer


def judge_given(
    given: str | Path | NodeMap | ModelSource | Transformer, hypothesis: str | Path | Hypothesis | None, *, save: bool
) -> Judgement:
    """The judgement of a map, or of the map that was saved for a model."""
    if isinstance(given, NodeMap):
        return _judge(given, hypothesis)
    source = None if isinstance(given, str | Path) else source_of(given)
    where = Path(given) if source is None else _where(source)
    task = None if source is None else own_task(source.task)
    if isinstance(hypothesis, Hypothesis):
        return _judge(read_map(map_path(where, task), task_finder(task)), hypothesis)
    own = None if hypothesis is None else Path(hypothesis)
    found = judge_map(where, own, task)
    if save:
        save_claims(found, claims_beside(where, None if own is None else found.hypothesis.name, task), seal=True)
    return found


def read_judged(source: ModelSource, hypothesis: Path | None = None) -> Saved:
    """What was saved about a mapped model, judged now if it was not."""
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
