"""Heavy outcomes are computed once, and never read where anything they depend on is another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arithmetic.battery.plants import arithmetic_map, planted_subject, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.planted.dials import Dials
from carrylens.arithmetic.questions import Operation
from heavy_outcomes import KeptOutcomes, code_digest, content_of, nothing_kept, once


class Counted:
    """Counts how often it was computed."""

    def __init__(self) -> None:
        self.n_made = 0

    def make(self) -> int:
        self.n_made += 1
        return self.n_made


def test_an_outcome_is_computed_once_and_another_is_another(tmp_path: Path) -> None:
    counted, kept = Counted(), KeptOutcomes(tmp_path)
    assert [kept.once(counted.make, "one", 1) for _ in range(3)] == [1, 1, 1]
    assert kept.once(counted.make, "one", 2) == 2
    assert KeptOutcomes(tmp_path).once(counted.make, "one", 1) == 1


def test_what_fails_is_not_kept(tmp_path: Path) -> None:
    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        KeptOutcomes(tmp_path).once(fail, "one")
    assert KeptOutcomes(tmp_path).once(lambda: 5, "one") == 5


def test_nothing_is_kept_or_read_while_a_test_patches(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted()
    assert [once(counted.make, "patched") for _ in range(2)] == [1, 2]


def test_nothing_is_kept_or_read_where_that_is_said() -> None:
    counted = Counted()
    with nothing_kept():
        assert [once(counted.make, "told") for _ in range(2)] == [1, 2]


@pytest.mark.parametrize(
    ("place", "matters"),
    [
        ("package/room/a.py", True),
        ("package/b.py", True),
        ("tests/room/plants.py", True),
        ("package/report/page.py", False),
        ("package/cli/a.py", False),
        ("tests/room/test_a.py", False),
    ],
)
def test_outcomes_of_other_code_are_not_read(tmp_path: Path, place: str, matters: bool) -> None:
    package, tests = tmp_path / "package", tmp_path / "tests"
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text("x = 1")
    before = code_digest(package, tests)
    (tmp_path / place).write_text("x = 2")
    assert (code_digest(package, tests) != before) is matters


def test_subjects_that_differ_in_anything_have_different_contents() -> None:
    plain = planted_subject(Operation.MIX, 2)
    others = [
        planted_subject(Operation.ADD, 2),
        planted_subject(Operation.MIX, 2, Dials(redundancy=3)),
        replace(plain, map=arithmetic_map("planted", Operation.MIX, (2, 2, 3))),
        replace(plain, operation=Operation.ADD),
        untrained_subject(Operation.MIX),
        ungated_subject(Operation.MIX),
    ]
    assert len({repr(content_of(each)) for each in [plain, *others]}) == 7
    assert content_of(plain) == content_of(replace(plain))
