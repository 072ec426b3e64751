"""The sentence of `lenses`: a verdict for each of the three readouts, and the worst of them.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.readouts.feature_units import UnitComparison
from carrylens.arithmetic.battery.readouts.summarise import ReadoutsTold
from carrylens.claims.verdicts import Verdict

_PARTS = ("logit lens", "autoencoder", "sign")


def sentence(given: ReadoutsTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    readings, units, guesses, verdicts = given.readings, given.units, given.guesses, given.verdicts
    if units is None:
        return "The model answers fewer than half of the questions, so there is nothing to be read."
    early = [f"{each.token} at {each.onset[0]}, {each.onset[1]}" for each in readings if each.onset and each.early]
    late = sum(each.onset is not None and not each.early for each in readings)
    nowhere = [each.token for each in readings if each.onset is None]
    first = f"{late} of {len(readings)} tokens are read in the last layer of their place only"
    first += f" (before: {'; '.join(early)})" if early else ""
    first += f" (nowhere: {', '.join(nowhere)})" if nowhere else ""
    texts = [first, "no MLP output varies", "no subtractions"]
    if units.rungs:
        texts[1] = _unit_text(units)
    if guesses:
        one = guesses[0]
        known = f"untrained twins {one.twins.value:.2f} ({one.as_good.hits} of {one.as_good.n} as good), "
        known += f"best possible {one.best.value:.2f}"
        texts[2] = f"the paper says it is guessed from the first digit; at {one.place} in {one.lens.value:.2f}, {known}"
    parts = [f"{name} {each.value}: {text}" for name, each, text in zip(_PARTS, verdicts, texts, strict=True)]
    whole = overall([each for each in verdicts if each is not Verdict.UNTESTED])
    rests = " and ".join(name for name, each in zip(_PARTS, verdicts, strict=True) if each is whole)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}. The verdict of the whole, {whole.value}, rests on {rests}."


def _unit_text(units: UnitComparison) -> str:
    first = units.rungs[0]
    rungs = [
        f"at sparsity {rung.sparsity:g} features {rung.neurons.value:.2f} ({rung.active.value:.1f} active, "
        f"{rung.rebuilt.value:.2f} of the variance rebuilt, shuffled coordinates {rung.rebuilt.null:.2f})"
        for rung in units.rungs
    ]
    beside = f"neurons {first.neurons.null:.2f} ({first.active.null:.1f} active)"
    return f"correlation with values, {beside}, random directions {first.random.null:.2f}; {'; '.join(rungs)}"
