"""Fresh outcomes: the experiments run one after the other, but for those that are there already.

Takes  a context, experiments, and the outcomes that are there already.
Gives  the outcomes, each as soon as it is there.
Never  runs again what the same form of the experiment gave with the same settings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Experiment
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.discovery.node_map import NodeMap
from carrylens.json_records import to_text


def run_experiments(
    context: ExperimentContext,
    experiments: Sequence[Experiment],
    there: Sequence[Outcome],
    say: Callable[[object], str],
    stronger: Sequence[ExperimentContext] = (),
) -> Iterator[Outcome]:
    """The outcome of each experiment in order: the one that is there if it was made this way, else one made now.

    `say` puts what a summary was made of into words. An outcome that was made as one of `stronger` says will do, too,
    and goes first.
    """
    for experiment in experiments:
        fits = (outcome for way in (*stronger, context) for outcome in there if is_fresh(outcome, experiment, way))
        found = next(fits, None)
        if found is not None:
            yield found
        else:
            settings = full_settings(experiment, context)
            summary = experiment.run(context)
            says = summary.outcome.says if summary.told is None else say(summary.told)
            yield replace(summary.outcome, says=says, settings=settings, form=experiment.form)


def full_settings(experiment: Experiment, context: ExperimentContext) -> Mapping[str, object]:
    """The settings, and what of the subject an outcome depends on beside its weights."""
    subject = context.subject
    found = hash_of_map(subject.map) if experiment.reads_map and subject.map is not None else None
    inserted = {} if subject.inserted is None else {"inserted": subject.inserted.name}
    return {**context.settings.plain(), "map": found, **inserted}


def hash_of_map(found: NodeMap) -> str:
    """By which an outcome knows the map it was made with, as far as an experiment reads it."""
    task, parts = found.task, replace(found, near_misses=()).found_parts()
    assert isinstance(task, ArithmeticTask)
    plain = {"model": found.model, "operation": task.operation.value, "digits": task.digits, **parts}
    return hashlib.sha256((to_text(plain, indent=1) + "\n").encode()).hexdigest()


def is_current(outcome: Outcome, experiment: Experiment) -> bool:
    """Whether an outcome was made by the experiment as it stands: words may change, its form may not."""
    return (outcome.card.name, outcome.form) == (experiment.name, experiment.form)


def is_fresh(outcome: Outcome, experiment: Experiment, context: ExperimentContext) -> bool:
    """Whether an outcome is what the experiment, as it stands, gave with these settings."""
    return is_current(outcome, experiment) and dict(outcome.settings) == dict(full_settings(experiment, context))
