"""Exploring: the page that runs a model, from what was found and saved about it.

Takes  a model as people name it, or one that is loaded; or the level of a challenge.
Gives  the text of the page and where it belongs.
Never  measures: a map and claims are shown where they were saved for these very weights.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.claims.judgement import CLAIMS
from carrylens.claims.records import read_claims
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.saved_map import read_map
from carrylens.errors import CarryLensError
from carrylens.explorer.challenge import challenge
from carrylens.explorer.page import explorer_page
from carrylens.explorer.page_data import Explored
from carrylens.files import write_whole
from carrylens.model.source import ModelSource
from carrylens.steps import read_made
from carrylens.workflow.reading import PAGE

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer

_HEIGHT = 900


@dataclass(frozen=True)
class Explorer:
    """A page that runs a model: save it, or let a notebook show it."""

    name: str
    page: str

    def save(self, path: str | Path) -> Path:
        """Write the page to a file that any browser opens; folders that are not there are made."""
        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CarryLensError(f"{path.parent} cannot be made ({error.strerror}). Give another place.") from error
        write_whole(path, self.page.encode())
        return path

    def __repr__(self) -> str:
        return f"<Explorer of {self.name}: {len(self.page) / 1e6:.1f} MB; save('explore.html') writes it>"

    def _repr_html_(self) -> str:
        # In a frame of its own, which can run the page's script and nothing of the notebook's.
        inside = html.escape(self.page, quote=True)
        title = html.escape(f"Explorer of {self.name}", quote=True)
        return (
            f'<iframe title="{title}" sandbox="allow-scripts allow-downloads" width="100%" height="{_HEIGHT}" '
            f'style="border:0" srcdoc="{inside}"></iframe>'
        )


def explore(model: str | Path | Transformer, *, half: bool = False) -> Explorer:
    """The page of a model: a name, a folder, `hf:owner/repository`, or a loaded model that knows its task."""
    if isinstance(model, str | Path):
        source = find_source(str(model), any_name=True)
        return explore_source(source, source.analysis_places(None), half=half)
    if model.task is None:
        raise CarryLensError("It is not known what this model is for. Set model.task, or load it with carrylens.load.")
    explored = Explored(model, model.task, model.task.name, half=half)
    return Explorer(explored.name, explorer_page(explored))


def explore_source(
    source: ModelSource, places: Sequence[Path], *, half: bool = False, has_report: bool = False
) -> Explorer:
    """The page of a model that was found, with the map and claims of these weights that are in one of the places."""
    found = _saved_map(source, places)
    explored = Explored(
        source.load(),
        source.task,
        source.name,
        map=found,
        claims=_saved_claims(source, found, places) if found else {},
        sha256=source.sha256,
        has_report=has_report or (places[0] / PAGE).is_file(),
        half=half,
    )
    return Explorer(source.name, explorer_page(explored))


def explore_challenge(level: int, seed: int) -> Explorer:
    """The page of a planted circuit whose truth is hidden."""
    explored = challenge(level, seed)
    return Explorer(explored.name, explorer_page(explored))


def _saved_map(source: ModelSource, places: Sequence[Path]) -> NodeMap | None:
    for place in places:
        if (place / MAP).is_file():
            found = read_map(place / MAP, find_task)
            if found.stimuli.get("sha256") == source.sha256:
                return found
    return None


def _saved_claims(source: ModelSource, found: NodeMap, places: Sequence[Path]) -> dict[str, Any]:
    for place in places:
        content = read_made(place, CLAIMS, f"carrylens judge {place}")
        given = {} if content is None else read_claims(content, str(place / CLAIMS))
        if given.get("model") == source.name and given.get("map_sha256", found.sha256) == found.sha256:
            return given
    return {}
