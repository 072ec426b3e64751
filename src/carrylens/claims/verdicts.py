"""Verdicts: what can be said of a claim and of a model, and on what it rests.

Takes  nothing.
Gives  `Verdict` on a claim, `Finding` (a claim with its verdict and evidence), `ModelVerdict` on all claims together,
       `RunVerdict` on a model.
Never  decides one: `rules.py`, `judgement.py` and `run_verdict.py` do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from carrylens.claims.claims import Claim
from carrylens.discovery.node_map import Role
from carrylens.evidence.rates import Rate


class Verdict(Enum):
    """What the evidence says of a claim."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNTESTED = "UNTESTED"


class ModelVerdict(Enum):
    """What the claims together say of a model: whether everything that the hypothesis requires is there.

    The values are those of saved files, which call this the skeleton.
    """

    RUNS = "present"
    DOES_NOT_RUN = "absent"
    NOT_SETTLED = "unclear"


class RunVerdict(Enum):
    """Whether a model runs a hypothesis."""

    RUNS = "runs"
    IN_PART = "runs in part"
    DOES_NOT_RUN = "does not run"
    NOT_SETTLED = "not settled"


@dataclass(frozen=True)
class Finding:
    """A claim, its verdict, why, and the roles (or the rate) that it rests on."""

    claim: Claim
    verdict: Verdict
    why: str
    roles: tuple[Role, ...] = ()
    rate: Rate | None = None
