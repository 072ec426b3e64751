"""History: `training.jsonl`, how a model was trained and how its losses fell.

Takes  what a run is and its notes; or the bytes of a file.
Gives  the file's text, and from it the notes again, each checked.
Never  imports torch: losses are drawn without a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, convert

from carrylens.errors import CarryLensError
from carrylens.json_records import PositiveCount, Schema, Share, to_plain, to_text

HISTORY = "training.jsonl"

HistoryNote = dict[str, Any]
"""A line of the history as plain data."""


OutputLosses = Annotated[dict[str, Annotated[list[float], Meta(max_length=1000)]], Meta(max_length=100)]
"""The loss of each output, by the condition that its questions meet: no more than can be drawn."""


class RunFields(Struct):
    """What others read of a run's description, which may say more: all of it where it was trained for arithmetic."""

    name: str
    kind: str | UnsetType = UNSET
    stream: str | UnsetType = UNSET
    batch: PositiveCount | UnsetType = UNSET
    adam_rate: float | UnsetType = UNSET
    muon_rate: float | UnsetType | None = UNSET
    tail: Share | UnsetType = UNSET
    silent_start: bool | UnsetType = UNSET
    steady: Share | UnsetType = UNSET
    device: str | UnsetType = UNSET
    threads: PositiveCount | UnsetType = UNSET
    inserted_from: str | UnsetType = UNSET
    inserted_sha256: str | UnsetType = UNSET
    placement: str | UnsetType = UNSET


class HistoryLine(Struct, frozen=True, kw_only=True):
    """One line: what the run is, or a note of its losses."""

    run: dict[str, Any] | UnsetType = UNSET
    step: PositiveCount | UnsetType = UNSET
    loss: float | UnsetType = UNSET
    token_losses: OutputLosses | UnsetType = UNSET
    interchange: float | UnsetType = UNSET
    hard: Share | UnsetType = UNSET
    seconds: float | UnsetType = UNSET

    def __post_init__(self) -> None:
        if isinstance(self.run, UnsetType):
            if UNSET in (self.step, self.loss, self.token_losses, self.seconds):
                raise CarryLensError("it is neither about a run nor a note with step, loss, token_losses and seconds")
        else:
            convert(self.run, RunFields)


_SCHEMA = Schema(HistoryLine, "line of a training history", "Restore it, or train again.")


def history_text(run: Mapping[str, object], notes: Sequence[HistoryNote]) -> str:
    """The text of the file."""
    return "".join(to_text(line) + "\n" for line in ({"run": run}, *notes))


def read_history(content: bytes, source: str) -> list[HistoryNote]:
    """The lines of the file as plain data: what the run is, then its notes, in the order of their steps."""
    lines = _SCHEMA.decode_lines(content, source)
    with _SCHEMA.refusing(source):
        _check_order(lines)
    return [to_plain(line) for line in lines]


def _check_order(lines: Sequence[HistoryLine]) -> None:
    if any((line.run is UNSET) == (at == 0) for at, line in enumerate(lines)):
        raise CarryLensError("its first line, and no other, says what the run is")
    steps = [line.step for line in lines if not isinstance(line.step, UnsetType)]
    if steps != sorted(set(steps)):
        raise CarryLensError("its steps do not rise")
    notes = [line.token_losses for line in lines if not isinstance(line.token_losses, UnsetType)]
    if len({len(losses) for note in notes for losses in note.values()}) > 1:
        raise CarryLensError("its notes are of different numbers of outputs")
