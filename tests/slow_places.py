"""Slow places: folders and files whose every test is marked slow; single tests elsewhere carry the mark themselves."""

from __future__ import annotations

from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
SLOW_PLACES = (
    "arithmetic/battery",
    "arithmetic/family/test_planted_findings.py",
    "browser",
    "front/test_verdicts.py",
    "interventions/test_engine_bits.py",
    "interventions/test_slow_and_fast.py",
)


@cache
def is_in(places: tuple[str, ...], path: Path) -> bool:
    """Whether the file is one of the places, or in one."""
    return any(path.is_relative_to(TESTS / place) for place in places)
