"""Folders: files that are all there, or are not there at all, and that did not change since.

Takes  a folder and the bytes of the files to put in it.
Gives  files that replace the old ones only once all of them are safely on disk, sealed by a list of their hashes.
Never  leaves half a file, never trusts a file whose hash is another than the one that was sealed, imports no torch.

How files are sealed, by one process at a time:
1. Every file is written beside its place, as a draft whose name has its hash, and flushed to the disk.
2. The new list of hashes, `manifest.json`, takes the place of the old one, and the folder is flushed. This one rename
   is the step from the old state to the new: before it the drafts are nothing, after it they are the files.
3. Each draft takes the name of its file. Who reads or writes the folder after a kill does what is left of this.

A file may be kept compressed, under its name with `.gz`. Who reads it asks for it by its own name.
"""

import errno
import gzip
import hashlib
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from carrylens.errors import CarryLensError, quote
from carrylens.files import (
    LARGEST,
    draft_of,
    drafts_in,
    flush_folder,
    is_abandoned,
    locked,
    make_folder,
    read_whole,
    write_flushed,
)
from carrylens.json_records import Schema, to_text
from carrylens.tensor_bytes import tensors_in

MANIFEST = "manifest.json"
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
ZIPPED = ".gz"
_LOCK = ".seal.lock"
_LONGEST_WAIT = 600.0  # seconds: a seal takes far less, even of large files on a slow disk
_TRIES = 5
_MOST_TIMES, _LEAST_BOUND = 200, 1 << 26  # records shrink to a tenth or less; what unpacks to far more is a bomb
_NEW_LIST = "new"
_SHA256 = re.compile("[0-9a-f]{64}")
_SEALED_MARK = re.compile(r"s[0-9a-f]{16}")


def write_sealed(folder: Path, contents: Mapping[str, bytes], also: Sequence[str] = ()) -> None:
    """Put `contents` into the folder and seal them; `also` names files already there to be sealed with them."""
    make_folder(folder)
    with locked(folder / _LOCK, _LONGEST_WAIT):
        _settle(folder)
        seal_files(folder, contents, {name: _sha256(_read(folder / name)) for name in also})


def add_sealed(folder: Path, contents: Mapping[str, bytes], zipped: Collection[str] = ()) -> None:
    """Put `contents` into the folder and list them beside all that is sealed there, which is left as it is.

    Those named in `zipped` are kept compressed, the same content as the same bytes.
    """
    packed = {
        f"{name}{ZIPPED}" if name in zipped else name: gzip.compress(each, 9, mtime=0) if name in zipped else each
        for name, each in contents.items()
    }
    twins = [name if name in zipped else f"{name}{ZIPPED}" for name in contents]
    make_folder(folder)
    with locked(folder / _LOCK, _LONGEST_WAIT):
        _settle(folder)
        sealed = _hashes(folder) if (folder / MANIFEST).exists() else {}
        seal_files(folder, packed, {name: value for name, value in sealed.items() if name not in twins})
        for twin in twins:  # of an earlier time, kept the other way
            (folder / twin).unlink(missing_ok=True)


def settle(folder: Path) -> None:
    """Let every sealed file have its own name, and drop what killed work left behind, its lock too.

    Where that cannot be done, because the folder cannot be written or is being written, nothing is: readers find a
    sealed file under its draft's name, too.
    """
    if next(drafts_in(folder), None) is None and not (folder / _LOCK).exists():
        return
    with suppress(CarryLensError, OSError), locked(folder / _LOCK, 0):
        _settle(folder)


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds nothing but what a kill left of files that were never sealed: drafts and locks."""
    if not folder.is_dir():
        return False
    drafts = {path.name for path in drafts_in(folder)}
    return all(path.name in drafts or path.name == _LOCK for path in folder.iterdir())


def read_sealed(folder: Path, name: str) -> bytes:
    """The bytes of a file, after making sure that they are the ones that were sealed."""
    sealed = _hashes(folder)
    kept = name if name in sealed else f"{name}{ZIPPED}"
    if kept not in sealed:
        raise CarryLensError(f"{folder / MANIFEST} does not list {name}. Save the model again.")
    content = read_checked(folder / kept)[0]
    return content if kept == name else unzipped(content, folder / kept)


def is_sealed(folder: Path, name: str) -> bool:
    """Whether the folder has a file of that name, compressed or not, which its manifest lists."""
    settle(folder)
    kept = [each for each in (name, f"{name}{ZIPPED}") if (folder / each).exists()]
    return bool(kept) and (folder / MANIFEST).exists() and not _hashes(folder).keys().isdisjoint(kept)


def is_zipped(folder: Path, name: str) -> bool:
    """Whether the folder keeps that file compressed. A plain one beside it that is not sealed is a leftover."""
    if not (folder / f"{name}{ZIPPED}").exists():
        return False
    sealed = _hashes(folder) if (folder / MANIFEST).exists() else {}
    return not (folder / name).exists() or (f"{name}{ZIPPED}" in sealed and name not in sealed)


def unzipped(content: bytes, path: Path) -> bytes:
    """What a compressed file holds."""
    unpacker = zlib.decompressobj(wbits=31)
    most = min(LARGEST, max(_LEAST_BOUND, _MOST_TIMES * len(content)))
    try:
        found = unpacker.decompress(content, most)
    except (zlib.error, MemoryError) as error:
        raise CarryLensError(f"{path} cannot be unpacked ({error}). Restore it, or make it again.") from error
    if not unpacker.eof and len(found) == most:
        raise CarryLensError(f"{path} unpacks to more than {most:,} bytes, too much for its size. Make it again.")
    if not unpacker.eof or unpacker.unused_data:
        raise CarryLensError(f"{path} is not one whole compressed file. Restore it, or make it again.")
    return found


def check_sealed(folder: Path) -> tuple[str, ...]:
    """The names of all sealed files, after making sure that each is the one that was sealed."""
    names = tuple(_hashes(folder))
    for name in names:
        read_sealed(folder, name)
    return names


def read_checked(path: Path, advice: str = "Restore it.", *, must_be_listed: bool = False) -> tuple[bytes, bool]:
    """The bytes of a file, and whether the manifest of its folder lists them.

    Other bytes than the listed ones are an error, and so is a file that is not listed where it must be. A folder may
    have no manifest: then nothing in it was sealed.
    """
    manifest = path.parent / MANIFEST
    if not manifest.is_file():
        return read_whole(path, advice), False
    for _ in range(_TRIES):  # a file may be sealed anew between two looks
        sealed = _hashes(path.parent)
        if path.name not in sealed:
            break
        if (content := _with_hash(path, sealed[path.name], advice)) is not None:
            return content, True
        if sealed == _hashes(path.parent):
            raise CarryLensError(
                f"{path} is not the file that was saved: its hash differs from {MANIFEST}. "
                "Restore it, or make it again."
            )
    content = read_whole(path, advice)
    if must_be_listed:
        raise CarryLensError(f"{manifest} does not list {path.name}, so it was put there by hand. Make it again.")
    return content, False


def _with_hash(path: Path, value: str, advice: str) -> bytes | None:
    # The bytes with that hash, from the file or from its draft, which may take the file's name meanwhile.
    for place in (path, draft_of(path, _mark(value)), path):
        with suppress(CarryLensError):
            if _sha256(content := read_whole(place)) == value:
                return content
    read_whole(path, advice)  # an error that says why, if it cannot be read
    return None


def seal_files(folder: Path, contents: Mapping[str, bytes], others: Mapping[str, str]) -> None:
    """Put files into a locked and settled folder, whose manifest then lists them and `others`, by their hashes."""
    hashes = {**others, **{name: _sha256(content) for name, content in contents.items()}}
    manifest = to_text(Manifest(dict(sorted(hashes.items()))), indent=2) + "\n"
    drafts = {name: draft_of(folder / name, _mark(hashes[name])) for name in contents}
    listed = draft_of(folder / MANIFEST, _NEW_LIST)
    is_sealed = False
    try:
        for name, content in contents.items():
            if (folder / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{name} there is a folder")
            write_flushed(drafts[name], content)
        write_flushed(listed, manifest.encode())
        flush_folder(folder)
        listed.replace(folder / MANIFEST)
        is_sealed = True
        flush_folder(folder)
        for name, draft in drafts.items():
            draft.replace(folder / name)
        flush_folder(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        outcome = "It is saved, under the names of drafts." if is_sealed else "What was there before is unchanged."
        raise CarryLensError(
            f"{folder} could not be saved ({reason}). {outcome} Make room, or give another folder."
        ) from error
    finally:
        for draft in () if is_sealed else (*drafts.values(), listed):
            with suppress(OSError):
                draft.unlink()


def _settle(folder: Path) -> None:
    # With the lock. Drafts that the manifest lists take their names, the others go.
    drafts = list(drafts_in(folder))
    if not drafts:
        return
    sealed = _hashes(folder) if (folder / MANIFEST).is_file() else {}
    pending = {draft_of(folder / name, _mark(value)): (folder / name, value) for name, value in sealed.items()}
    for draft in drafts:
        path, value = pending.get(draft, (None, ""))
        if path is not None and not draft.is_symlink() and _sha256(_read(draft)) == value:
            draft.replace(path)
        elif _is_of_seal(draft) or is_abandoned(draft):
            draft.unlink(missing_ok=True)
    flush_folder(folder)


def hash_of_weights(path: Path) -> str:
    """The hash of the weights in a file: that of the model they make, as maps and tests have it."""
    content, _ = read_checked(path)
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors_in(content, str(path)).items()):
        digest.update(f"{name}torch.{tensor.dtype}".encode())
        digest.update(tensor.values)
    return digest.hexdigest()


class Manifest(Struct, frozen=True):
    """The whole of `manifest.json`: the hash of every file that was sealed."""

    sha256: dict[str, str]

    def __post_init__(self) -> None:
        for name, value in self.sha256.items():
            if Path(name).name != name or name == "..":
                raise CarryLensError(f"it lists {quote(name)}, which is not in its folder")
            if _SHA256.fullmatch(value) is None:
                raise CarryLensError(f"{quote(value)} is not a hash of {quote(name)}")


_MANIFEST_SCHEMA = Schema(Manifest, "list of hashes", "Restore it, or save the model again.")


def _hashes(folder: Path) -> dict[str, str]:
    path = folder / MANIFEST
    if not folder.is_dir():
        raise CarryLensError(f"{folder} is not a folder. Give the folder of a saved model.")
    if not path.exists():
        raise CarryLensError(
            f"{folder} has no {MANIFEST}, so it is unfinished. Let its training end, or save it again."
        )
    return _MANIFEST_SCHEMA.decode(_read(path), str(path)).sha256


def _read(path: Path) -> bytes:
    return read_whole(path)


def _mark(value: str) -> str:
    return f"s{value[:16]}"


def _is_of_seal(draft: Path) -> bool:
    mark = draft.suffixes[-2].removeprefix(".")
    return mark == _NEW_LIST or _SEALED_MARK.fullmatch(mark) is not None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
