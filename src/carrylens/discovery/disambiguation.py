"""Disambiguation: whether what an output did under one variable's changes was another variable's doing.

Takes  the tokens that questions have, those they were given, and those that each of two variables predicts.
Gives  `Disambiguation`: how often either was followed where the two predict different tokens, and whether that rules a
       role out.
Never  draws a question, and never counts an unchanged token as following: partial carriers and non-carriers both leave
       it unchanged.

Where the two predict different tokens:
1. Both move the token: the role is ruled out if the token goes where the other says, clearly more often, or while it
   goes where the role's own says clearly less often than elsewhere.
2. Only the role's own does: the role is ruled out if it hits clearly less often there, and less than half as often as
   elsewhere: its hits elsewhere were mostly the other's.
3. Only the other does, and the token follows: a set may carry both. The role is ruled out where 1 and 2 had too few
   questions to show it, since the other then accounts for all that was seen, and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.search import CLEARLY, RoleSettings
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate, p_above

_Tokens = NDArray[np.int8]
_NONE = Rate(0, 0)
_GONE = 0.5  # of what a role hits elsewhere: below that its hits were mostly another's


@dataclass(frozen=True)
class Disambiguation:
    """How often a token followed: `ours` and `theirs` where both variables move it, `alone` and `beyond` where only
    the role's own and only the other does."""

    ours: Rate = _NONE
    theirs: Rate = _NONE
    alone: Rate = _NONE
    beyond: Rate = _NONE

    @classmethod
    def of(cls, right: _Tokens, given: _Tokens, ours: _Tokens, theirs: _Tokens) -> Disambiguation:
        """The disambiguation for one output; the axis of all four is the question.

        >>> right, given = np.array([1, 1, 1, 1]), np.array([2, 3, 2, 1])
        >>> found = Disambiguation.of(right, given, ours=np.array([2, 2, 2, 1]), theirs=np.array([3, 3, 1, 2]))
        >>> found.ours.hits, found.theirs.hits, found.alone.hits, found.beyond.hits
        (1, 1, 1, 0)
        """
        told, by_ours, by_theirs = ours != theirs, ours != right, theirs != right
        return cls(
            ours=_share(given == ours, told & by_ours & by_theirs),
            theirs=_share(given == theirs, told & by_ours & by_theirs),
            alone=_share(given == ours, by_ours & ~by_theirs),
            beyond=_share(given == theirs, by_theirs & ~by_ours),
        )

    def __add__(self, other: Disambiguation) -> Disambiguation:
        """The counts of both."""
        return Disambiguation(
            self.ours + other.ours, self.theirs + other.theirs, self.alone + other.alone, self.beyond + other.beyond
        )

    @property
    def n(self) -> int:
        """How many questions could have shown the role where the other does not account for it."""
        return self.ours.n + self.alone.n

    def rules_out(self, hit: Rate, null: Rate, settings: RoleSettings) -> bool:
        """Whether a role with these rates is ruled out."""
        if self.ours.n < settings.least and self.alone.n < settings.least:
            return p_above(self.beyond, null) <= CLEARLY
        return self._lost_to_a_move(hit, settings.least) or self._lost_to_a_stay(hit, settings.least)

    def _lost_to_a_move(self, hit: Rate, least: int) -> bool:
        if self.ours.n < least or self.theirs.hits <= self.ours.hits:
            return False
        return min(p_above(self.theirs, self.ours), p_above(hit, self.ours)) <= CLEARLY

    def _lost_to_a_stay(self, hit: Rate, least: int) -> bool:
        fewer = self.alone.n >= least and self.alone.value < _GONE * hit.value
        return fewer and p_above(hit, self.alone) <= CLEARLY


def disambiguation_facts(
    kind: str, about: Mapping[str, object], found: Disambiguation, drawn: Mapping[str, object]
) -> Iterator[Fact]:
    """What is kept of a disambiguation: the role's own variable beside the other, and either by itself."""
    if found.ours.n:
        yield Fact(kind, {**about, "other": "moves"}, found.ours, found.theirs, drawn)
    if found.alone.n:
        yield Fact(kind, {**about, "other": "stays"}, found.alone, _NONE, drawn)
    if found.beyond.n:
        yield Fact(kind, {**about, "other": "moves alone"}, found.beyond, _NONE, drawn)


def _share(hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Rate:
    return Rate(int(np.count_nonzero(hits & among)), int(np.count_nonzero(among)))
