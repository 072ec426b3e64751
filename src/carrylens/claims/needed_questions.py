"""Needed questions: how many would decide what is open, if rates stay as they were measured.

Takes  rates that may lie above or below a bound, or that cannot be told apart.
Gives  a number of questions, or none where no number that anybody would draw decides it.
Never  says how the decision will go.
"""

from __future__ import annotations

from collections.abc import Callable

from carrylens.evidence.rates import Rate

MOST = 1_000_000
"""Questions beyond which nothing is promised."""


def to_decide(rate: Rate, bound: float, confidence: float = 0.95, below: float = 0.95) -> int | None:
    """How many questions in all, until a rate surely reaches `bound`, or lies below it with that confidence.

    >>> to_decide(Rate(91, 100), 0.9), to_decide(Rate(95, 100), 0.9), to_decide(Rate(9, 10), 0.9)
    (3437, 154, None)
    """

    def decided(count: int) -> bool:
        grown = _grown(rate, count)
        return grown.interval_at(confidence)[0] >= bound or grown.interval_at(below)[1] < bound

    return _least(rate.n, decided)


def to_tell_apart(one: Rate, other: Rate) -> int | None:
    """How many questions in all for each of two rates, until their intervals do not meet.

    >>> to_tell_apart(Rate(95, 100), Rate(90, 100)), to_tell_apart(Rate(5, 10), Rate(5, 10))
    (445, None)
    """

    def apart(count: int) -> bool:
        first, second = (_grown(each, count).interval for each in (one, other))
        return first[0] > second[1] or second[0] > first[1]

    return _least(max(one.n, other.n), apart)


def _grown(rate: Rate, count: int) -> Rate:
    return Rate(round(rate.value * count), count)


def _least(start: int, decided: Callable[[int], bool]) -> int | None:
    # Doubling, then halving the step: rounding makes single counts lie a little to either side.
    high = max(1, start)
    while not decided(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > max(1, high // 256):
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high
