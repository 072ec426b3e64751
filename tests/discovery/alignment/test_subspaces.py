"""Directions of variables that share a node."""

import numpy as np
import torch

from carrylens.discovery.alignment.subspaces import SubspaceFinder
from carrylens.nodes import Node

NODE, N = Node(0, 0, 0), 600
RNG = np.random.default_rng(3)
TEN, TWO = RNG.integers(0, 10, N), RNG.integers(0, 2, N)


def finder(write: np.ndarray, *codes: np.ndarray) -> SubspaceFinder:
    return SubspaceFinder({NODE: write}, [np.asarray(code, dtype=np.intp) for code in codes])


def test_variables_in_slanted_directions_are_moved_one_without_the_other() -> None:
    effects, flag = RNG.normal(size=(10, 24)), RNG.normal(size=24)
    flag += effects[3] - effects[4]  # not orthogonal to the other's directions
    write = effects[TEN] + TWO[:, None] * flag + 0.01 * RNG.normal(size=(N, 24))
    found = finder(write, TEN, TWO).of(NODE, (0, 1))
    assert found is not None
    assert found.ranks == (9, 1)
    base, source = torch.from_numpy(write[:50]).float(), torch.from_numpy(write[50:100]).float()
    moved = base + (source - base) @ found.maps[1].T
    wanted = effects[TEN[:50]] + TWO[50:100, None] * flag
    assert np.abs(moved.numpy() - wanted).max() < 0.3
    assert torch.allclose(sum(found.maps) + found.rest, torch.eye(24), atol=1e-5)


def test_variables_on_one_axis_cannot_be_told_apart() -> None:
    axis = RNG.normal(size=24)
    write = (TEN + 10 * TWO)[:, None] * axis
    assert finder(write, TEN, TWO).of(NODE, (0, 1)) is None


def test_a_value_that_two_variables_share_is_given_to_the_one_of_fewer_values() -> None:
    state = np.where(TEN == 9, 2, TWO)  # a third value that goes with 9 alone
    digit, third = RNG.normal(size=(10, 24)), RNG.normal(size=(3, 24))
    found = finder(digit[TEN] + third[state], TEN, state).of(NODE, (0, 1))
    assert found is not None
    assert found.ranks == (8, 2)


def test_the_share_of_a_variable_that_a_write_knows_nothing_of_is_none() -> None:
    write = RNG.normal(size=(10, 24))[TEN]
    about = finder(write, TEN, TWO)
    assert about.share(NODE, 0) > 0.95
    assert about.share(NODE, 1) < 0.02
