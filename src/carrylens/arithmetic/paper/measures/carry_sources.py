"""Carry sources: does a digit take its carry from its own place, or from what was resolved before?

Takes  a model.
Gives  how often digit j follows when its own layer-0 heads, all earlier places, or both are interchanged.
Never  counts a pair that the model, untouched, does not answer.

1. Pairs that turn the carry into digit j: the column below j decides it, or a column further down does.
2. `own`: the layer-0 heads where the digit is predicted. They read the tokens themselves, so they can know the column.
   `earlier`: all nodes at the places before. `both`.
3. "Use the own column's carry, else the one resolved earlier" follows `own` where the column below decides, `earlier`
   where it leaves the carry open. The usual algorithm follows `earlier` in both.
4. Null: a source with other digits in the deciding column and the same carry.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.interchange_rates import (
    ColumnRates,
    answered_pairs,
    edit_columns,
    pool_rates,
)
from carrylens.arithmetic.battery.stimuli.branches import branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.paper.measurements import LabelledRate
from carrylens.arithmetic.paper.measures.measure import PaperMeasure, Rates
from carrylens.arithmetic.questions import Operation
from carrylens.interventions.edits import Edit, interchange

OWN, EARLIER, BOTH = "own heads", "earlier places", "both"
DECIDED, OPEN = "the column below decides", "the column below leaves it open"
_PAIRS = 64


def source_label(branch: str, when: str, site: str) -> str:
    """What the rate of a site is called."""
    return f"{branch}, {when}: {site}"


def _measure(context: ExperimentContext) -> Rates:
    subject = context.subject
    found: dict[str, list[ColumnRates]] = {}
    for branch in branches_of(subject.operation):
        for digit in range(1, branch.top(subject.digits) + 1):
            edits = _edits(subject, digit)
            for depth in range(min(digit, 2)):
                seed = context.settings.seed_of("carry sources", branch.value, digit, depth)
                drawn = deciding_pairs(branch, subject.digits, digit, depth, _PAIRS, seed)
                pairs, token = answered_pairs(subject, drawn), [subject.token(digit)]
                rates = edit_columns(subject, pairs, list(edits.values()), token)
                for site, each in zip(edits, rates, strict=True):
                    found.setdefault(source_label(branch.value, OPEN if depth else DECIDED, site), []).append(each)
    pooled = {label: pool_rates(some) for label, some in found.items()}
    return [LabelledRate(label, each.effect, each.null) for label, each in pooled.items()]


def _edits(subject: Subject, digit: int) -> dict[str, Edit]:
    place = subject.predicting(digit)
    own = [node for node in subject.nodes_at(place) if node.layer == 0 and not node.is_mlp]
    earlier = list(subject.nodes_at(*range(place)))
    return {OWN: interchange(own), EARLIER: interchange(earlier), BOTH: interchange([*own, *earlier])}


CARRY_SOURCES = PaperMeasure(
    "carry-sources",
    lambda name: name.operation is Operation.ADD and name.n_layers > 1 and 5 <= name.digits <= 15,
    _measure,
    {"pairs": _PAIRS},
)
