"""Saved map: the map in a file, if it is the one that was saved there, and of the weights beside it.

Takes  the path of a map.
Gives  the `NodeMap`.
Never  imports torch: who judges or draws a map needs no model. Files that a reader of maps does not use may be gone.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from safetensors import SafetensorError
from safetensors.numpy import load

from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.errors import CarryLensError

_MANIFEST, _WEIGHTS = "manifest.json", "model.safetensors"  # as in the model's room, which would import torch


def read_map(path: Path) -> NodeMap:
    """The map at `path`, after making sure that nobody changed it, or the weights that it was made from."""
    content = _read(path)
    check_seal(path, content)
    found = NodeMap.from_json(content, source=str(path))
    said, weights = found.stimuli.get("sha256"), path.parent / _WEIGHTS
    if said is not None and weights.is_file() and (beside := hash_of_weights(weights)) != said:
        raise CarryLensError(
            f"{path} is of other weights ({str(said)[:12]}) than those beside it ({beside[:12]}). Map the model again."
        )
    return found


def check_seal(path: Path, content: bytes) -> None:
    """Raise a clear error if the folder's manifest has another hash for this file, or none for a `map.json`.

    A folder may have no manifest: then nothing in it was sealed.
    """
    manifest = path.parent / _MANIFEST
    if not manifest.is_file():
        return
    try:
        sealed = dict(json.loads(_read(manifest))["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise CarryLensError(f"{manifest} is not a list of hashes. Restore it, or map the model again.") from error
    if path.name == MAP and MAP not in sealed:
        raise CarryLensError(f"{manifest} does not list {MAP}, so it was put there by hand. Map the model again.")
    if path.name in sealed and hashlib.sha256(content).hexdigest() != sealed[path.name]:
        raise CarryLensError(
            f"{path} is not the file that was saved: its hash differs from {_MANIFEST}. Restore it, or map the model "
            "again."
        )


def hash_of_weights(path: Path) -> str:
    """The hash of the weights in a file: that of the model they make, as maps and tests have it."""
    try:
        state = load(_read(path))
    except (SafetensorError, KeyError, TypeError) as error:
        raise CarryLensError(f"{path} holds no weights ({' '.join(str(error).split())}). Restore it.") from error
    digest = hashlib.sha256()
    for name, array in sorted(state.items()):
        digest.update(name.encode() + f"torch.{array.dtype}".encode() + array.tobytes())
    return digest.hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CarryLensError(
            f"{path} cannot be read ({error.strerror or error}). Give a map, or the folder it is in."
        ) from error
