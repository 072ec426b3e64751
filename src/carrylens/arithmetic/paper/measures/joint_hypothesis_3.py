"""Joint Hypothesis 3: one alignment of the paper's pseudo-code, beside one of the usual algorithm fitted just as hard.

Takes  a model of five-digit addition.
Gives  joint interchange of both, beside that with the sites given to other variables.
Never  counts questions that sites were chosen with.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.hypotheses import usual_for
from carrylens.arithmetic.paper.hypothesis_3 import NAME, hypothesis
from carrylens.arithmetic.paper.measurements import LabelledRate
from carrylens.arithmetic.paper.measures.measure import PaperMeasure, Rates
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.claims.hypothesis import Hypothesis
from carrylens.discovery.alignment.aligner import Aligner, AlignSettings

USUAL = "the usual algorithm"
WHOLE = "joint interchange"


def joint_label(what: str, whose: str) -> str:
    """What the rate of a hypothesis is called."""
    return f"{what}, {whose}"


def _measure(context: ExperimentContext) -> Rates:
    subject = context.subject
    task = arithmetic_task(subject.operation, subject.digits)
    settings = AlignSettings.chosen(context.settings.seed, quick=True)
    aligner = Aligner(subject.model, task, task.samplers["enriched"], settings, context.watch)
    stated: dict[str, Hypothesis] = {NAME: hypothesis(task), USUAL: usual_for(task)}
    found = []
    for whose, each in stated.items():
        rates = aligner.align(each, carriers=False).rates
        found.append(LabelledRate(joint_label(WHOLE, whose), rates.interchange, rates.permuted))
    return found


JOINT_HYPOTHESIS_3 = PaperMeasure(
    "hypothesis-3",
    lambda name: (name.operation, name.digits, name.n_layers) == (Operation.ADD, 5, 2),
    _measure,
    {"quick": 1},
)
