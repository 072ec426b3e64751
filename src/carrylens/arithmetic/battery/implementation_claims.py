"""The paper's claims about the implementation, each as an experiment of the battery tested it.

Takes  what `battery.json` holds of one model.
Gives  the count of claims that hold, or none where no experiment was run.
Never  counts an experiment that asks what the paper does not, and never imports PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrylens.claims.implementation import ImplementationClaim, ImplementationCount
from carrylens.claims.verdicts import Verdict

_OURS = frozenset({"whole-algorithm"})
"""What no paper claims: the verdict itself rests on the same question, asked of other questions."""


def implementation_count(outcomes: Sequence[Mapping[str, Any]]) -> ImplementationCount | None:
    """How many of the paper's claims hold, by the outcomes as they were saved."""
    claims = [
        ImplementationClaim(card["name"], card["paper"], Verdict[str(outcome["verdict"]).upper()])
        for outcome in outcomes
        if (card := outcome["card"])["name"] not in _OURS
    ]
    return ImplementationCount.of(claims) if claims else None
