"""Stimulus texts: the very questions behind a map's facts, drawn again from what the facts say of them.

Takes  a node map and its facts.
Gives  for each variable the pairs on which its roles were confirmed; the questions that ablations were evaluated on.
Never  runs a model, and never hands out pairs that do not fit the counts in the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrylens.discovery.interchange_outcomes import Stimuli, draw_stimuli
from carrylens.discovery.node_map import NodeMap
from carrylens.discovery.stimulus_spec import StimulusSpec
from carrylens.errors import CarryLensError, quote
from carrylens.evidence.facts import Fact
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

_MOST = 1 << 20
"""Questions: far more than any map is measured on."""


@dataclass(frozen=True)
class PairTexts:
    """The pairs of one variable: base, source and what the base must then answer; null pairs have base and source."""

    variable: Variable
    seed: int
    effect: tuple[tuple[str, str, str], ...]
    null: tuple[tuple[str, str], ...]


def pair_texts(found: NodeMap, facts: Iterable[Fact]) -> list[PairTexts]:
    """The confirming pairs of every variable that was confirmed or refused on them, in the algorithm's order."""
    by_variable: dict[Variable, list[Fact]] = {}
    for fact in facts:
        if fact.kind == "swap" and fact.about.get("split") == "confirm":
            by_variable.setdefault(Variable.parse(str(fact.about["variable"])), []).append(fact)
    texts = []
    for variable in found.causal.variables:
        if some := by_variable.get(variable):
            count, seed = (_drawn(some[0], name) for name in ("pairs", "seed"))
            stimuli = draw_stimuli(found.task, found.causal, variable, StimulusSpec(count, seed))
            _check_counts(found.task, stimuli, some)
            texts.append(_texts(found.task, stimuli))
    return texts


def evaluation_texts(found: NodeMap, facts: Iterable[Fact]) -> list[str]:
    """The questions that single nodes were ablated on; none if no fact says how they were drawn."""
    fact = next((fact for fact in facts if fact.kind == "ablate"), None)
    if fact is None:
        return []
    name = str(fact.stimuli.get("stream"))
    population = found.task.samplers.get(name)
    if population is None:
        raise CarryLensError(f"{found.task.name} has no population {quote(name)}. Map the model again.")
    return found.task.question_text(population.draw(_drawn(fact, "seed"), 0, _drawn(fact, "n")))


def _drawn(fact: Fact, name: str) -> int:
    # A number by which the questions of a fact were drawn; of questions, no more than any map has.
    value = fact.stimuli.get(name)
    if type(value) is not int or not 0 <= value < (1 << 63 if name == "seed" else _MOST):
        raise CarryLensError(
            f"A fact says that {name} of its questions is {quote(str(value))}. Restore them, or map the model again."
        )
    return value


def _check_counts(task: Task, stimuli: Stimuli, facts: Sequence[Fact]) -> None:
    # How many pairs differ in an output is in the facts, less those on which the model gives that output unasked,
    # being wrong: pairs that were drawn otherwise would give other counts.
    differs = stimuli.expected != task.output_ids(stimuli.effect.base)
    for fact in facts:
        token = int(str(fact.about["token"]))
        n_pairs = int(differs[:, token].sum()) if token < differs.shape[1] else 0
        n_null = len(stimuli.null.base)
        if fact.effect.n > n_pairs or fact.null.n != n_null:
            raise CarryLensError(
                f"The pairs of {stimuli.variable} cannot be drawn again: {n_pairs} differ in output "
                f"{fact.about['token']}, and the facts have {fact.effect.n}. Map the model again with this version."
            )


def _texts(task: Task, stimuli: Stimuli) -> PairTexts:
    effect, null = stimuli.effect, stimuli.null
    expected = task.layout.output_text(stimuli.expected)
    base, source = task.question_text(effect.base), task.question_text(effect.source)
    return PairTexts(
        stimuli.variable,
        stimuli.seed,
        tuple(zip(base, source, expected, strict=True)),
        tuple(zip(task.question_text(null.base), task.question_text(null.source), strict=True)),
    )
