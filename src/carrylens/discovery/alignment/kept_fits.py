"""Kept fits: the placement after each sweep, so that a fit that was stopped goes on from there.

Takes  a file, and what the fits are made from.
Gives  the sweeps of a fit so far, the same to the bit as if it had not been stopped.
Never  takes a sweep of other weights, of another algorithm, population or amount, or one that was damaged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.fit import FitSettings, Fitted
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.errors import CarryLensError
from carrylens.files import read_whole, write_whole
from carrylens.json_records import Count, Schema, to_plain, to_text
from carrylens.nodes import Node
from carrylens.steps import hash_of_file
from carrylens.tasks.fingerprint import fingerprint

_LOOKED_AT = 64  # questions, by which another population is told


class SweepRecord(Struct, frozen=True):
    """What each node held after a sweep, and whether the sweep moved nothing."""

    held: dict[str, list[Count]]
    ended: bool


class KeptRecord(Struct, frozen=True):
    """The file: what the fits are of, the sweeps of each so far, and their hash, by which damage is seen.

    `made` is the hash of the file that the fits came to, once they are done.
    """

    about: dict[str, Any]
    fits: dict[str, list[SweepRecord]]
    sha256: str
    made: str | None = None


_SCHEMA = Schema(KeptRecord, "file of fits under way", "The fits begin anew.")
Fits = dict[str, list[SweepRecord]]


@dataclass
class KeptFits:
    """The fits under way; without a `path` nothing is kept."""

    path: Path | None = None
    about: Mapping[str, object] = field(default_factory=dict)
    _fits: Fits | None = None

    def begun(self, about: AlignmentTask, settings: FitSettings) -> Fitted | None:
        """The fit as far as it came, but no further than these settings ask."""
        sweeps = self._read().get(_key(about, settings), [])[: settings.n_sweeps] if self.path else []
        held = {} if not sweeps else {Node.parse(node): tuple(each) for node, each in sweeps[-1].held.items()}
        fits = held.keys() == set(about.nodes) and all(at < len(about.targets) for each in held.values() for at in each)
        return Fitted(NodePlacement(held), len(sweeps), sweeps[-1].ended) if sweeps and fits else None

    def keep(self, about: AlignmentTask, settings: FitSettings, found: Fitted) -> None:
        """Write down how far a fit came."""
        if self.path is None:
            return
        held = {str(node): list(targets) for node, targets in found.placement.held.items()}
        sweeps = self._read().setdefault(_key(about, settings), [])
        sweeps[found.n_sweeps - 1 :] = [SweepRecord(held, found.ended)]
        self._write()

    def note_made(self, content: bytes) -> None:
        """Note what the fits came to, before it is saved: a kill may come between that and `drop`."""
        self._write(hashlib.sha256(content).hexdigest())

    def sweep(self, made: Path) -> None:
        """Forget fits that came to the file that is there."""
        found = self._record()
        if found is not None and found.made is not None and found.made == hash_of_file(made):
            self.drop()

    def drop(self) -> None:
        """Forget the fits: what they were for is done."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _read(self) -> Fits:
        if self._fits is None:
            found = self._record()
            self._fits = {} if found is None else found.fits
        return self._fits

    def _write(self, made: str | None = None) -> None:
        if self.path is not None:
            record = KeptRecord(to_plain(dict(self.about)), self._read(), _hash(self._read()), made)
            write_whole(self.path, to_text(record).encode())

    def _record(self) -> KeptRecord | None:
        # What cannot be read, or is of something else, counts as none.
        if self.path is None:
            return None
        try:
            found = _SCHEMA.decode(read_whole(self.path), str(self.path))
            nodes = {node for fit in found.fits.values() for sweep in fit for node in sweep.held}
            assert all(Node.parse(node) for node in nodes)
        except CarryLensError:
            return None
        is_it = found.about == to_plain(dict(self.about)) and found.sha256 == _hash(found.fits)
        return found if is_it else None


def _key(about: AlignmentTask, settings: FitSettings) -> str:
    # All that decides a sweep, but for the weights: algorithm, targets, questions, and how much is tried.
    questions = about.population.draw(settings.seed, 0, _LOOKED_AT)
    values = about.causal.run(questions)
    said = {
        "algorithm": fingerprint(about.causal),
        "targets": [[*map(str, (each, *each.outputs, each.optional, *each.stands_for))] for each in about.targets],
        "questions": hashlib.sha256(about.task.token_ids(questions, values.outputs()).tobytes()).hexdigest(),
        "settings": [settings.n_rows, settings.n_alone, settings.n_tried, settings.seed],
    }
    return hashlib.sha256(to_text(said).encode()).hexdigest()


def _hash(fits: Fits) -> str:
    return hashlib.sha256(to_text(fits).encode()).hexdigest()
