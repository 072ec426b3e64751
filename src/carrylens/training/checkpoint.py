"""Checkpoints: a training run in one file, so that it can stop anywhere and go on bit for bit.

Takes  the step, the weights, the optimiser's state, the notes so far, and what the run is.
Gives  the file, replaced in one step; and from a file all of that back, if it belongs to the same run.
Never  is half written, never resumes another run's state, and never one that was changed: a hash covers all it says.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from carrylens.errors import CarryLensError, reason_of
from carrylens.files import read_whole, write_whole
from carrylens.json_records import Count, Schema, to_plain, to_text
from carrylens.training.history import HistoryNote

CHECKPOINT = "checkpoint.safetensors"
_NEWER = ("device", "threads", "inserted_sha256")  # older checkpoints do not say, so nothing can be compared
_OPTIONS = {"device": "--device", "threads": "--threads", "placement": "--placement", "inserted_from": "--insert"}


class _Standing(msgspec.Struct, frozen=True):
    # What a checkpoint says beside its tensors.
    step: Count
    run: dict[str, Any]
    seconds: float
    sha256: str | None = None  # of the tensors; older checkpoints do not say, nor what follows
    history: list[dict[str, Any]] | None = None
    seal: str | None = None  # the hash of all this but itself


_ADVICE = "Train anew with --restart."
_SCHEMA = Schema(_Standing, "whole checkpoint", _ADVICE)


@dataclass(frozen=True)
class Checkpoint:
    """Where a run stands after `step` steps; `run` says which run it is."""

    step: int
    run: dict[str, object]
    seconds: float
    weights: dict[str, Tensor]
    optimiser: dict[str, Tensor]
    history: list[HistoryNote] | None = None
    """The notes up to that step; None where an older version left them to the history's own file."""


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Replace the folder's checkpoint."""
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in checkpoint.weights.items()}
    tensors |= {f"optimiser.{name}": tensor.contiguous() for name, tensor in checkpoint.optimiser.items()}
    standing = _Standing(checkpoint.step, checkpoint.run, checkpoint.seconds, _digest(tensors), checkpoint.history)
    about = to_text(msgspec.structs.replace(standing, seal=_seal(standing)))
    write_whole(folder / CHECKPOINT, save(tensors, metadata={"about": about}))


def load_checkpoint(folder: Path, run: dict[str, object]) -> Checkpoint:
    """The folder's checkpoint, after making sure that it is of the same run."""
    path = folder / CHECKPOINT
    if not path.exists():
        raise CarryLensError(f"{folder} has no checkpoint to resume from. Leave --resume out to start.")
    content = read_whole(path, _ADVICE)  # first: to open a pipe is to wait for its other end
    try:
        with safe_open(str(path), framework="pt") as file:
            said = (file.metadata() or {}).get("about", "")
        tensors = load(content)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CarryLensError(f"{path} is not a whole checkpoint ({reason_of(error)}). {_ADVICE}") from error
    about = _SCHEMA.decode(said, str(path))
    is_older = about.seal is None and about.history is None
    if about.sha256 not in (None, _digest(tensors)) or not (is_older or about.seal == _seal(about)):
        raise CarryLensError(f"{path} was changed after it was saved: its hash differs. {_ADVICE}")
    _check_same_run(path, about.run, to_plain(run))
    weights, optimiser = _part(tensors, "model."), _part(tensors, "optimiser.")
    return Checkpoint(about.step, about.run, about.seconds, weights, optimiser, about.history)


def _check_same_run(path: Path, saved: dict[str, object], wanted: dict[str, object]) -> None:
    for name in sorted(saved.keys() | wanted.keys()):
        if saved.get(name) == wanted.get(name) or (name in _NEWER and name not in saved):
            continue
        if name == "inserted_sha256":
            raise CarryLensError(
                f"{path} was trained with another model called {saved.get('inserted_from')} inserted: its weights have "
                f"the hash {str(saved[name])[:16]}, not {str(wanted.get(name))[:16]}. "
                "Resume with --insert and the folder of that one, or train anew with --restart."
            )
        wants = f"{_OPTIONS[name]} {saved[name]}" if name in _OPTIONS and name in saved else "what it was started with"
        raise CarryLensError(
            f"{path} was trained with {name} = {saved.get(name)!r}, not {wanted.get(name)!r}, "
            f"which makes another model. Resume with {wants}, or train anew with --restart."
        )


def _digest(tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _seal(standing: _Standing) -> str:
    return hashlib.sha256(to_text(msgspec.structs.replace(standing, seal=None), sort_keys=True).encode()).hexdigest()


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
