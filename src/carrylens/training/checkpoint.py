"""Checkpoints: a training run in one file, so that it can stop anywhere and go on bit for bit.

Takes  the step, the weights and the optimiser's state, and what the run is.
Gives  the file, replaced in one step; and from a file all of that back, if it belongs to the same run.
Never  is half written, and never resumes another run's state.
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

from carrylens.errors import CarryLensError
from carrylens.files import read_whole, write_whole
from carrylens.json_records import Count, Schema, to_plain

CHECKPOINT = "checkpoint.safetensors"
_NEWER = ("device", "threads", "inserted_sha256")  # older checkpoints do not say, so nothing can be compared
_OPTIONS = {"device": "--device", "threads": "--threads", "placement": "--placement", "inserted_from": "--insert"}


class _Standing(msgspec.Struct, frozen=True):
    # What a checkpoint says beside its tensors.
    step: Count
    run: dict[str, Any]
    seconds: float
    sha256: str | None = None  # of the tensors; older checkpoints do not say


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


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Replace the folder's checkpoint."""
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in checkpoint.weights.items()}
    tensors |= {f"optimiser.{name}": tensor.contiguous() for name, tensor in checkpoint.optimiser.items()}
    standing = _Standing(checkpoint.step, checkpoint.run, checkpoint.seconds, _digest(tensors))
    about = msgspec.json.encode(standing)
    write_whole(folder / CHECKPOINT, save(tensors, metadata={"about": about.decode()}))


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
        reason = " ".join(str(error).split())
        raise CarryLensError(f"{path} is not a whole checkpoint ({reason}). {_ADVICE}") from error
    about = _SCHEMA.decode(said, str(path))
    if about.sha256 not in (None, _digest(tensors)):
        raise CarryLensError(f"{path} is not as it was saved: its tensors have another hash. {_ADVICE}")
    _check_same_run(path, about.run, to_plain(run))
    return Checkpoint(about.step, about.run, about.seconds, _part(tensors, "model."), _part(tensors, "optimiser."))


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


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
