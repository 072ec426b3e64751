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
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable


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
            count, seed = (int(str(some[0].stimuli[name])) for name in ("pairs", "seed"))
            stimuli = draw_stimuli(found.task, found.causal, variable, StimulusSpec(count, seed))
            _check_counts(found.task, stimuli, some)
            texts.append(_texts(found.task, stimuli))
    return texts


def evaluation_texts(found: NodeMap, facts: Iterable[Fact]) -> list[str]:
    """The questions that single nodes were ablated on; none if no fact says how they were drawn."""
    drawn = next((fact.stimuli for fact in facts if fact.kind == "ablate"), None)
    if drawn is None:
        return []
    population = found.task.samplers.get(str(drawn["stream"]))
    if population is None:
        raise CarryLensError(f"{found.task.name} has no population {drawn['stream']!r}. Map the model again.")
    return found.task.question_text(population.draw(int(str(drawn["seed"])), 0, int(str(drawn["n"]))))


def _check_counts(task: Task, stimuli: Stimuli, facts: Sequence[Fact]) -> None:
    # How many pairs differ in an output is in the facts: pairs that were drawn otherwise would give other counts.
    differs = stimuli.expected != task.output_ids(stimuli.effect.base)
    for fact in facts:
        n_pairs, n_null = int(differs[:, int(str(fact.about["token"]))].sum()), len(stimuli.null.base)
        if (fact.effect.n, fact.null.n) != (n_pairs, n_null):
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
