"""Map folder: where a map is kept, whole or not at all, and how work that was stopped goes on.

Takes  a model's source, a map and its facts.
Gives  `map.json`, `facts.jsonl`, `behaviors.json` and `features.json`, sealed; a map that is there already.
Never  writes into a shipped model, nor over what somebody else published.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from carrylens.arithmetic.zoo.shipped import SHIPPED, find_model
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.node_search import Mapped, MapSettings
from carrylens.discovery.published_map import BEHAVIORS, FEATURES, behaviors_json, features_json
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import FACTS
from carrylens.files import write_whole
from carrylens.model.folder import WEIGHTS
from carrylens.model.hub import HUB
from carrylens.model.manifest import MANIFEST, check_sealed, read_sealed, write_sealed

MAPS = Path("maps")
"""Where maps of models go whose folders are not to be changed."""
STORE = "outcomes.sqlite"
"""What was computed so far, while a map is being made."""
RESTART = "restart.json"
"""What is being measured anew, though a map made that way is there."""


def folder_for(source: str, name: str, out: Path | None) -> Path:
    """Where the map of a model goes: `out`, its own folder, or `maps/NAME` where its folder is not ours to change."""
    own = None if source.startswith(HUB) else find_model(source).resolve()
    if out is not None:
        if out.resolve() != own and ((out / WEIGHTS).exists() or (out / "model.pth").exists()):
            raise CarryLensError(f"{out} is the folder of another model. Give one that is not, or leave --out away.")
        return out
    if own is None or SHIPPED.resolve() in own.parents:
        return MAPS / name
    return own if (own / MANIFEST).exists() and os.access(own, os.W_OK) else MAPS / name


def saved_map(folder: Path, settings: MapSettings, about: Mapping[str, object]) -> NodeMap | None:
    """The map that is in the folder, if it is of this very model and was made with these settings."""
    if not (folder / MAP).exists() or not (folder / MANIFEST).exists() or MAP not in check_sealed(folder):
        return None
    found = NodeMap.from_json(read_sealed(folder, MAP))
    wanted = {**about, "settings": settings.plain()}
    return found if all(found.stimuli.get(name) == value for name, value in wanted.items()) else None


def save_mapped(folder: Path, mapped: Mapped) -> None:
    """Put the map and its facts into the folder, and seal them with what was sealed there."""
    contents = {
        MAP: mapped.map.to_json().encode(),
        FACTS: "".join(fact.to_json() + "\n" for fact in mapped.facts).encode(),
        BEHAVIORS: behaviors_json(mapped.map).encode(),
        FEATURES: features_json(mapped.map).encode(),
    }
    sealed = check_sealed(folder) if (folder / MANIFEST).exists() else ()
    write_sealed(folder, contents, also=[name for name in sealed if name not in contents])


def store_of(folder: Path) -> Path:
    """The file in which work under way is kept; its folder is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CarryLensError(f"{folder} cannot be made ({reason}). Give another folder with --out.") from error
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
    return (json.dumps({**about, "settings": settings.plain()}, sort_keys=True) + "\n").encode()


def drop_store(folder: Path) -> None:
    """Forget the work under way."""
    (folder / RESTART).unlink(missing_ok=True)
    for ending in ("", "-wal", "-shm"):
        (folder / f"{STORE}{ending}").unlink(missing_ok=True)
