"""Running: the experiments one after the other, what is finished kept at once.

Takes  a subject, experiments, settings, and the outcomes that are there already.
Gives  the outcomes, each as soon as it is there.
Never  runs again what was run with the same settings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import Experiment
from carrylens.discovery.node_map import NodeMap


def run_experiments(
    context: ExperimentContext, experiments: Sequence[Experiment], there: Sequence[Outcome]
) -> Iterator[Outcome]:
    """The outcome of each experiment in order: the one that is there if it was made this way, else one made now."""
    for experiment in experiments:
        found = next((outcome for outcome in there if is_fresh(outcome, experiment, context)), None)
        if found is not None:
            yield found
        else:
            outcome = experiment.run(context)
            yield Outcome(**{**vars(outcome), "settings": full_settings(experiment, context)})


def full_settings(experiment: Experiment, context: ExperimentContext) -> Mapping[str, object]:
    """The settings, and what of the subject an outcome depends on beside its weights."""
    subject = context.subject
    found = hash_of_map(subject.map) if experiment.reads_map and subject.map is not None else None
    inserted = {} if subject.inserted is None else {"inserted": subject.inserted.name}
    return {**context.settings.plain(), "map": found, **inserted}


def hash_of_map(found: NodeMap) -> str:
    """By which an outcome knows the map it was made with, as far as an experiment reads it."""
    return hashlib.sha256(replace(found, fallen=()).to_json().encode()).hexdigest()


def is_fresh(outcome: Outcome, experiment: Experiment, context: ExperimentContext) -> bool:
    """Whether an outcome is what the experiment, as it stands, gave with these settings."""
    wanted = dict(full_settings(experiment, context))
    return outcome.card == experiment.card and dict(outcome.settings) == wanted
