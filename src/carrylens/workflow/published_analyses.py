"""Published analyses: what was found out about a model, as it goes up with it.

Takes  a model that was found.
Gives  the bytes of every analysis that was saved of these very weights, and its pages, made anew from them.
Never  hands on a file that is not as it was made, is of other weights, or is anything but a file of ours: who
       publishes a folder that came from somebody else publishes nothing of their own that a link there leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from carrylens.arithmetic.battery.battery_file import BATTERY, battery_record
from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.exam_record import TEST, read_test
from carrylens.arithmetic.zoo.model_facts import TRUTH
from carrylens.claims.judgement import CLAIMS
from carrylens.claims.records import read_claims
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.errors import CarryLensError
from carrylens.explorer.model_record import fits_a_page
from carrylens.files import inner_folder
from carrylens.model.source import ModelSource
from carrylens.steps import read_made
from carrylens.training.history import HISTORY, read_history
from carrylens.workflow.exploring import explore_source
from carrylens.workflow.judgements import judge_given
from carrylens.workflow.reading import EXPLORER, PAGE, page_of_saved, read_source

_WeightsOf = Callable[[bytes, str], object]
"""The hash of the weights that a file is about, after reading all of it; None where it does not say."""


def saved_analyses(source: ModelSource) -> dict[str, bytes]:
    """Every analysis by the name of its file; with a map also its page and, if it is not too large, its explorer.

    A map that was not judged yet is judged now.
    """
    files = _read_all(source)
    if MAP not in files:
        return files
    if CLAIMS not in files:
        judge_given(source, None, save=True)
        files = _read_all(source)
    _check_judged_here(files)
    return files | _pages(source)


def _read_all(source: ModelSource) -> dict[str, bytes]:
    return {name: content for name, read in _READERS.items() if (content := _saved(source, name, read)) is not None}


def _saved(source: ModelSource, name: str, weights_of: _WeightsOf) -> bytes | None:
    for place in source.analysis_places(None):
        inner_folder(place, name)  # no link that leads out of it
        content = read_made(place, name, f"carrylens explain {source.given}")
        if content is None:
            continue
        if weights_of(content, str(place / name)) not in (None, source.sha256):
            raise CarryLensError(
                f"{place / name} is of other weights than {source.given}. Write carrylens explain {source.given}."
            )
        return content
    return None


def _check_judged_here(files: Mapping[str, bytes]) -> None:
    judged, found = read_claims(files[CLAIMS], CLAIMS), NodeMap.from_json(files[MAP], find_task)
    if judged.get("map_sha256", found.sha256) != found.sha256:
        raise CarryLensError(f"{CLAIMS} was judged from another map than {MAP}. Judge the map again: carrylens judge.")


def _pages(source: ModelSource) -> dict[str, bytes]:
    folder, saved = read_source(source, None)
    is_small = fits_a_page(source.load())
    made = {PAGE: page_of_saved(saved, folder, has_explorer=is_small)}
    if is_small:
        made[EXPLORER] = explore_source(source, source.analysis_places(None), has_report=True).page.encode()
    return made


_READERS: dict[str, _WeightsOf] = {
    HISTORY: lambda content, path: read_history(content, path) and None,
    TEST: lambda content, path: read_test(content, path)["sha256"],
    MAP: lambda content, path: NodeMap.from_json(content, find_task, source=path).stimuli.get("sha256"),
    CLAIMS: lambda content, path: read_claims(content, path) and None,
    ALIGNMENT: lambda content, path: MeasuredAlignment.from_json(content, path).sha256,
    BATTERY: lambda content, path: battery_record(content, path)["about"]["sha256"],
    TRUTH: lambda *_: None,
}
