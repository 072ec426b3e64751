"""Identity: what tells one model, and one way of computing it, from another.

Takes  a model, or the device a run computes on.
Gives  the hash of the weights, and what of a machine changes the bits of a run.
Never  looks at a name: two models may have the same.
"""

from __future__ import annotations

import hashlib

import torch

from carrylens.model.transformer import Transformer


def hash_of(model: Transformer) -> str:
    """A hash of the model's weights, whatever file they came from."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + str(tensor.dtype).encode() + tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def machine_of(device: torch.device) -> dict[str, object]:
    """The device and, on the CPU, how many threads share a sum: another number of them rounds it otherwise."""
    threads = {"threads": torch.get_num_threads()} if device.type == "cpu" else {}
    return {"device": device.type, **threads}
