"""Exploring: the page that runs a model, from what was found and saved about it.

Takes  a model as people name it, or one that is loaded; or the level of a challenge.
Gives  the text of the page and where it belongs.
Never  measures: a map, claims and an alignment are shown where they were saved for these very weights.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.claims.judgement import CLAIMS
from carrylens.claims.own_files import own_file, own_folders
from carrylens.claims.records import read_claims
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.saved_map import read_map
from carrylens.errors import CarryLensError
from carrylens.explorer.challenge import challenge
from carrylens.explorer.page import explorer_page
from carrylens.explorer.page_data import Explored
from carrylens.files import write_whole
from carrylens.model.source import ModelSource
from carrylens.steps import read_made
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.fingerprint import fingerprint
from carrylens.workflow.given_models import source_of
from carrylens.workflow.reading import EXPLORER, PAGE
from carrylens.workflow.task_files import task_finder

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer

_HEIGHT = 900


@dataclass(frozen=True)
class Explorer:
    """A page that runs a model: save it, or let a notebook show it."""

    name: str
    page: str
    place: Path = Path(EXPLORER)
    """Where it is written, if no other file is named."""

    def save(self, path: str | Path | None = None) -> Path:
        """Write the page to a file that any browser opens; folders that are not there are made."""
        path = self.place if path is None else Path(path)
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


def explore_any(
    model: str | Path | ModelSource | Transformer | None,
    folder: Path | None = None,
    hypothesis: Path | None = None,
    *,
    half: bool = False,
    challenge: int | None = None,
    seed: int = 0,
) -> Explorer:
    """The page of a model: a name, a folder, `hf:owner/repository`, a loaded model that knows its task; or a challenge.

    `hypothesis` is a file that declares variables of your own: the page then runs that algorithm beside the model.
    """
    if (challenge is None) == (model is None):
        raise CarryLensError(
            "A model or a challenge is needed, and not both. Give one, such as add_d6_l2_h3_w96_t2K_s1."
        )
    if model is None:
        return explore_challenge(challenge or 1, seed)
    source = source_of(model)
    return explore_source(source, source.analysis_places(folder), half=half, hypothesis=hypothesis)


def explore_source(
    source: ModelSource,
    places: Sequence[Path],
    *,
    half: bool = False,
    has_report: bool = False,
    hypothesis: Path | None = None,
) -> Explorer:
    """The page of a model that was found, with the map, claims and alignment of these weights from one of the places.

    With a hypothesis of the user's own the page runs its algorithm, and shows the map of its variables.
    """
    home = places[0]
    stated = None if hypothesis is None else own_hypothesis(hypothesis, source.task)
    algorithm = None if stated is None else stated.model
    if stated is not None:
        places = [*own_folders(places, stated.name), *places]
    found = _saved_map(source, places, algorithm)
    claims = CLAIMS if stated is None else own_file("claims", stated.name, places)
    explored = Explored(
        source.load(),
        source.task,
        source.name,
        map=found,
        claims=_saved_claims(found, places, claims) if found else {},
        alignment=_saved_alignment(source, places, None if stated is None else stated.name),
        sha256=source.sha256,
        has_report=has_report or (places[0] / PAGE).is_file(),
        half=half,
        algorithm=algorithm,
    )
    return Explorer(source.name, explorer_page(explored), home / EXPLORER)


def explore_challenge(level: int, seed: int) -> Explorer:
    """The page of a planted circuit whose truth is hidden."""
    explored = challenge(level, seed)
    return Explorer(explored.name, explorer_page(explored), Path(f"challenge{level}.html"))


def _saved_map(source: ModelSource, places: Sequence[Path], causal: CausalModel | None) -> NodeMap | None:
    for place in places:
        if (place / MAP).is_file():
            found = read_map(place / MAP, task_finder(source.task), causal)
            is_of_it = causal is None or fingerprint(found.causal) == fingerprint(causal)
            if is_of_it and found.stimuli.get("sha256") == source.sha256:
                return found
    return None


def _saved_alignment(source: ModelSource, places: Sequence[Path], own: str | None) -> MeasuredAlignment | None:
    # What was measured jointly of these weights, for the usual hypothesis or for one of the user's own.
    name = ALIGNMENT if own is None else own_file("alignment", own, places)
    for place in places:
        content = read_made(place, name, f"carrylens settle {source.given}")
        if content is not None:
            measured = MeasuredAlignment.from_json(content, str(place / name))
            if measured.is_of(source.name, source.sha256, own or source.task.causal.name):
                return measured
    return None


def _saved_claims(found: NodeMap, places: Sequence[Path], name: str) -> dict[str, Any]:
    # What was judged on this very map; files of the first version do not say on which.
    for place in places:
        content = read_made(place, name, f"carrylens judge {place}")
        if content is not None:
            claims = read_claims(content, str(place / name))
            if claims["model"] == found.model and claims.get("map_sha256", found.sha256) == found.sha256:
                return claims
    return {}
