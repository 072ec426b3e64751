"""Tensor files: names and tensors from a file that anyone may have made.

Takes  the path of a `.safetensors` file, or of a state dict saved with `torch.save` on any device, by itself or
       in the checkpoint of a training loop.
Gives  its tensors on the CPU, by name.
Never  runs what a file holds: only plain tensors are read from a pickle, and anything else refuses the file.
"""

import io
import pickle
import re
import warnings
import zipfile
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.files import read_whole

SAFETENSORS = ".safetensors"
_SLACK = 1 << 20
_WRAPPERS = ("model", "state_dict", "model_state_dict")
"""What training loops call the weights in a checkpoint that also has steps, settings and the optimiser's state."""


def read_tensors(path: str | Path, wanted: str = "a file of weights") -> dict[str, Tensor]:
    """The tensors in a file; `wanted` is what an error asks for where there is no file."""
    content = read_whole(Path(path), f"Give {wanted}.")
    try:
        state = load(content) if str(path).endswith(SAFETENSORS) else _read_pickle(path, content)
    except CarryLensError:
        raise
    except pickle.UnpicklingError as error:
        raise CarryLensError(_refusal(path, str(error))) from error
    except Exception as error:  # a damaged file can trip the reader anywhere
        raise CarryLensError(f"{path} is damaged, or is not a file of tensors. Fetch it again.") from error
    state = _weights_in(state)
    if state is None:
        raise CarryLensError(f"{path} is not a dictionary of tensors. Give a state dict saved with torch.save.")
    return state


def _read_pickle(path: str | Path, content: bytes) -> object:
    _check_sums(path, content)
    with warnings.catch_warnings(action="ignore"):  # PyTorch remarks on files that are then refused
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def _check_sums(path: str | Path, content: bytes) -> None:
    # PyTorch does not look at the check sums of its own files, so a flipped bit would go unseen.
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            declared = sum(entry.file_size for entry in archive.infolist())
            if declared > 2 * len(content) + _SLACK:  # PyTorch stores tensors as they are
                raise CarryLensError(
                    f"{path} says that it unfolds to {declared:,} bytes, far more than it has. Fetch it again."
                )
            if archive.testzip() is not None:
                raise zipfile.BadZipFile


def _weights_in(loaded: object) -> dict[str, Tensor] | None:
    # A state dict, or the only one that a training loop saved beside its own state; none that lies deeper.
    if not isinstance(loaded, dict):
        return None
    inner = [loaded[name] for name in _WRAPPERS if isinstance(loaded.get(name), dict)]
    found = inner[0] if len(inner) == 1 else loaded
    return dict(found) if all(_is_weight(name, value) for name, value in found.items()) else None


def _is_weight(name: object, value: object) -> bool:
    return isinstance(name, str) and isinstance(value, Tensor) and value.layout is torch.strided


def _refusal(path: str | Path, reason: str) -> str:
    named = re.search(r"GLOBAL ([\w.]+)", reason)
    what = f"code ({named[1]})" if named else "something else than tensors"
    return f"{path} holds {what}, so it was refused and nothing in it was run. Give a plain state dict of tensors."
