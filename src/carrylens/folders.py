"""Folders: files that are all there, or are not there at all, and that did not change since.

Takes  a folder and the bytes of the files to put in it.
Gives  files that replace the old ones only once all of them are safely on disk, sealed by a list of their hashes.
Never  leaves half a file, never trusts a file whose hash is another than the one that was sealed, imports no torch.

1. Every file is written beside its place under a name of its own, and flushed to the disk.
2. Only then does each take its place, `manifest.json` last. Until it is there, the folder is unfinished.

A file may be kept compressed, under its name with `.gz`. Who reads it asks for it by its own name.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from safetensors import SafetensorError
from safetensors.numpy import load

from carrylens.errors import CarryLensError
from carrylens.files import LARGEST, read_whole, write_flushed
from carrylens.json_records import Schema, to_text

MANIFEST = "manifest.json"
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
ZIPPED = ".gz"


def write_sealed(
    folder: Path, contents: Mapping[str, bytes], also: Sequence[str] = (), sealed: Mapping[str, str] | None = None
) -> None:
    """Put `contents` into the folder and seal them; `also` names files already there to be sealed with them.

    `sealed` are hashes that go into the manifest as they are.
    """
    hashes = dict(sealed or {}) | {name: _sha256(_read(folder / name)) for name in also}
    hashes |= {name: _sha256(content) for name, content in contents.items()}
    manifest = to_text(Manifest(dict(sorted(hashes.items()))), indent=2) + "\n"
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
    kept = name if name in sealed else f"{name}{ZIPPED}"
    if kept not in sealed:
        raise CarryLensError(f"{folder / MANIFEST} does not list {name}. Save the model again.")
    content = _read(folder / kept)
    if _sha256(content) != sealed[kept]:
        raise CarryLensError(
            f"{folder / kept} is not the file that was saved: its hash differs from {MANIFEST}. "
            "Restore it, or save the model again."
        )
    return content if kept == name else unzipped(content, folder / kept)


def is_sealed(folder: Path, name: str) -> bool:
    """Whether the folder has a file of that name, compressed or not, which its manifest lists."""
    kept = [each for each in (name, f"{name}{ZIPPED}") if (folder / each).exists()]
    return bool(kept) and (folder / MANIFEST).exists() and not _hashes(folder).keys().isdisjoint(kept)


def check_sealed(folder: Path) -> tuple[str, ...]:
    """The names of all sealed files, after making sure that each is the one that was sealed."""
    names = tuple(_hashes(folder))
    for name in names:
        read_sealed(folder, name)
    return names


def add_sealed(folder: Path, contents: Mapping[str, bytes], zipped: Collection[str] = ()) -> None:
    """Put `contents` into the folder and list them beside all that is sealed there, which is left as it is.

    Those named in `zipped` are kept compressed, the same content as the same bytes.
    """
    sealed = _hashes(folder) if (folder / MANIFEST).exists() else {}
    kept = {f"{name}{ZIPPED}" if name in zipped else name: content for name, content in contents.items()}
    packed = {name: gzip.compress(each, 9, mtime=0) if name not in contents else each for name, each in kept.items()}
    twins = [name if name in zipped else f"{name}{ZIPPED}" for name in contents]
    write_sealed(folder, packed, sealed={name: value for name, value in sealed.items() if name not in twins})
    for twin in twins:  # of an earlier time, kept the other way
        (folder / twin).unlink(missing_ok=True)


def is_zipped(folder: Path, name: str) -> bool:
    """Whether the folder keeps that file compressed. A plain one beside it that is not sealed is a leftover."""
    if not (folder / f"{name}{ZIPPED}").exists():
        return False
    sealed = _hashes(folder) if (folder / MANIFEST).exists() else {}
    return not (folder / name).exists() or (f"{name}{ZIPPED}" in sealed and name not in sealed)


def unzipped(content: bytes, path: Path) -> bytes:
    """What a compressed file holds."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        found = unpacker.decompress(content, LARGEST)
    except (zlib.error, MemoryError) as error:
        raise CarryLensError(f"{path} cannot be unpacked ({error}). Restore it, or make it again.") from error
    if not unpacker.eof or unpacker.unused_data:
        raise CarryLensError(f"{path} is not one whole compressed file. Restore it, or make it again.")
    return found


def check_if_sealed(path: Path, content: bytes, *, must_be_listed: bool = False) -> bool:
    """Whether the folder's manifest has this very file; another hash, or none where it must be listed, is an error.

    A folder may have no manifest: then nothing in it was sealed.
    """
    if not (path.parent / MANIFEST).is_file():
        return False
    sealed = _hashes(path.parent)
    if must_be_listed and path.name not in sealed:
        raise CarryLensError(
            f"{path.parent / MANIFEST} does not list {path.name}, so it was put there by hand. Make it again."
        )
    if path.name in sealed and _sha256(content) != sealed[path.name]:
        raise CarryLensError(
            f"{path} is not the file that was saved: its hash differs from {MANIFEST}. Restore it, or make it again."
        )
    return path.name in sealed


def hash_of_weights(path: Path) -> str:
    """The hash of the weights in a file: that of the model they make, as maps and tests have it."""
    content = _read(path)
    check_if_sealed(path, content)
    try:
        state = load(content)
    except (SafetensorError, KeyError, TypeError) as error:
        raise CarryLensError(f"{path} holds no weights ({' '.join(str(error).split())}). Restore it.") from error
    digest = hashlib.sha256()
    for name, array in sorted(state.items()):
        digest.update(name.encode() + f"torch.{array.dtype}".encode() + array.tobytes())
    return digest.hexdigest()


class Manifest(Struct, frozen=True):
    """The whole of `manifest.json`: the hash of every file that was sealed."""

    sha256: dict[str, str]


_MANIFEST_SCHEMA = Schema(Manifest, "list of hashes", "Restore it, or save the model again.")


def _hashes(folder: Path) -> dict[str, str]:
    path = folder / MANIFEST
    if not folder.is_dir():
        raise CarryLensError(f"{folder} is no folder. Give the folder of a saved model.")
    if not path.exists():
        raise CarryLensError(
            f"{folder} has no {MANIFEST}, so it is unfinished. Let its training end, or save it again."
        )
    named = _MANIFEST_SCHEMA.decode(_read(path), str(path)).sha256
    for name in named:
        if Path(name).name != name:
            raise CarryLensError(f"{path} lists {name!r}, which is not in its folder. Save the model again.")
    return named


def _read(path: Path) -> bytes:
    return read_whole(path)


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
