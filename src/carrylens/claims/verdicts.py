"""Verdicts: what can be said of a claim, and on what it rests.

Takes  nothing.
Gives  `Verdict`, `Finding` (a claim with its verdict and evidence) and `Skeleton`.
Never  decides one: `judging.py` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from carrylens.claims.claims import Claim
from carrylens.discovery.node_map import Role
from carrylens.evidence.confidence import stated_confidence
from carrylens.evidence.rates import Rate
from carrylens.nodes import print_nodes


class Verdict(Enum):
    """What the evidence says of a claim."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNTESTED = "UNTESTED"


class Skeleton(Enum):
    """What the claims together say of a model: whether what the hypothesis needs is there."""

    PRESENT = "present"
    ABSENT = "absent"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Finding:
    """A claim, its verdict, why, and the roles (or the rate) that it rests on."""

    claim: Claim
    verdict: Verdict
    why: str
    roles: tuple[Role, ...] = ()
    rate: Rate | None = None

    def record(self) -> dict[str, Any]:
        """The finding as JSON has it."""
        claim = self.claim
        return {
            "claim": claim.name,
            "kind": claim.kind.value,
            "required": claim.required,
            "verdict": self.verdict.value,
            "sentence": claim.sentence,
            "why": self.why,
            "refuted_if": claim.refuted_if,
            "evidence": [role_record(role) for role in self.roles] + _rate_records(self.rate),
        }


def role_record(role: Role) -> dict[str, Any]:
    """A role as evidence: what was swapped, what came of it and of the null, and how sure that makes it."""
    return {
        "nodes": print_nodes(role.nodes),
        "variable": str(role.variable),
        "token": role.token,
        "hit": _fraction(role.hit),
        "null": _fraction(role.null),
        "p": role.p,
        "confidence": stated_confidence(role.hit, role.null),
    }


def _rate_records(rate: Rate | None) -> list[dict[str, Any]]:
    return [] if rate is None else [{"failed": _fraction(rate)}]


def _fraction(rate: Rate) -> dict[str, Any]:
    return {"hits": rate.hits, "n": rate.n, "interval": [round(bound, 4) for bound in rate.interval]}
