"""Edits are values: frozen, hashable, printable, JSON in and out, and nothing that is no edit becomes one."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.errors import CarryLensError
from carrylens.interventions import (
    Edit,
    Fill,
    Norm,
    Receiver,
    Residual,
    ablate,
    add_direction,
    edge,
    interchange,
    interpolate,
    keep_only,
    parse_sites,
    project,
)
from carrylens.interventions.sites import Input
from carrylens.nodes import Node
from interventions.random_edits import KINDS, RandomEdits

PRINTED = {
    "P9L0H1 <- zero": ablate("P9L0H1", "zero"),
    "P9L0H1 + P9L0MLP <- mean": ablate("P9L0MLP, P9L0H1"),
    "P9L0H1 <- class-mean": ablate([Node(9, 0, 1)], Fill.CLASS_MEAN),
    "P9L0H1 <- resample 7": ablate("P9L0H1", "resample", seed=7),
    "P9L1RESID + P9L1H0 <- source 0": interchange("P9L1H0 P9L1RESID"),
    "P9L0H1 <- source 2": interchange("P9L0H1", source=2),
    "P9L0H1 <- 0.25 of the way to source 0": interpolate("P9L0H1", 0.25),
    "P9L0H1 <- source 0 in 2 dimensions": project("P9L0H1", [[1, 0, 0], [0, 1, 0]]),
    "P9L0H1 += -2 of a direction": add_direction("P9L0H1", [1, 0, 0], -2),
    "P9L0H1 of source 0 -> P9L1H0.k + P9.logits": edge("P9L0H1", "P9.logits P9L1H0.k"),
    "0.5 of P9L0H1 of source 1 -> P9L1MLP, norm frozen": edge("P9L0H1", "P9L1MLP", 1, 0.5, "frozen"),
    "all but P9L0H1 <- mean": keep_only("P9L0H1"),
    "all but P9L0H1 <- resample 3": keep_only("P9L0H1", "resample", 3),
    "all <- zero": keep_only("", "zero"),
    "P9L0H1 <- zero; P9L0H2 <- source 0": ablate("P9L0H1", "zero") + interchange("P9L0H2"),
}


@pytest.mark.parametrize("text", PRINTED)
def test_an_edit_prints_what_it_does(text: str) -> None:
    assert str(PRINTED[text]) == text


@pytest.mark.parametrize("text", PRINTED)
def test_an_edit_comes_back_from_json_equal(text: str) -> None:
    edit = PRINTED[text]
    again = Edit.from_json(edit.to_json())
    assert again == edit
    assert hash(again) == hash(edit)
    assert again.to_json() == edit.to_json()
    assert Edit.from_json(json.dumps(json.loads(edit.to_json()), indent=1).encode()) == edit


@pytest.mark.parametrize("kind", KINDS)
def test_random_edits_of_every_kind_come_back_from_json(kind: str) -> None:
    make = RandomEdits(arithmetic_config(2, 2, 2, 6, 2, 6), np.random.default_rng(0))
    for _ in range(20):
        edit = make.draw((kind,))
        assert Edit.from_json(edit.to_json()) == edit


def test_different_edits_are_different_and_equal_ones_one() -> None:
    assert len({edit.to_json() for edit in PRINTED.values()}) == len(set(PRINTED.values())) == len(PRINTED)
    assert ablate("P9L0H1 P8L0H1") == ablate([Node(9, 0, 1), "P8L0H1", "P9L0H1"])
    assert interpolate("P9L0H1", 1) == interchange("P9L0H1")
    assert add_direction("P9L0H1", [-0.0, 1]).to_json() == add_direction("P9L0H1", [0.0, 1.0]).to_json()
    assert edge("P9L0H1", "P9L1H0.k", norm=Norm.FROZEN) == edge("P9L0H1", [Receiver.parse("P9L1H0.k")], norm="frozen")


def test_numbers_may_be_numpys() -> None:
    single = np.array([0.5, 0.25], dtype=np.float32)
    assert add_direction("P9L0H1", single, float(np.float32(2))) == add_direction("P9L0H1", [0.5, 0.25], 2.0)
    assert project("P9L0H1", single[None]) == project("P9L0H1", [[0.5, 0.25]])
    whole: Any = np.int64(2)
    assert interpolate("P9L0H1", whole) == interpolate("P9L0H1", 2)


def test_an_edit_cannot_be_changed() -> None:
    edit = interchange("P9L0H1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        edit.changes = ()  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        edit.changes[0].fill = Fill.ZERO  # type: ignore[misc, union-attr]


def test_names_of_sites_and_receivers_come_back() -> None:
    for name in ("P0L0H0", "P21L2MLP", "P9L3RESID"):
        assert str(parse_sites(name)[0]) == name
    for name in ("P17L1H2.q", "P17L1H2.k", "P17L1H2.v", "P17L1MLP", "P17.logits"):
        assert str(Receiver.parse(name)) == name


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no node": (lambda: interchange("P9L0X1"), "'P9L0X1'.*P10L0H2"),
    "no site": (lambda: interchange([5]), "'5'"),  # type: ignore[list-item]
    "a receiver as site": (lambda: interchange("P9L1H0.k"), r"'P9L1H0\.k'"),
    "no receiver": (lambda: edge("P9L0H1", "P9L1H0"), r"'P9L1H0'.*\.q"),
    "an MLP's input": (lambda: edge("P9L0H1", "P9L1MLP.q"), r"'P9L1MLP\.q'"),
    "another way": (lambda: edge("P9L0H1", "P9L1H0.x"), r"'P9L1H0\.x'"),
    "not a receiver": (lambda: edge("P9L0H1", [Node(9, 1, 0)]), "receiver"),  # type: ignore[list-item]
    "fill": (lambda: ablate("P9L0H1", "median"), "'median'.*zero, mean"),
    "source as fill": (lambda: ablate("P9L0H1", "source"), "interchange"),
    "kept source": (lambda: keep_only("P9L0H1", "source"), "source"),
    "norm": (lambda: edge("P9L0H1", "P9L1MLP", norm="cold"), "'cold'.*recomputed, frozen"),
    "nan": (lambda: interpolate("P9L0H1", float("nan")), "'nan'"),
    "huge": (lambda: interpolate("P9L0H1", 10**400), "10000"),
    "bool": (lambda: interpolate("P9L0H1", True), "'True'"),
    "text": (lambda: add_direction("P9L0H1", ["1"]), "'1'"),  # type: ignore[list-item]
    "infinite direction": (lambda: add_direction("P9L0H1", [float("inf")]), "'inf'"),
    "no basis": (lambda: project("P9L0H1", []), "basis"),
    "negative slot": (lambda: interchange("P9L0H1", -1), "'-1'.*slot"),
    "half a slot": (lambda: interpolate("P9L0H1", 0.5, source=0.5), r"'0\.5'.*slot"),  # type: ignore[arg-type]
    "negative seed": (lambda: ablate("P9L0H1", "resample", -3), "'-3'.*seed"),
    "long seed": (lambda: keep_only("P9L0H1", "resample", 2**64), str(2**64)),
    "negative residual": (lambda: Residual(-1, 0), "-1.*0.*residual"),
    "headless key": (lambda: Receiver(3, 1, None, Input.KEY), r"Input\.KEY"),
    "logits of a layer": (lambda: Receiver(3, 1, None, Input.LOGITS), r"Input\.LOGITS"),
    "negative receiver": (lambda: Receiver(-3, 1, 0, Input.KEY), "-3.*receiver"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_edit_is_refused_with_one_line(name: str) -> None:
    make, pattern = WRONG[name]
    with pytest.raises(CarryLensError) as caught:
        make()
    assert re.search(pattern, str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "{",
        "null",
        "3",
        '"interchange"',
        "{}",
        '{"change": "add"}',
        "[3]",
        "[[]]",
        "[null]",
        "[{}]",
        '[{"change": "melt"}]',
        '[{"change": ["add"]}]',
        '[{"change": "replace"}]',
        '[{"change": "replace", "sites": ["P9L0H1"]}]',
        '[{"change": "replace", "sites": 3, "fill": "zero"}]',
        '[{"change": "replace", "sites": [3], "fill": "zero"}]',
        '[{"change": "replace", "sites": ["P9"], "fill": "zero"}]',
        '[{"change": "replace", "sites": ["P9L0H1"], "fill": 0}]',
        '[{"change": "replace", "sites": ["P9L0H1"], "fill": "zero", "colour": 1}]',
        '[{"change": "replace", "sites": ["P9L0H1"], "fill": "source", "source": -1}]',
        '[{"change": "replace", "sites": ["P9L0H1"], "fill": "source", "source": 1.5}]',
        '[{"change": "replace", "sites": ["P9L0H1"], "fill": "source", "share": NaN}]',
        '[{"change": "replace", "sites": ["P9L0H1"], "fill": "source", "share": 1e999}]',
        f'[{{"change": "replace", "sites": ["P9L0H1"], "fill": "source", "share": {"9" * 400}}}]',
        '[{"change": "replace", "sites": ["P9L0H1"], "fill": "source", "basis": [3]}]',
        '[{"change": "add", "sites": ["P9L0H1"], "direction": 3, "amount": 1}]',
        '[{"change": "add", "sites": ["P9L0H1"], "direction": [1], "amount": 1, "share": 1}]',
        '[{"change": "edge", "senders": ["P9L0H1"], "receivers": ["P9L0H1"]}]',
        b"\xff\xfe",
        "[" * 100_000,
    ],
    ids=lambda garbage: repr(garbage)[-60:],
)
def test_json_that_is_no_edit_is_refused_with_one_line(garbage: str | bytes) -> None:
    with pytest.raises(CarryLensError) as caught:
        Edit.from_json(garbage)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
