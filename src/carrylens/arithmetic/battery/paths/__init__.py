"""The experiment `paths`: which edges deliver the carry to the combiner.

Takes  the context of a run.
Gives  `card.py` what is asked, `measure.py` what was measured, `summarise.py` the outcome, `findings.py` what of it is
       compared between models.
Never  lets what is summarised run the model, or what is measured judge.
"""

from carrylens.arithmetic.battery.experiment import measured_experiment
from carrylens.arithmetic.battery.paths import card, findings, measure, summarise

EXPERIMENT = measured_experiment(
    card.CARD, measure.measure, summarise.summarise, findings.QUESTIONS, findings.findings_of
)
