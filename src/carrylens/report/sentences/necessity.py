"""The sentence of `necessity`: how many places depend on one head, and the gap between all heads and the worst.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.necessity.place_verdicts import needed_mlps
from carrylens.arithmetic.battery.necessity.summarise import HEAD_JOBS, NecessityTold, gap_ending
from carrylens.claims.verdicts import Verdict


def sentence(given: NecessityTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    found, verdicts, means, by = given.found, given.verdicts, given.means, given.by
    if not found:
        return "The model answers too few questions for anything to be missed."
    parts = []
    for delivers, verb in HEAD_JOBS:
        mine = [v for each, v in zip(found, verdicts, strict=True) if each.place.delivers == delivers]
        counts = {verdict: mine.count(verdict) for verdict in Verdict}
        gaps = [
            f"{each.name.split(',')[0]} {each.value:.2f} [{each.low:.2f}, {each.high:.2f}]"
            for each in means
            if each.name.endswith(gap_ending(verb))
        ]
        parts.append(
            f"Of {len(mine)} places where heads {verb} carries {counts[Verdict.SUPPORTED]} are redundant, "
            f"{counts[Verdict.REFUTED]} depend on one head, {counts[Verdict.UNTESTED]} are not missed, "
            f"{counts[Verdict.INCONCLUSIVE]} are open"
            + (f"; mean gap between all heads and the worst: {', '.join(gaps)}" if gaps else "")
        )
    n_missed = sum(verdict is not Verdict.UNTESTED for verdict in verdicts)
    return (
        f"{'. '.join(parts)}. One MLP alone is missed half as much as all heads or more at "
        f"{needed_mlps(found, verdicts)} of the {n_missed} places that are missed. Heads tagged by {by}."
    )
