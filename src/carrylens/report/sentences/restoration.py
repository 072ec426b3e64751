"""The sentence of `restoration`: how many failing questions the chosen nodes bring back, and what those nodes write.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.restoration.measure import (
    RestoredBranch,
)
from carrylens.arithmetic.battery.restoration.node_ranking import NEARNESS
from carrylens.arithmetic.battery.restoration.restored_answers import RestoredAnswers
from carrylens.arithmetic.battery.restoration.summarise import RestorationTold, pooled
from carrylens.nodes import Node


def sentence(given: RestorationTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    found, tagged = given.found, given.tagged
    if not found:
        return "There is nothing to restore: no node is useful, all are, or the model answers too few questions."
    parts = "; ".join(map(_says_of, found))
    text = f"With {len(tagged.nodes)} nodes kept, tagged by {tagged.by}: {parts}."
    incomplete = [each for each in found if each.brought is not None]
    told = [told for each in incomplete for told in each.told]
    if incomplete:
        text += f" {_says_drawn(incomplete)}"
    if told:
        read, shuffled, turned, null = pooled(told)
        n_chosen = sum(len(each.chosen) for each in incomplete)
        n_told = sum(len({node for one in each.told for node in one.nodes}) for each in incomplete)
        text += (
            f" {n_told} of these {n_chosen} lie where a carry, a borrow or the sign is made or read: it is read off "
            f"what they write in {read.value:.2f} (shuffled labels {shuffled.value:.2f}), and interchanged together "
            f"they turn its digits in {turned.value:.2f} (null {null.value:.2f})."
        )
    elif incomplete:
        text += " None of these lies where a carry, a borrow or the sign is made or read."
    return text


def _says_of(each: RestoredBranch) -> str:
    curve, at = each.curve, each.curve.counts.index(len(each.chosen))
    plain, best = (hit_rate(some) for some in (curve.right[0], curve.right[at]))
    text = f"{each.branch.value}: {plain.value:.2f} of answers right ({curve.fill.value})"
    if each.brought is not None:
        others = "the best other" if len(each.chosen) == 1 else f"the {len(each.chosen)} best others"
        text += f", with {others} {best.value:.2f} ({_names(each.chosen)}), {_says_back(each.brought)}"
        return text + (", so just any others bring back most" if each.brought.just_any else "")
    if curve.lost:
        return f"{text}, and {curve.lost} of {plain.n} that fail are too few to test what is missing"
    return f"{text}, so nothing is missing"


def _says_back(brought: RestoredAnswers) -> str:
    gap, effect, null = brought.difference, brought.effect, brought.null
    return (
        f"which brings back {effect.value:.2f} of the {effect.n} that fail, random others {null.value:.2f}: a "
        f"difference of {gap.value:.2f} [{gap.low:.2f}, {gap.high:.2f}] on the same questions, of two random sets "
        f"{gap.null:.2f}"
    )


def _says_drawn(found: Sequence[RestoredBranch]) -> str:
    drawn = np.sum([each.nearness for each in found], axis=0)
    parts = (f"{n / drawn.sum():.2f} {where}" for n, where in zip(drawn, NEARNESS, strict=True) if n)
    return f"Random others are neither tagged nor chosen: {', '.join(parts)}."


def _names(nodes: Sequence[Node]) -> str:
    shown = ", ".join(map(str, sorted(nodes[:10])))
    return shown + (f" and {len(nodes) - 10} more" if len(nodes) > 10 else "")
