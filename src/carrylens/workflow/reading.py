"""Reading: what was saved about models, and the page, figures and table made of it.

Takes  models that were found, and folders.
Gives  everything that was saved, a page, figures for print, members of the family.
Never  measures; only the figure of principal components runs the model again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from carrylens.arithmetic.example_questions import example_questions
from carrylens.arithmetic.family.members import Member, read_member
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.model_facts import history, saved_bar, saved_test
from carrylens.arithmetic.zoo.sources import SHIPPED, find_folder, find_source, shipped_names
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.claims.own_files import own_folders
from carrylens.discovery.behaviours import Clusters
from carrylens.discovery.clusters import cluster_points
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.saved_map import check_is_of
from carrylens.discovery.stimulus_texts import evaluation_texts, pair_texts
from carrylens.folders import WEIGHTS, hash_of_weights
from carrylens.model.source import ModelSource
from carrylens.nodes import Node
from carrylens.report.figures.clouds import Cloud
from carrylens.report.figures.collect import Drawn, figures_of
from carrylens.report.figures.seeds import SeedRun
from carrylens.report.page.render import page_of
from carrylens.report.page.saved import Saved, read_saved
from carrylens.tasks.variables import Variable
from carrylens.workflow.known_truths import beside_truth
from carrylens.workflow.task_files import task_finder

PAGE, EXPLORER = "report.html", "explore.html"
_MOST_CLOUDS = 6


def read_source(source: ModelSource, folder: Path | None, hypothesis_file: Path | None = None) -> tuple[Path, Saved]:
    """The folder of a model's map, and everything that was saved there and beside the model.

    With a hypothesis of the user's own: its claims, about the map of its variables if there is one.
    """
    if hypothesis_file is not None:
        return _read_own(source, folder, own_hypothesis(hypothesis_file, source.task))
    own = source.folder
    if folder is None:
        mapped = own is not None and (own / MAP).exists() and not source.is_shipped
        folder = own if own is not None and mapped else source.analysis_folder(None)
    find_task = task_finder(source.task)
    saved = read_saved(source.given, folder, own, find_task=find_task)
    shipped = SHIPPED / saved.map.model
    if saved.test is None and shipped.is_dir() and hash_of_weights(shipped / WEIGHTS) == saved.weights:
        saved = read_saved(source.given, folder, shipped)  # a folder with a map alone
    check_is_of(saved.map, source)
    return folder, replace(saved, beside_truth=beside_truth(source, saved.map))


def _read_own(source: ModelSource, folder: Path | None, stated: Hypothesis) -> tuple[Path, Saved]:
    places = [folder] if folder is not None else source.analysis_places(None)
    candidates = [*own_folders(places, stated.name), *places]
    where = next((place for place in candidates if (place / MAP).is_file()), candidates[0])
    saved = read_saved(
        source.given,
        where,
        source.folder,
        find_task=task_finder(source.task),
        causal=stated.model,
        hypothesis=stated.name,
    )
    check_is_of(saved.map, source)
    return where, saved


def read_members(sources: Sequence[str], *, shipped: bool = False) -> list[Member]:
    """What was saved about each model: in its folder or maps/NAME, or, with `shipped`, only what came with it."""
    members = []
    for source in map(find_source, sources):
        own = [] if source.folder is None else [source.folder]
        places = own if shipped else source.analysis_places(None)
        bar = next((told for place in places if (told := saved_bar(place, source.sha256)) is not None), None)
        members.append(read_member(source.given, ModelName.parse(source.name), source.sha256, places, bar))
    return members


def family_folders(given: Sequence[str]) -> list[str]:
    """The models that are meant: a folder of folders of models, as family run makes it, stands for those in it."""
    found: list[str] = []
    for each in given:
        here = Path(each)
        inside = sorted(path.parent for path in here.glob(f"*/{WEIGHTS}")) if here.is_dir() else []
        is_model = any((here / name).exists() for name in (WEIGHTS, "model.pth", MAP))
        found += [str(path) for path in inside] if inside and not is_model else [each]
    return found


def page_of_saved(saved: Saved, folder: Path, *, has_explorer: bool | None = None) -> bytes:
    """The page about a model, to stand in `folder`, with the questions behind its facts drawn again.

    It links to the explorer that stands there, or will, if `has_explorer` says so.
    """
    explorer = EXPLORER if ((folder / EXPLORER).is_file() if has_explorer is None else has_explorer) else ""
    questions = pair_texts(saved.map, saved.facts), evaluation_texts(saved.map, saved.facts)
    return page_of(saved, *questions, explorer=explorer).encode()


def draw_figures(source: ModelSource, saved: Saved) -> Drawn:
    """Every figure for print: from what was saved, and what nodes write from the model itself."""
    task = saved.map.task
    examples = example_questions(Operation.MIX, task.digits) if isinstance(task, ArithmeticTask) else []
    return figures_of(saved, examples, _clouds(source, saved.map), _seeds(saved.map.model))


def _seeds(model: str) -> list[SeedRun]:
    # The shipped models whose names differ in the seed alone, this one among them.
    shape = model.rpartition("_s")[0]
    folders = [find_folder(name) for name in shipped_names() if name.rpartition("_s")[0] == shape]
    return [SeedRun(ModelName.parse(folder.name).seed, history(folder), saved_test(folder)) for folder in folders]


def _clouds(source: ModelSource, found: NodeMap) -> list[Cloud]:
    settings = found.stimuli.get("settings")
    if not isinstance(settings, Mapping):
        return []
    clearest: dict[Variable, tuple[Node, Clusters]] = {}
    for seen in found.behaviours:
        for each in seen.clusters:
            best = clearest.get(each.variable)
            if each.are_clear and (best is None or best[1].quality < each.quality):
                clearest[each.variable] = (seen.node, each)
    if not clearest:
        return []
    model, clouds = source.load(), []
    for variable, (node, clusters) in list(clearest.items())[:_MOST_CLOUDS]:
        points = cluster_points(model, found.task, variable, [node], settings["per_class"], settings["seed"])
        clouds.append(Cloud(node, clusters, *points[node]))
    return clouds
