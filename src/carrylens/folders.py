"""Folders: files that are all there, or are not there at all, and that did not change since.

Takes  a folder and the bytes of the files to put in it.
Gives  files that replace the old ones only once all of them are safely on disk, sealed by a list of their hashes.
Never  leaves half a file, never trusts a file whose hash is another than the one that was sealed, imports no torch.

1. Every file is written beside its place under a name of its own, and flushed to the disk.
2. Only then does each take its place, `manifest.json` last. Until it is there, the folder is unfinished.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from safetensors import SafetensorError
from safetensors.numpy import load

from carrylens.errors import CarryLensError
from carrylens.files import write_flushed

MANIFEST = "manifest.json"
CONFIG = "config.json"
WEIGHTS = "model.safetensors"


def write_sealed(folder: Path, contents: Mapping[str, bytes], also: Sequence[str] = ()) -> None:
    """Put `contents` into the folder and seal them; `also` names files already there to be sealed with them."""
    hashes = {name: _sha256(_read(folder / name)) for name in also}
    hashes |= {name: _sha256(content) for name, content in contents.items()}
    manifest = json.dumps({"sha256": dict(sorted(hashes.items()))}, indent=2) + "\n"
    drafts = {name: folder / f".{name}.{os.getpid()}.part" for name in (*contents, MANIFEST)}
    outcome = "What was there before is unchanged."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {**contents, MANIFEST: manifest.encode()}.items():
            write_flushed(drafts[name], content)
        outcome = "It is unfinished."
        for name, draft in drafts.items():
            draft.replace(folder / name)
        _flush_folder(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CarryLensError(
            f"{folder} could not be saved ({reason}). {outcome} Make room, or give another folder."
        ) from error
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink()


def read_sealed(folder: Path, name: str) -> bytes:
    """The bytes of a file, after making sure that they are the ones that were sealed."""
    sealed = _hashes(folder)
    if name not in sealed:
        raise CarryLensError(f"{folder / MANIFEST} does not list {name}. Save the model again.")
    content = _read(folder / name)
    if _sha256(content) != sealed[name]:
        raise CarryLensError(
            f"{folder / name} is not the file that was saved: its hash differs from {MANIFEST}. "
            "Restore it, or save the model again."
        )
    return content


def check_sealed(folder: Path) -> tuple[str, ...]:
    """The names of all sealed files, after making sure that each is the one that was sealed."""
    names = tuple(_hashes(folder))
    for name in names:
        read_sealed(folder, name)
    return names


def check_if_sealed(path: Path, content: bytes, *, must_be_listed: bool = False) -> None:
    """Raise a clear error if the folder's manifest has another hash for this file, or none where it must be listed.

    A folder may have no manifest: then nothing in it was sealed.
    """
    if not (path.parent / MANIFEST).is_file():
        return
    sealed = _hashes(path.parent)
    if must_be_listed and path.name not in sealed:
        raise CarryLensError(
            f"{path.parent / MANIFEST} does not list {path.name}, so it was put there by hand. Map the model again."
        )
    if path.name in sealed and _sha256(content) != sealed[path.name]:
        raise CarryLensError(
            f"{path} is not the file that was saved: its hash differs from {MANIFEST}. Restore it, or make it again."
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


def _hashes(folder: Path) -> dict[str, str]:
    path = folder / MANIFEST
    if not folder.is_dir():
        raise CarryLensError(f"{folder} is no folder. Give the folder of a saved model.")
    if not path.exists():
        raise CarryLensError(
            f"{folder} has no {MANIFEST}, so it is unfinished. Let its training end, or save it again."
        )
    try:
        hashes = json.loads(_read(path))["sha256"]
        named = {name: str(value) for name, value in hashes.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CarryLensError(f"{path} is not a list of hashes. Restore it, or save the model again.") from error
    for name in named:
        if Path(name).name != name:
            raise CarryLensError(f"{path} lists {name!r}, which is not in its folder. Save the model again.")
    return named


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CarryLensError(f"{path} cannot be read ({error.strerror or error}). Restore it.") from error


def _flush_folder(folder: Path) -> None:
    # The new names are on disk only when the folder is; where folders cannot be opened (Windows), there is no need.
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
