"""Text values are frozen, equal by kind and parts, and shown with their parts."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from carrylens.nodes import Node
from carrylens.tasks.variables import Variable
from carrylens.text_values import TextValue


class Pair(TextValue):
    def __init__(self, one: int, two: int) -> None:
        self.__dict__.update(one=one, two=two)


class OtherPair(Pair):
    pass


def test_values_are_equal_by_kind_and_parts() -> None:
    assert Pair(1, 2) == Pair(1, 2)
    assert hash(Pair(1, 2)) == hash(Pair(1, 2))
    assert Pair(1, 2) != Pair(2, 1)
    assert Pair(1, 2) != OtherPair(1, 2)
    assert repr(OtherPair(1, 2)) == "OtherPair(one=1, two=2)"


@pytest.mark.parametrize("value", [Pair(1, 2), Node(3, 0, 1), Variable("ST", 2)])
def test_no_part_of_a_value_can_be_set_or_dropped(value: TextValue) -> None:
    before = str(value)
    for name in (*vars(value), "other"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(value, name, 9)
        with pytest.raises(FrozenInstanceError, match=name):
            delattr(value, name)
    assert str(value) == before


def test_a_kind_that_reads_no_text_says_so() -> None:
    with pytest.raises(NotImplementedError):
        Pair.parse("1 2")


@pytest.mark.parametrize("value", [Pair(1, 2), Node(3, 0, None), Variable("ST", 2), Variable("OPR")])
def test_a_value_keeps_its_hash_to_its_own_process(value: TextValue) -> None:
    before = hash(value)
    assert hash(value) == before
    text = "import sys, pickle; value = pickle.load(sys.stdin.buffer); print({value: 1}[eval(repr(value))])"
    made = "from carrylens.nodes import Node; from carrylens.tasks.variables import Variable; "
    if not isinstance(value, Pair):
        given = [sys.executable, "-c", made + text]
        ran = subprocess.run(given, input=pickle.dumps(value), capture_output=True, check=True)
        assert ran.stdout.strip() == b"1"
    assert pickle.loads(pickle.dumps(value)) == value
