"""Asked: the very questions behind a map's facts, drawn again from what the facts say of them.

Takes  a node map and its facts.
Gives  for each variable the pairs on which its roles were confirmed, and the questions that ablations were asked on.
Never  runs a model, and never hands out pairs that do not fit the counts in the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.tokens import decode
from carrylens.discovery.interchange import Stimuli, answer_tokens, draw_stimuli
from carrylens.discovery.node_map import NodeMap
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class AskedPairs:
    """The pairs of one variable: base, source and what the base must then answer; null pairs have base and source."""

    variable: Variable
    seed: int
    effect: tuple[tuple[str, str, str], ...]
    null: tuple[tuple[str, str], ...]


def asked_pairs(found: NodeMap, facts: Iterable[Fact]) -> list[AskedPairs]:
    """The confirming pairs of every variable that was confirmed or refused on them, in the algorithm's order."""
    model = algorithm(found.operation, found.digits)
    by_variable: dict[Variable, list[Fact]] = {}
    for fact in facts:
        if fact.kind == "swap" and fact.about.get("split") == "confirm":
            by_variable.setdefault(Variable.parse(str(fact.about["variable"])), []).append(fact)
    asked = []
    for variable in model.variables:
        if some := by_variable.get(variable):
            count, seed = (int(str(some[0].stimuli[name])) for name in ("pairs", "seed"))
            stimuli = draw_stimuli(model, variable, count, seed)
            _check_counts(stimuli, some)
            asked.append(_texts(stimuli))
    return asked


def asked_questions(found: NodeMap, facts: Iterable[Fact]) -> list[str]:
    """The questions that single nodes were ablated on; none if no fact says how they were drawn."""
    drawn = next((fact.stimuli for fact in facts if fact.kind == "ablate"), None)
    if drawn is None:
        return []
    stream = Stream(StreamKind(drawn["stream"]), found.operation, found.digits, int(str(drawn["seed"])))
    return stream.take(0, int(str(drawn["n"]))).text()


def _check_counts(stimuli: Stimuli, facts: Sequence[Fact]) -> None:
    # How many pairs differ in a token is in the facts: pairs that were drawn otherwise would give other counts.
    differs = stimuli.expected != answer_tokens(stimuli.effect.base)
    for fact in facts:
        n_pairs, n_null = int(differs[:, int(str(fact.about["token"]))].sum()), len(stimuli.null.base)
        if (fact.effect.n, fact.null.n) != (n_pairs, n_null):
            raise CarryLensError(
                f"The pairs of {stimuli.variable} cannot be drawn again: {n_pairs} differ in token "
                f"{fact.about['token']}, and the facts have {fact.effect.n}. Map the model again with this version."
            )


def _texts(stimuli: Stimuli) -> AskedPairs:
    effect, null = stimuli.effect, stimuli.null
    return AskedPairs(
        stimuli.variable,
        stimuli.seed,
        tuple(zip(effect.base.text(), effect.source.text(), decode(stimuli.expected.astype(np.int64)), strict=True)),
        tuple(zip(null.base.text(), null.source.text(), strict=True)),
    )
