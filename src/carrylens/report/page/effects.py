"""Effects: the only way a measured effect gets onto a page, which is beside its null.

Takes  rates as they were saved.
Gives  `Effect`, with the words and the numbers that a page shows.
Never  lets an effect through whose null is missing or was never measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from carrylens.discovery.node_map import Role
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import say_confidence, stated_confidence
from carrylens.evidence.rates import Rate

SAME_VALUE = "interchanged with the same value"
"""What the null of an interchange is."""
_RESTS_ON_ROLES = ("carried", "order", "timely")


@dataclass(frozen=True)
class Effect:
    """A rate beside its null, with what each of the two is."""

    what: str
    hit: Rate
    null: Rate
    null_is: str
    p: float | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if not self.null.n:
            raise CarryLensError(f"{self.what} has no null, so it cannot be shown. Measure it with its matched null.")


def effect_of_role(role: Role) -> Effect:
    """A role as an effect."""
    return Effect(f"{role.variable} for token {role.token}", role.hit, role.null, SAME_VALUE, role.p, role.confidence)


def confidence_in(effect: Effect) -> str:
    """How probable it is that a role with this effect is true, in figures."""
    known = effect.confidence
    stated = stated_confidence(effect.hit, effect.null) if known is None else known
    return say_confidence(stated).removeprefix("confidence ")


def effect_of_record(what: str, given: Mapping[str, Any], null_is: str = SAME_VALUE) -> Effect:
    """Evidence as `claims.json` has it, as an effect."""
    null = rate_of_record(given["null"]) if given.get("null") else Rate(0, 0)
    return Effect(what, rate_of_record(given["hit"]), null, null_is, given.get("p"))


def rate_of_record(given: Mapping[str, Any]) -> Rate:
    """The rate that plain data states."""
    return Rate(int(given["hits"]), int(given["n"]))


def check_claim(claim: Mapping[str, Any]) -> None:
    """Refuse a claim that rests on roles, if it is called supported or refuted and shows none with its null."""
    roles = [each for each in claim["evidence"] if "hit" in each]
    for each in roles:
        effect_of_record(claim["claim"], each)
    if claim["kind"] in _RESTS_ON_ROLES and claim["verdict"] == "SUPPORTED" and not roles:
        raise CarryLensError(
            f"The claim {claim['claim']!r} is called supported on no evidence, so it cannot be shown. Judge again."
        )


def check_claims(claims: Sequence[Mapping[str, Any]]) -> None:
    """Refuse the page if one of its claims cannot be shown."""
    for claim in claims:
        check_claim(claim)


def percent(share: float) -> str:
    """A share in percent; what is not all or nothing never looks so.

    >>> percent(1.0), percent(0.9996), percent(0.5), percent(0.0004), percent(0.0)
    ('100%', '99.96%', '50%', '0.04%', '0%')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if 0.01 <= share <= 0.99:
        return f"{share:.0%}"
    return f"{100 * share:.2g}%" if share < 0.01 else f"{100 * share:.3g}%" if share < 0.9995 else f"{100 * share:.6g}%"


def say_chance(p: float | None) -> str:
    """A p value in few figures.

    >>> say_chance(2.04e-74), say_chance(0.0123), say_chance(None)
    ('2e-74', '0.012', '')
    """
    return "" if p is None else f"{p:.0e}" if p < 0.001 else f"{p:.2g}"
