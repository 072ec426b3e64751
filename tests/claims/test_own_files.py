"""Every hypothesis has files of its own, and files that were named formerly are still found."""

from __future__ import annotations

import string
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from carrylens.claims.own_files import own_file, own_folders, slug

_NAMES = st.text(st.sampled_from("ab -_!A.é/"), max_size=6) | st.text(max_size=100)
_SAFE = set(string.ascii_lowercase + string.digits + "-_")


@given(_NAMES, _NAMES)
def test_two_hypotheses_never_share_a_name(one: str, other: str) -> None:
    assert (slug(one) == slug(other)) == (one == other)
    assert set(slug(one)) <= _SAFE
    assert len(slug(one)) <= 80


def test_names_that_differ_only_in_punctuation_and_long_ones_are_told_apart() -> None:
    alike = ["nine carries", "nine-carries", "nine carries!", "Nine carries", "nine  carries", "n" * 60, "n" * 61]
    assert len({slug(name) for name in alike}) == len(alike)
    assert slug("nine carries") == "nine-carries"


def test_a_file_that_was_named_formerly_is_found_until_there_is_one_of_its_own(tmp_path: Path) -> None:
    name = "one-layer add"
    (tmp_path / "claims.one-layer-add.json").write_text("{}")
    assert own_file("claims", name, [tmp_path]) == "claims.one-layer-add.json"
    assert own_file("claims", name) == f"claims.{slug(name)}.json"
    (tmp_path / f"claims.{slug(name)}.json").write_text("{}")
    assert own_file("claims", name, [tmp_path]) == f"claims.{slug(name)}.json"
    assert own_folders([tmp_path], name) == [tmp_path / slug(name), tmp_path / "one-layer-add"]
