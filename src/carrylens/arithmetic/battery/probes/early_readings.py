"""Early readings: where a probe reads a carry before it is needed, does the answer depend on what it reads?

Takes  a subject, and what probes found about one carry.
Gives  `EarlyReading`: how often the digit follows when the stream there takes the source's values along what the probe
       reads, and when all of it does; None where the carry is first read at its reader, or where no later component
       reads it.
Never  takes what can be read for what is used.

1. At the onset's place take the first stream between two layers that a probe, fitted anew, reads surely in nine of ten.
   Behind the last layer only the logits of that place read on.
2. The plane: the probe's direction, and that from one class's mean to the other's.
3. Interchange the stream there within that plane, and as a whole, in pairs whose deciding carry is turned, every depth
   alike. Null: other digits, same carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import (
    ColumnRates,
    answered_pairs,
    edit_columns,
    pool_rates,
)
from carrylens.arithmetic.battery.measures.linear_probe import fit_probe
from carrylens.arithmetic.battery.measures.residual_states import levels_of, read_states
from carrylens.arithmetic.battery.probes.carry_probes import LEAST, CarryRead, ProbeQuestions
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs
from carrylens.evidence.facts import Fact
from carrylens.interventions.edits import interchange, project
from carrylens.interventions.sites import Residual

_NAME = "probes"
PLANE, WHOLE = "what the probe reads", "the whole stream"


@dataclass(frozen=True)
class EarlyReading:
    """What the stream at one place did to the digit that needs the carry: within the probe's plane, and as a whole."""

    carry: str
    site: Residual
    plane: ColumnRates
    whole: ColumnRates

    def facts(self, settings: BatterySettings) -> list[Fact]:
        """Both as facts."""
        about, stimuli = {"carry": self.carry, "site": str(self.site)}, {"seed": settings.seed}
        return [
            rates.fact(_NAME, {**about, "swapped": what}, stimuli)
            for what, rates in ((PLANE, self.plane), (WHOLE, self.whole))
        ]


def early_reading(
    context: ExperimentContext, carry: CarryRead, asked: tuple[ProbeQuestions, ProbeQuestions]
) -> EarlyReading | None:
    """What becomes of the answer when that is interchanged which a probe reads at the onset."""
    subject = context.subject
    if carry.onset is None or carry.onset[0] == len(carry.places) - 1:
        return None
    place = carry.places[carry.onset[0]]
    between = [level for level in levels_of(subject.last_layer) if level.endswith("post")]
    if not between:
        return None
    fitted, scored = (read_states(subject.model, some.questions, [place], between)[:, 0] for some in asked)
    for layer in range(len(between)):
        probe = fit_probe(fitted[:, layer], asked[0].labels)
        if hit_rate(probe.right(scored[:, layer], asked[1].labels)).interval[0] > LEAST:
            plane = _plane(fitted[:, layer], asked[0].labels, probe.weights)
            return interchange_plane(context, carry, Residual(place, layer + 1), plane)
    return None


def early_sentence(there: Sequence[EarlyReading], n_early: int) -> str:
    """What the readings say together, as a clause, of `n_early` carries that are read before their reader."""
    lost = n_early - len(there)
    text = (
        f"of those read before, {lost} are so behind the last layer's heads, where no later component reads it"
        if lost
        else ""
    )
    if not there:
        return text
    plane, whole = (pool_rates([getattr(each, side) for each in there]) for side in ("plane", "whole"))
    return (
        f"{text}{'; ' if text else ''}{len(there)} could be taken up by later layers: interchanged there, {PLANE} "
        f"turns the digit in {plane.effect.value:.2f} (null {plane.null.value:.2f}), {WHOLE} in "
        f"{whole.effect.value:.2f} (null {whole.null.value:.2f})"
    )


def _plane(
    states: NDArray[np.float64], labels: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    apart = states[labels > 0].mean(0) - states[labels < 0].mean(0)
    return np.asarray(np.linalg.qr(np.stack([weights, apart], axis=1))[0].T)


def interchange_plane(
    context: ExperimentContext, carry: CarryRead, site: Residual, plane: NDArray[np.float64]
) -> EarlyReading:
    """What the digit does when the stream at a site takes the source's values, within a plane and as a whole."""
    subject, settings = context.subject, context.settings
    edits, digit = [project([site], plane), interchange([site])], carry.column + 1
    per_depth = -(-settings.n_pairs // digit)
    parts = []
    for depth in range(digit):
        seed = settings.seed_of(_NAME, carry.branch, digit, depth, "swap")
        drawn = deciding_pairs(carry.branch, subject.digits, digit, depth, per_depth, seed)
        parts.append(edit_columns(subject, answered_pairs(subject, drawn), edits, [subject.token(digit)]))
    return EarlyReading(carry.name, site, *(pool_rates(mine) for mine in zip(*parts, strict=True)))
