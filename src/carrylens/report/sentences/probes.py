"""The sentence of `probes`: where each resolved carry is first present, and how far its probes hold.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.probes.carry_probes import (
    NO_TRANSFER,
    ProbeTransfer,
)
from carrylens.arithmetic.battery.probes.early_readings import early_sentence
from carrylens.arithmetic.battery.probes.summarise import ProbesTold
from carrylens.claims.verdicts import Verdict


def sentence(given: ProbesTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    subject, found, verdicts, moved, early = given.subject, given.found, given.verdicts, given.moved, given.early
    if not found:
        return "No carry could be asked for: there are too few columns, or the model answers too few questions."
    lazy, n_other = (verdicts.count(verdict) for verdict in (Verdict.SUPPORTED, Verdict.REFUTED))
    none = [carry.name for carry in found if carry.onset is None]
    early_ones = [(carry, carry.onset[0]) for carry in found if carry.onset and carry.onset[0] < len(carry.places) - 1]
    soon = [f"{carry.name} at {subject.place(carry.places[at])}" for carry, at in early_ones]
    text = "The paper says that a resolved carry is first present at the place that reads it. "
    text += f"Of {len(found)} resolved carries {lazy} are first read there and {n_other} are not"
    text += f" (before: {', '.join(soon)})" if soon else ""
    text += f" (nowhere: {', '.join(none)})" if none else ""
    deeper = sum((carry.deeper for carry in found), NO_TRANSFER)
    parts = [early_sentence(early, len(early_ones))] if early_ones else []
    if deeper.effect.n:
        parts.append(f"probes fitted at depths 0 and 1 read deeper carries in {_shown(deeper)}")
    if moved.effect.n:
        parts.append(f"probes of one column's reader read another's carry in {_shown(moved)}")
    return "; ".join([text, *parts]) + "."


def _shown(each: ProbeTransfer) -> str:
    nulls = f"shuffled labels {each.shuffled.value:.2f}, untrained twin {each.twin.value:.2f}"
    return f"{each.effect.value:.2f} ({nulls})"
