"""Map folder: where a map is kept, whole or not at all, and how work that was stopped goes on.

Takes  a folder, a map and its facts, and files that go beside them.
Gives  `map.json` and `facts.jsonl`, the facts compressed, sealed; a map that is there already.
Never  chooses the folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.node_search import Mapped, MapSettings
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import FACTS
from carrylens.files import make_folder, write_whole
from carrylens.folders import add_sealed, is_sealed, read_sealed
from carrylens.interventions.store import ENDINGS
from carrylens.json_records import to_text
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import TaskFinder

STORE = "outcomes.sqlite"
"""What was computed so far, while a map is being made."""
RESTART = "restart.json"
"""What is being measured anew, though a map made that way is there."""


def saved_map(
    folder: Path,
    settings: MapSettings,
    about: Mapping[str, object],
    find_task: TaskFinder,
    causal: CausalModel | None = None,
) -> NodeMap | None:
    """The map that is in the folder, if it is of this very model and was made with these settings.

    A setting that the map's version did not have makes no difference: more evidence is not asked for by it.
    `causal` is the causal model whose variables are wanted, where they are not the task's own.
    """
    if not is_sealed(folder, MAP):
        return None
    try:
        found = NodeMap.from_json(read_sealed(folder, MAP), find_task, causal, str(folder / MAP))
    except CarryLensError:
        if causal is None:
            raise
        return None
    if causal is not None and found.causal != causal:
        return None
    same = all(found.stimuli.get(name) == value for name, value in about.items())
    return found if same and _agrees(found.stimuli.get("settings"), settings.plain()) else None


def _agrees(saved: object, wanted: object) -> bool:
    # What was saved has the same values for all that it knows.
    if isinstance(saved, Mapping) and isinstance(wanted, Mapping):
        return bool(saved) and all(name in wanted and _agrees(value, wanted[name]) for name, value in saved.items())
    return bool(saved == wanted)


def save_mapped(folder: Path, mapped: Mapped, beside: Mapping[str, bytes] | None = None) -> None:
    """Put the map, its facts and the files `beside` them into the folder, sealed with what was sealed there."""
    contents = {
        MAP: mapped.map.to_json().encode(),
        FACTS: "".join(fact.to_json() + "\n" for fact in mapped.facts).encode(),
        **(beside or {}),
    }
    add_sealed(folder, contents, zipped=(FACTS,))


def store_of(folder: Path) -> Path:
    """The file in which work under way is kept; its folder is made if need be."""
    make_folder(folder, "Give another folder with --out.")
    return folder / STORE


def note_restart(folder: Path, settings: MapSettings, about: Mapping[str, object]) -> None:
    """Forget the work under way, and note that a map is measured anew: without that, the old one would be taken."""
    drop_store(folder)
    write_whole(store_of(folder).with_name(RESTART), _restarted(settings, about))


def is_restarted(folder: Path, settings: MapSettings, about: Mapping[str, object]) -> bool:
    """Whether just this map is being measured anew, and was stopped."""
    path = folder / RESTART
    return path.is_file() and path.read_bytes() == _restarted(settings, about)


def _restarted(settings: MapSettings, about: Mapping[str, object]) -> bytes:
    return (to_text({**about, "settings": settings.plain()}, sort_keys=True) + "\n").encode()


def drop_store(folder: Path) -> None:
    """Forget the work under way."""
    (folder / RESTART).unlink(missing_ok=True)
    for ending in ENDINGS:
        (folder / f"{STORE}{ending}").unlink(missing_ok=True)
