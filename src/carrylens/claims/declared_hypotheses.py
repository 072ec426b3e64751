"""The hypotheses that a declared task comes with.

Takes  a task.
Gives  the hypothesis that a model runs its causal model, then one for each rival that it declares.
Never  knows what a task is about.
"""

from __future__ import annotations

from carrylens.claims.hypothesis import Hypothesis
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task


def hypotheses_of(task: Task) -> list[Hypothesis]:
    """The usual hypothesis about a model for the task, then its rivals."""
    return [whole_hypothesis(model) for model in (task.causal, *task.rivals)]


def whole_hypothesis(model: CausalModel) -> Hypothesis:
    """The hypothesis that a network runs this algorithm: every variable that an output needs must be seen.

    Inputs may be read by any component that needs them.
    """
    needed = {each.name for output in model.outputs for each in (output, *model.ancestors(output))}
    made = tuple(dict.fromkeys(each.variable.name for each in model.mechanisms if each.variable.name in needed))
    fixed = {variable for variable, _ in model.fixed}
    read = dict.fromkeys(each.name for each in model.inputs if each not in fixed and each.name not in made)
    return Hypothesis(model.name, model, required=made, optional=tuple(read))
