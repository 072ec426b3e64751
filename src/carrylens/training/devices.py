"""Devices: where the numbers are crunched.

Takes  a device's name.
Gives  the device, if this machine has it; and what of the machine changes the bits of a run.
Never  chooses one silently: `auto` is a choice, the default is the CPU.
"""

from __future__ import annotations

import torch

from carrylens.errors import CarryLensError

MOST_THREADS = 1024
"""More crash PyTorch."""


def device_called(name: str, threads: int = 0) -> torch.device:
    """The device called `name`; `auto` is CUDA, else MPS, else the CPU. With 0 threads PyTorch chooses how many."""
    if not 0 <= threads <= MOST_THREADS:
        raise CarryLensError(f"{threads} threads were asked for. Write a number from 0 to {MOST_THREADS}.")
    if threads:
        torch.set_num_threads(threads)
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return torch.device(next(kind for kind in ("cuda", "mps", "cpu") if there[kind]))
    if not there.get(name, False):
        have = ", ".join(kind for kind, is_there in there.items() if is_there)
        raise CarryLensError(f"There is no device {name!r} here. Write one of {have}, or auto.")
    return torch.device(name)


def machine_of(device: torch.device) -> dict[str, object]:
    """The device and, on the CPU, how many threads share a sum: another number of them rounds it otherwise."""
    threads = {"threads": torch.get_num_threads()} if device.type == "cpu" else {}
    return {"device": device.type, **threads}
