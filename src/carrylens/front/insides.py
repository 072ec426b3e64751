"""Insides: what the nodes of a model carry, and whether that is an algorithm.

Takes  a model, and a hypothesis of your own where you have one.
Gives  its map, its alignment with an algorithm, the verdict, the outcomes of experiments.
Never  imports PyTorch before a call, or measures again what was saved.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.front.progress_display import progress_display

if TYPE_CHECKING:
    from carrylens.claims.hypothesis import Hypothesis
    from carrylens.discovery.node_map import NodeMap
    from carrylens.front.verdict_views import Judged, Settled
    from carrylens.front.views import BatteryOutcomes, MapView
    from carrylens.model.source import ModelSource
    from carrylens.model.transformer import Transformer
    from carrylens.progress import Progress
    from carrylens.tasks.task import Task


def map(  # noqa: A001
    model: str | Path | ModelSource | Transformer,
    *,
    quick: bool = False,
    hypothesis: str | Path | None = None,
    pairs: bool = True,
    groups: bool = True,
    out: str | Path | None = None,
    seed: int = 0,
    restart: bool = False,
    device: str = "cpu",
    threads: int = 0,
    progress: bool | Progress = True,
) -> MapView:
    """Which nodes of the model are useful, and which variable each of them carries for which token of the answer.

    A saved map of these weights is taken, if it rests on as much evidence; a new one is kept beside the model, in
    `maps/NAME`, or in `out`. Stopped work goes on when it is called again. `quick` gathers a third of the evidence;
    `hypothesis` is a Python file that declares variables of your own.
    """
    from carrylens.front.tabular import view_of
    from carrylens.front.views import MapView
    from carrylens.workflow.analysis import Analysis
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.known_truths import beside_truth
    from carrylens.workflow.mapping import best_map

    source = source_of(model)
    with progress_display(source.name, progress) as say:
        analysis = Analysis(
            source, _path(out), device, threads, say, quick, seed, restart, hypothesis_file=_path(hypothesis)
        )
        folder, found = best_map(analysis, pairs=pairs, groups=groups)
    return view_of(MapView, found, folder=folder, beside_truth=beside_truth(source, found))


def settle(
    model: str | Path | ModelSource | Transformer,
    *,
    algorithm: str | None = None,
    hypothesis: str | Path | None = None,
    budget: float | None = None,
    quick: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    restart: bool = False,
    device: str = "cpu",
    threads: int = 1,
    progress: bool | Progress = True,
) -> Settled:
    """Whether the model runs the algorithm: one site for each variable, all sites tested jointly, and every rival too.

    Sites are chosen on some questions and tested on others; the alignment is kept beside the model, in `maps/NAME`, or
    in `out`. `quick` begins with a quarter of the questions. If the verdict is open for want of questions, more are
    drawn, unless half of `budget`, in seconds (600 if not given), is spent. `algorithm` names another algorithm than
    the usual one, such as `weighted-sum add`; `hypothesis` is a Python file that states one of your own. A saved
    alignment with as many questions is taken, unless `restart`.
    """
    from carrylens.front.verdict_views import Settled
    from carrylens.workflow.analysis import Analysis
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.settling import BUDGET, settle_source

    source = source_of(model)
    with progress_display(source.name, progress) as say:
        analysis = Analysis(source, _path(out), device, threads, say, quick, seed, restart, _path(hypothesis))
        made = settle_source(analysis, BUDGET if budget is None else budget, algorithm)
    return Settled(made.path, made.alignment, made.judgement, made.is_known)


def judge(
    model: str | Path | NodeMap | ModelSource | Transformer,
    *,
    hypothesis: str | Path | Hypothesis | None = None,
    task: Task | str | Path | None = None,
    save: bool = True,
    out: str | Path | None = None,
) -> Judged:
    """Whether the model runs the algorithm, judged from saved files: nothing is measured, and no PyTorch is needed.

    The verdict rests on the alignment that `settle` measured; without one it is not settled. Beside it stand the claims
    about the map, one variable at a time; without a map there are none. `model` is a model that was mapped or settled,
    or a map. `hypothesis` is another than the usual one: a `Hypothesis`, or a Python file that states one. `task` is
    the model's task, or the Python file that declares it, where it is one of your own. Claims about a saved map are
    written beside it, or to the file `out`, unless `save` is False.
    """
    from carrylens.front.verdict_views import Judged
    from carrylens.workflow.judgements import judge_given
    from carrylens.workflow.task_files import task_given_as

    own = task_given_as(task)
    return Judged(*judge_given(model, hypothesis, save=save, out=_path(out), task=own))


def battery(
    model: str | Path | ModelSource | Transformer,
    experiment: str | None = None,
    *,
    quick: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    restart: bool = False,
    device: str = "cpu",
    threads: int = 0,
    progress: bool | Progress = True,
) -> BatteryOutcomes:
    """The paper's causal experiments on the model, each beside its matched null; or one of them, by its name."""
    from carrylens.front.views import BatteryOutcomes
    from carrylens.workflow.analysis import Analysis
    from carrylens.workflow.battery import run_battery
    from carrylens.workflow.given_models import source_of

    source = source_of(model)
    with progress_display(source.name, progress) as say:
        analysis = Analysis(source, _path(out), device, threads, say, quick, seed, restart)
        folder, found = run_battery(analysis, experiment)
    return BatteryOutcomes(source.name, folder, tuple(found))


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
