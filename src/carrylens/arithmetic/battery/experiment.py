"""Experiments: a card, what measures, what summarises, and what reads findings off an outcome that was kept.

Takes  the parts that the folder of an experiment declares.
Gives  `Experiment`, the one shape that the registry, the command and the family know.
Never  knows what any of them measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.outcome import Card, Outcome
from carrylens.arithmetic.questions import Operation


@dataclass(frozen=True)
class Summary:
    """An outcome, and what the sentence about it is made of; None where the outcome has its sentence already."""

    outcome: Outcome
    told: object | None = None


Measured = TypeVar("Measured")
FindingsOf = Callable[[Outcome], tuple[ExperimentFinding, ...]]


@dataclass(frozen=True)
class Experiment:
    """A card, and what does what it says; one that does not read the subject's map outlives a new map.

    `questions` are what it asks of every model; `findings_of` answers them, in their order, from an outcome.
    `operations` are those of the models that it asks anything of. `form` counts how often what it measures has changed:
    outcomes of another form are measured anew.
    """

    card: Card
    run: Callable[[ExperimentContext], Summary]
    questions: tuple[FindingQuestion, ...] = ()
    findings_of: FindingsOf = lambda _outcome: ()
    reads_map: bool = False
    operations: tuple[Operation, ...] = tuple(Operation)
    form: int = 1

    @property
    def name(self) -> str:
        """By which it is called and saved."""
        return self.card.name


def measured_experiment(
    card: Card,
    measure: Callable[[ExperimentContext], Measured],
    summarise: Callable[[ExperimentContext, Measured], Summary],
    questions: tuple[FindingQuestion, ...],
    findings_of: FindingsOf,
    *,
    reads_map: bool = False,
    operations: tuple[Operation, ...] = tuple(Operation),
) -> Experiment:
    """The experiment that measures, then summarises what was measured."""

    def run(context: ExperimentContext) -> Summary:
        return summarise(context, measure(context))

    return Experiment(card, run, questions, findings_of, reads_map, operations)
