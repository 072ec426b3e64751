"""Explain: the whole route for one model, from a name to a page.

Takes  a model's name or folder.
Gives  its test, map, claims, worked question and page, each made only where it is missing or stale.
Never  prints, and never does what a room could do alone.

1. Test, map and judge the model; run the battery.
2. Work one question through it.
3. Read what was saved, and make the page from that alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from carrylens import __version__
from carrylens.arithmetic.questions import Operation
from carrylens.pipeline import battery_source, judge_map, map_source, start_exam

if TYPE_CHECKING:  # PyTorch is imported only by the commands that need it
    from carrylens.arithmetic.family.members import Member
    from carrylens.discovery.behaviours import Clusters
    from carrylens.discovery.node_map import NodeMap
    from carrylens.discovery.settings import Watch
    from carrylens.nodes import Node
    from carrylens.report.figures.clouds import Cloud
    from carrylens.report.figures.collect import Drawn
    from carrylens.report.figures.seeds import SeedRun
    from carrylens.report.page.saved import Saved
    from carrylens.tasks.variables import Variable

PAGE = "report.html"
_MOST_CLOUDS = 6


def explain_source(
    source: str, out: Path | None, device: str, threads: int, watch: Watch, *, quick: bool, seed: int
) -> tuple[Path, Saved]:
    """The whole route for one model: test, map, judge, battery, worked questions, page; only what is not there yet."""
    from carrylens.arithmetic.zoo.model_facts import model_name
    from carrylens.arithmetic.zoo.shipped import find_model, folder_for, load
    from carrylens.claims.judgement import CLAIMS
    from carrylens.discovery.map_folder import store_of
    from carrylens.discovery.worked_examples import WORKED, example_questions, work_questions
    from carrylens.model.hub import HUB
    from carrylens.steps import finish, is_done

    name = model_name(source if source.startswith(HUB) else find_model(source))
    folder = folder_for(source, str(name), out)
    store_of(folder)  # makes the folder, or says why not
    sha256 = _test_if_untested(source, folder, device, threads, watch, quick=quick)
    own = folder if source.startswith(HUB) else find_model(source)
    place, found = _map_there([folder, own], {"version": __version__, "sha256": sha256}, quick=quick, seed=seed) or (
        map_source(
            *(source, folder, device, threads, watch),
            quick=quick,
            seed=seed,
            pairs=True,
            groups=True,
            restart=False,
        )
    )
    made_from = {"map": _hash_of_text(found.to_json()), "version": __version__}
    if not is_done(folder, "judge", made_from):
        watch("judging claims", 0, 1)
        finish(folder, "judge", made_from, {CLAIMS: judge_map(place, None).to_json().encode()})
    battery_source(source, out, device, threads, watch, only=None, quick=quick, seed=seed, restart=False)
    if not is_done(folder, "work", made_from):
        watch("working a question through", 0, 1)
        texts = example_questions(found.operation, found.digits)
        about = {"model": found.model, "sha256": found.stimuli.get("sha256")}
        worked = work_questions(load(source), found, texts, about)
        finish(folder, "work", made_from, {WORKED: (json.dumps(worked, indent=1) + "\n").encode()})
    _, saved = read_source(source, folder)
    files = {**saved.hashes, "version": __version__}
    if not is_done(folder, "report", files):
        watch("writing the page", 0, 1)
        finish(folder, "report", files, {PAGE: page_of_saved(saved)})
    return folder, saved


def read_source(source: str, folder: Path | None) -> tuple[Path, Saved]:
    """The folder of a model's map, and everything that was saved there and beside the model."""
    from carrylens.arithmetic.zoo.model_facts import model_name
    from carrylens.arithmetic.zoo.shipped import SHIPPED, find_model, folder_for
    from carrylens.discovery.node_map import MAP
    from carrylens.model.hub import HUB
    from carrylens.report.page.saved import read_saved

    own = None if source.startswith(HUB) else find_model(source)
    if folder is None:
        mapped = own is not None and (own / MAP).exists() and SHIPPED.resolve() not in own.resolve().parents
        folder = own if own is not None and mapped else folder_for(source, str(model_name(own or source)), None)
    saved = read_saved(source, folder, own)
    if saved.test is None and (SHIPPED / saved.map.model).is_dir():  # a folder with a map alone
        saved = read_saved(source, folder, SHIPPED / saved.map.model)
    return folder, saved


def read_members(sources: Sequence[str], *, shipped: bool = False) -> list[Member]:
    """What was saved about each model: in its folder or maps/NAME, or, with `shipped`, only what came with it."""
    from carrylens.arithmetic.family.members import read_member
    from carrylens.arithmetic.zoo.exams import hash_of
    from carrylens.arithmetic.zoo.model_facts import model_name, saved_test
    from carrylens.arithmetic.zoo.shipped import find_model, folder_for, load
    from carrylens.model.hub import HUB

    members = []
    for source in sources:
        own = None if source.startswith(HUB) else find_model(source)
        name, sha256 = model_name(own or source), hash_of(load(source))
        places = [*([] if shipped else [folder_for(source, str(name), None)]), *([own] if own else [])]
        tests = [test for place in places if (test := saved_test(place)) and test.get("sha256") == sha256]
        different = list({place.resolve(): place for place in places}.values())
        members.append(read_member(source, name, sha256, different, tests[0]["meets_bar"] if tests else None))
    return members


def page_of_saved(saved: Saved) -> bytes:
    """The page about a model, with the questions behind its facts drawn again."""
    from carrylens.discovery.stimulus_texts import asked_pairs, asked_questions
    from carrylens.report.page.render import page_of

    return page_of(saved, asked_pairs(saved.map, saved.facts), asked_questions(saved.map, saved.facts)).encode()


def draw_figures(source: str, saved: Saved) -> Drawn:
    """Every figure for print: from what was saved, and what nodes write from the model itself."""
    from carrylens.discovery.worked_examples import example_questions
    from carrylens.report.figures.collect import figures_of

    examples = example_questions(Operation.MIX, saved.map.digits)  # both algorithm figures, whatever the model does
    return figures_of(saved, examples, _clouds(source, saved.map), _seeds(saved.map.model))


def _seeds(model: str) -> list[SeedRun]:
    # The shipped models whose names differ in the seed alone, this one among them.
    from carrylens.arithmetic.model_names import ModelName
    from carrylens.arithmetic.zoo.model_facts import history, saved_test
    from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
    from carrylens.report.figures.seeds import SeedRun

    shape = model.rpartition("_s")[0]
    names = [name for name in shipped_names() if name.rpartition("_s")[0] == shape]
    return [
        SeedRun(ModelName.parse(name).seed, history(find_model(name)), saved_test(find_model(name))) for name in names
    ]


def _clouds(source: str, found: NodeMap) -> list[Cloud]:
    from carrylens.arithmetic.zoo.shipped import load
    from carrylens.discovery.clusters import cluster_points
    from carrylens.report.figures.clouds import Cloud

    settings = found.stimuli.get("settings")
    if not isinstance(settings, Mapping):
        return []
    clearest: dict[Variable, tuple[Node, Clusters]] = {}
    for seen in found.behaviours:
        for each in seen.clusters:
            best = clearest.get(each.variable)
            if each.are_clear and (best is None or best[1].quality < each.quality):
                clearest[each.variable] = (seen.node, each)
    model, clouds = load(source) if clearest else None, []
    for variable, (node, clusters) in list(clearest.items())[:_MOST_CLOUDS]:
        assert model is not None
        points = cluster_points(model, variable, [node], settings["per_class"], settings["seed"])
        clouds.append(Cloud(node, clusters, *points[node]))
    return clouds


def _map_there(
    places: Sequence[Path], about: Mapping[str, object], *, quick: bool, seed: int
) -> tuple[Path, NodeMap] | None:
    # A map of these weights in one of the places. One with more evidence than was asked for will do.
    from carrylens.discovery.map_folder import saved_map
    from carrylens.discovery.node_search import MapSettings

    for settings in (MapSettings.chosen(seed), *([MapSettings.chosen(seed, quick=True)] if quick else [])):
        for place in places:
            if found := saved_map(place, settings, about):
                return place, found
    return None


def _test_if_untested(source: str, folder: Path, device: str, threads: int, watch: Watch, *, quick: bool) -> str:
    # Gives the hash of the weights.
    from carrylens.arithmetic.zoo.model_facts import TEST, saved_test
    from carrylens.arithmetic.zoo.shipped import find_model
    from carrylens.files import write_whole
    from carrylens.model.hub import HUB

    exam = start_exam(source, *((10_000, 200) if quick else (100_000, 2_000)), device, threads)
    for where in (folder, *([] if source.startswith(HUB) else [find_model(source)])):
        if (known := saved_test(where)) is not None and known.get("sha256") == exam.model_hash:
            return exam.model_hash
    try:
        for _ in exam.sit():
            watch("testing", exam.asked, exam.total)
    except BaseException:  # stopped: what was asked so far is kept
        exam.keep()
        raise
    write_whole(folder / TEST, (json.dumps(exam.record(), indent=1) + "\n").encode())
    exam.forget()
    return exam.model_hash


def _hash_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
