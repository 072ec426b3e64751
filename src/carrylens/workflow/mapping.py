"""Mapping: the map of a model, from where it was stopped if it was, and the folder it is in.

Takes  an analysis.
Gives  the map that is there if it was made this way, else one made now.
Never  measures twice what was measured.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.arithmetic.published_map import published_files
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.discovery import map_folder
from carrylens.discovery.node_search import MapSettings, map_model
from carrylens.files import working
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.task_files import task_finder

if TYPE_CHECKING:
    from carrylens.discovery.node_map import NodeMap


def map_source(analysis: Analysis, *, pairs: bool = True, groups: bool = True) -> tuple[Path, NodeMap]:
    """The folder of the map, and the map."""
    settings = replace(MapSettings.chosen(analysis.seed, quick=analysis.quick), pairs=pairs, groups=groups)
    folder, about = analysis.folder, analysis.about
    is_anew = analysis.restart or map_folder.is_restarted(folder, settings, about)
    if not is_anew and (there := _map_there(analysis, settings)):
        return there
    with working(folder):
        if analysis.restart:
            map_folder.note_restart(folder, settings, about)
        return folder, _measured(analysis, settings)


def _measured(analysis: Analysis, settings: MapSettings) -> NodeMap:
    folder, about = analysis.folder, analysis.about
    store = map_folder.store_of(folder)
    mapped = map_model(
        analysis.model,
        analysis.source.name,
        analysis.source.task,
        settings,
        store=store,
        watch=analysis.progress,
        about=about,
        causal=None if analysis.hypothesis is None else analysis.hypothesis.model,
    )
    beside = published_files(mapped.map) if isinstance(mapped.map.task, ArithmeticTask) else {}
    map_folder.save_mapped(folder, mapped, {} if analysis.hypothesis else beside)
    map_folder.drop_store(folder)
    return mapped.map


def best_map(analysis: Analysis, *, pairs: bool = True, groups: bool = True) -> tuple[Path, NodeMap]:
    """The map with the most evidence that is there, if it has at least what was asked for; else one made now."""
    settings = replace(MapSettings.chosen(analysis.seed, quick=analysis.quick), pairs=pairs, groups=groups)
    anew = analysis.restart or map_folder.is_restarted(analysis.folder, settings, analysis.about)
    known = None if anew or not (pairs and groups) else sufficient_map(analysis)
    return known or map_source(analysis, pairs=pairs, groups=groups)


def sufficient_map(analysis: Analysis) -> tuple[Path, NodeMap] | None:
    """A map of these weights that is there already. One with more evidence than was asked for will do."""
    quick = [MapSettings.chosen(analysis.seed, quick=True)] if analysis.quick else []
    for settings in (MapSettings.chosen(analysis.seed), *quick):
        if there := _map_there(analysis, settings, also=analysis.source.folder):
            return there
    return None


def _map_there(analysis: Analysis, settings: MapSettings, also: Path | None = None) -> tuple[Path, NodeMap] | None:
    causal = None if analysis.hypothesis is None else analysis.hypothesis.model
    find_task = task_finder(analysis.source.task)
    for place in [*analysis.places, *([] if also is None else [also])]:
        found = map_folder.saved_map(place, settings, analysis.about, find_task, causal)
        if found is not None and found.model == analysis.source.name:  # judge refuses a map of another name
            return place, found
    return None
