"""What `make fast` leaves out is marked, and nothing else is."""

from __future__ import annotations

import pytest

from slow_places import SLOW_PLACES, TESTS, is_in


@pytest.mark.parametrize("place", SLOW_PLACES)
def test_every_slow_place_is_there(place: str) -> None:
    assert (TESTS / place).exists(), "take what was moved off the list, or write where it is now"


def test_a_place_holds_what_is_below_it_and_no_namesake() -> None:
    places = ("room/deep", "room/test_one.py")
    assert is_in(places, TESTS / "room" / "deep" / "test_two.py")
    assert is_in(places, TESTS / "room" / "test_one.py")
    assert not is_in(places, TESTS / "room" / "deeper" / "test_two.py")
    assert not is_in(places, TESTS / "room" / "test_two.py")


def test_this_test_is_not_slow_and_the_next_is(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("slow") is None


@pytest.mark.slow
def test_a_marked_test_is_slow(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("slow") is not None
