"""Tensor bytes are those of the format's own library, and damage is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.tensor_bytes import TensorBytes, tensors_in

TYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
)
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def tensor_of(found: TensorBytes) -> Tensor:
    dtype = getattr(torch, found.dtype)
    values = bytearray(found.values)
    return (
        torch.frombuffer(values, dtype=dtype).reshape(found.shape) if values else torch.empty(found.shape, dtype=dtype)
    )


def file_of(header: object, data: bytes = b"") -> bytes:
    said = json.dumps(header).encode()
    return len(said).to_bytes(8, "little") + said + data


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=5), st.tuples(st.sampled_from(TYPES), SHAPES), max_size=4))
def test_every_tensor_is_what_the_library_reads(wanted: dict[str, tuple[torch.dtype, tuple[int, ...]]]) -> None:
    rng = np.random.default_rng(0)
    state = {
        name: torch.from_numpy(rng.integers(0, 2, shape)).to(dtype)
        for name, (dtype, shape) in wanted.items()
        if name != "__metadata__"
    }
    content = save(state, {"about": "a note"})
    found = {name: tensor_of(each) for name, each in tensors_in(content, "mine").items()}
    theirs = load(content)
    assert found.keys() == theirs.keys() == state.keys()
    for name, each in theirs.items():
        assert found[name].dtype is each.dtype
        assert torch.equal(found[name], each)


PLACE = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01",
        (1 << 40).to_bytes(8, "little") + b"{}",
        file_of([]),
        file_of({"a": 1}),
        file_of({"a": PLACE}, bytes(7)),
        file_of({"a": PLACE}, bytes(9)),
        file_of({"a": PLACE | {"dtype": "F31"}}, bytes(8)),
        file_of({"a": PLACE | {"shape": [3]}}, bytes(8)),
        file_of({"a": PLACE | {"shape": [-2]}}, bytes(8)),
        file_of({"a": PLACE | {"data_offsets": [8, 16]}}, bytes(16)),
        file_of({"a": PLACE, "b": PLACE}, bytes(8)),
        file_of({"a": PLACE | {"shape": [1 << 52, 1 << 52]}}, bytes(8)),
        file_of({"a": PLACE | {"shape": [1 << 70]}}, bytes(8)),
    ],
)
def test_damage_is_one_line(content: bytes) -> None:
    with pytest.raises(CarryLensError) as refused:
        tensors_in(content, "mine")
    assert "mine" in str(refused.value)
    assert "\n" not in str(refused.value)
