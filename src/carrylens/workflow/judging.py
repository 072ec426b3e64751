"""Judging: a saved map, judged by the usual hypothesis or by the user's own, with every rival beside it.

Takes  a map, the folder it is in, or a model's name; a file that states a hypothesis; a task of the user's own.
Gives  the judgement, and where its claims go; the verdict alone, where there is an alignment and no map.
Never  imports PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from carrylens.arithmetic import hypotheses
from carrylens.arithmetic.battery.battery_file import BATTERY, battery_record
from carrylens.arithmetic.battery.implementation_claims import implementation_count
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.claims.declared_hypotheses import hypotheses_of
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.claims.implementation import ImplementationCount
from carrylens.claims.judgement import CLAIMS, Judgement, judge
from carrylens.claims.own_files import own_file, own_folders
from carrylens.claims.run_verdict import RunJudgement, not_measured, run_judgement, settle_command
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.saved_map import check_is_of, read_map, task_of_map
from carrylens.errors import CarryLensError
from carrylens.files import inner_folder, write_whole
from carrylens.folders import CONFIG, MANIFEST, WEIGHTS, add_sealed
from carrylens.steps import read_made
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task
from carrylens.workflow.task_files import task_finder


def judge_map(where: Path, own: Path | None, task: Task | None = None) -> Judgement:
    """The judgement of the map that is there."""
    path = map_path(where, task)
    if own is None:
        return judge_usual(_map_of(where, path, task))
    stated = own_hypothesis(own, task_of_map(path, task_finder(task)))
    mapped = _map_of(where, _own_map(where, stated.name, task) or path, task, stated.model)
    usual, *rivals = hypotheses_for(mapped)
    if stated.name == usual.name:
        raise CarryLensError(f"{own} calls its hypothesis {usual.name!r}, as the usual one is. Give it another name.")
    return judge(mapped, stated, [usual, *rivals])


def _map_of(where: Path, path: Path, task: Task | None, causal: CausalModel | None = None) -> NodeMap:
    # The map, if it is of the model that was named.
    found = read_map(path, task_finder(task), causal)
    try:
        source = None if where.is_file() else find_source(str(where), task=task)
    except CarryLensError:
        if any((where / name).exists() for name in (CONFIG, WEIGHTS)):  # a model that is not what it is called
            raise
        source = None  # a folder with a map alone
    if source is not None:
        check_is_of(found, source)
    return found


class _About(NamedTuple):
    # What a verdict is about: a model by its name, its weights' hash where it is known, a hypothesis by its name.
    model: str
    weights: object
    hypothesis: str


def verdict_without_map(
    where: Path, hypothesis: Path | Hypothesis | None, task: Task | None = None
) -> RunJudgement | None:
    """The verdict that a saved alignment comes to where no map was saved; None if there is a map, or neither."""
    folders = [] if where.is_file() or _map_at(where, task) is not None else _folders(where, task)
    if not any(list(place.glob("alignment*.json")) for place in folders if place.is_dir()):
        return None
    try:
        source = find_source(str(where), task=task)
    except CarryLensError:
        if any((where / name).exists() for name in (CONFIG, WEIGHTS)):  # a model that is not what it is called
            raise
        if hypothesis is not None:
            return None
        found = _alignment_at(where, ALIGNMENT, str(where))  # a folder with an alignment alone
        about = None if found is None else _About(found.model, found.sha256, found.hypothesis)
    else:
        about = _About(source.name, source.sha256, _stated_name(source.task, hypothesis))
    if about is None:
        return None
    own = hypothesis if isinstance(hypothesis, Path) else None
    said = _joint(where, about, usual=hypothesis is None, task=task, own=own)
    return None if said.joint_interchange is None else said


def _stated_name(task: Task, hypothesis: Path | Hypothesis | None) -> str:
    if isinstance(hypothesis, Hypothesis):
        return hypothesis.name
    if hypothesis is not None:
        return own_hypothesis(hypothesis, task).name
    return usual_and_rivals(task)[0].name


def joint_judgement(
    where: Path, judged: Judgement, *, usual: bool, task: Task | None = None, own: Path | None = None
) -> RunJudgement:
    """The verdict that a saved alignment of this model comes to; not settled, if there is none.

    Commands that would settle what is open name the model and the file of the hypothesis as the user did.
    """
    about = _About(judged.model, judged.weights, judged.hypothesis.name)
    return _joint(where, about, usual=usual, task=task, own=own)


def _joint(where: Path, about: _About, *, usual: bool, task: Task | None, own: Path | None) -> RunJudgement:
    model = str(where) if (where / CONFIG).is_file() else about.model
    command = settle_command(model, hypothesis_file=None if own is None else str(own))
    found = _saved_alignment(where, about, usual=usual, task=task)
    said = not_measured(about.model, about.hypothesis, command) if found is None else run_judgement(found, command)
    return replace(said, implementation=_implementation(where, about, task) if usual else None)


def _implementation(where: Path, about: _About, task: Task | None) -> ImplementationCount | None:
    # The paper's claims about how such models are built inside, as the experiments on these weights found them.
    for place in [where.parent] if where.is_file() else _folders(where, task):
        content = read_made(place, BATTERY, f"carrylens battery {about.model}")
        found = None if content is None else battery_record(content, str(place / BATTERY))
        if found is not None and found["about"]["sha256"] == about.weights:
            return implementation_count(found["outcomes"])
    return None


def _saved_alignment(where: Path, about: _About, *, usual: bool, task: Task | None) -> MeasuredAlignment | None:
    places = [where.parent] if where.is_file() else _folders(where, task)
    if not usual:  # beside the map of its variables, where there is one
        places = [*_inner_folders(places, about.hypothesis), *places]
    name = ALIGNMENT if usual else own_file("alignment", about.hypothesis, places)
    for place in places:
        found = _alignment_at(place, name, about.model)
        if found is not None and found.is_of(about.model, about.weights, about.hypothesis):
            return found
    return None


def _alignment_at(place: Path, name: str, model: str) -> MeasuredAlignment | None:
    content = read_made(place, name, f"carrylens settle {model}")
    return None if content is None else MeasuredAlignment.from_json(content, str(place / name))


def judge_usual(found: NodeMap) -> Judgement:
    """The map judged by the usual hypothesis of its task."""
    usual, *rivals = hypotheses_for(found)
    return judge(found, usual, rivals)


def hypotheses_for(found: NodeMap) -> list[Hypothesis]:
    """The usual hypothesis of the map's task, then its known rivals."""
    return usual_and_rivals(found.task)


def usual_and_rivals(task: Task) -> list[Hypothesis]:
    """The usual hypothesis of a task, then its known rivals."""
    if not isinstance(task, ArithmeticTask):
        return hypotheses_of(task)
    return [hypotheses.usual_for(task), *hypotheses.rivals_for(task)]


def claims_beside(where: Path, own: str | None, task: Task | None = None) -> Path:
    """Where claims about a map go: beside it, or in `maps/NAME` if it came with carrylens; `own` names a user's own."""
    found = None if own is None else _own_map(where, own, task)
    path = found or map_path(where, task)
    name = CLAIMS if own is None else own_file("claims", own)
    try:
        source = find_source(str(where), task=task)
    except CarryLensError:
        return path.parent / name
    is_in_model = source.folder is not None and path.parent.resolve() == source.folder.resolve()
    folder = source.analysis_folder(None) if source.is_shipped and is_in_model else path.parent
    return folder / name


def save_claims(judgement: Judgement, path: Path, *, seal: bool) -> None:
    """Write the claims; sealed, if the folder has a seal or, with `seal`, if it is one for claims alone."""
    folder, content = path.parent, judgement.to_json().encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / MANIFEST).exists() or (seal and not (folder / MAP).exists()):
            add_sealed(folder, {path.name: content})
        else:
            write_whole(path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CarryLensError(f"{path} cannot be written ({reason}). Give another file with --out.") from error


def map_path(where: Path, task: Task | None = None) -> Path:
    """The map at `where`: the file itself, in that folder, or of the model called so."""
    found = _map_at(where, task)
    if found is None and not where.is_file():
        if not where.is_dir():
            find_source(str(where), task=task)  # which says that there is no such model
        raise CarryLensError(
            f"{where} has no map and no alignment of these weights. For the verdict write carrylens settle {where}, "
            f"for claims about its nodes carrylens map {where}."
        )
    return found or where


def _map_at(where: Path, task: Task | None) -> Path | None:
    for folder in _folders(where, task):
        if (folder / MAP).is_file():
            return folder / MAP
        own = sorted(folder.glob(f"*/{MAP}")) if folder.is_dir() else []  # of hypotheses of the user's own alone
        if own:
            return own[0]
    return None


def _own_map(where: Path, name: str, task: Task | None) -> Path | None:
    # A map that was made with the user's own variables lies in a folder of the hypothesis's name.
    inner = _inner_folders(_folders(where, task), name)
    return next((folder / MAP for folder in inner if (folder / MAP).is_file()), None)


def _inner_folders(places: Sequence[Path], own: str) -> list[Path]:
    return [inner_folder(each.parent, each.name) for each in own_folders(places, own)]


def _folders(where: Path, task: Task | None) -> list[Path]:
    places = [where] if where.is_dir() else []
    try:
        source = find_source(str(where), task=task)
    except CarryLensError:
        return places
    return [*places, *source.analysis_places(None)]
