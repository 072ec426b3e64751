"""How a digit is held: writes of both kinds, read by readers of both kinds, and the digits of a planted circuit."""

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Operation
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.subspaces import Codes, Floats
from carrylens.discovery.alignment.table_or_circle import (
    CIRCLE,
    TABLE,
    UNTOLD,
    DigitSubspaces,
    HeldAs,
    digit_subspaces,
    held_as,
)
from carrylens.discovery.alignment.targets import targets_of
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.tasks.samplers import population_of

WIDTH = 24


def codebook(kind: str, rng: np.random.Generator) -> Floats:
    """What is written for each digit."""
    if kind == "table":
        return np.asarray(rng.normal(size=(10, WIDTH)))
    frequencies = (1,) if kind == "circle" else (1, 3)
    angles = 2 * np.pi * np.arange(10) / 10
    waves = np.stack([wave(f * angles) for f in frequencies for wave in (np.cos, np.sin)], axis=1)
    return np.asarray(waves @ rng.normal(size=(waves.shape[1], WIDTH)))


def written(book: Floats, digit: Codes, rng: np.random.Generator) -> Floats:
    return np.asarray(book[digit] + 0.02 * rng.normal(size=(len(digit), WIDTH)))


def read(book: Floats, write: Floats) -> Codes:
    """The digit whose code is nearest: what a reader of either kind does."""
    return np.asarray(((write[:, None] - book[None]) ** 2).sum(-1).argmin(1))


def taken_over(book: Floats, found: DigitSubspaces, matrix: torch.Tensor, rng: np.random.Generator) -> float:
    """How often the reader then says the source's digit."""
    base, source = rng.integers(0, 10, 400), rng.integers(0, 10, 400)
    apart = base != source
    own, other = written(book, base, rng), written(book, source, rng)
    return float((read(book, own + (other - own) @ matrix.numpy().T.astype(float)) == source)[apart].mean())


@pytest.mark.parametrize("kind", ["circle", "two circles"])
def test_a_digit_on_a_circle_is_carried_by_its_angle_alone(kind: str) -> None:
    rng = np.random.default_rng(1)
    book, digit = codebook(kind, rng), rng.integers(0, 10, 2000)
    found = digit_subspaces(written(book, digit, rng), digit)
    assert found is not None
    assert 1 in found.frequencies
    assert taken_over(book, found, found.circle, rng) > 0.97
    assert taken_over(book, found, found.beside, rng) < 0.1


def test_a_digit_in_a_table_is_not_carried_by_its_strongest_angles() -> None:
    rng = np.random.default_rng(2)
    book, digit = codebook("table", rng), rng.integers(0, 10, 2000)
    found = digit_subspaces(written(book, digit, rng), digit)
    assert found is not None
    assert taken_over(book, found, found.circle, rng) < 0.8
    assert taken_over(book, found, found.circle + found.beside, rng) > 0.97


def test_what_is_said_of_a_site_needs_sure_rates() -> None:
    sure, half = Rate(300, 300), Rate(150, 300)
    assert HeldAs("SA[0]", (1, 2), sure, sure, half).standing == CIRCLE
    assert HeldAs("SA[0]", (1, 2), sure, half, half).standing == TABLE
    assert HeldAs("SA[0]", (1, 2), half, half, half).standing == UNTOLD
    assert HeldAs("SA[0]", (1, 2), sure, Rate(9, 10), half).standing == UNTOLD


def test_the_digits_of_a_planted_circuit_stand_in_a_table() -> None:
    described = describe(Operation.ADD, 2)
    task, stated = arithmetic_task(Operation.ADD, 2), left_to_right(Operation.ADD, 2)
    targets = targets_of(stated.model, stated.required, stated.folded)
    this = AlignmentTask(plant(described).model, task, stated.model, targets, population_of(task.causal))
    held: dict[Node, tuple[int, ...]] = dict.fromkeys(this.nodes, ())
    at = next(at for at, each in enumerate(targets) if str(each.variables[0]) == "SA[1]")
    for role in described.of("SA[1]"):
        held |= {node: (at,) for node in role.nodes if node.is_mlp}
    found = held_as(this, NodePlacement(held), at, 128)
    assert found is not None
    assert found.standing == TABLE
    ends = next(place for place, each in enumerate(targets) if each.family == "ST")
    assert held_as(this, NodePlacement(held), ends) is None, "a tri-state value has no angle"
