"""The pile gives every tensor once, with as many axes as are called for, and leaves none over."""

from __future__ import annotations

import pytest
import torch

from carrylens.errors import CarryLensError
from carrylens.model.formats.tensor_pile import TensorPile, split_heads


def test_a_tensor_that_is_taken_is_gone() -> None:
    pile = TensorPile({"a": torch.zeros(2, 3), "b": torch.ones(4)}, "their.pt")
    assert pile.shape("a", 2) == (2, 3)
    assert "a" in pile
    assert torch.equal(pile.take("a", 2), torch.zeros(2, 3))
    assert list(pile) == ["b"]
    with pytest.raises(CarryLensError, match=r"their\.pt.*\bb\b.*GPT-2"):
        pile.finish("GPT-2")
    pile.take("b", 1)
    pile.finish("GPT-2")
    with pytest.raises(CarryLensError, match=r"their\.pt lacks a"):
        pile.take("a", 2)


@pytest.mark.parametrize(("shape", "n_axes"), [((2, 3), 1), ((2,), 2), ((0, 3), 2)])
def test_a_tensor_of_another_form_is_refused_and_stays(shape: tuple[int, ...], n_axes: int) -> None:
    pile = TensorPile({"a": torch.zeros(shape)}, "their.pt")
    with pytest.raises(CarryLensError, match=r"their\.pt has a"):
        pile.take("a", n_axes)
    assert "a" in pile


def test_heads_are_told_and_must_fit() -> None:
    assert split_heads(12, 3, "their.pt") == 4
    for n_heads in (None, 0, -1, 5, True):
        with pytest.raises(CarryLensError, match=r"their\.pt.*12 columns"):
            split_heads(12, n_heads, "their.pt")
