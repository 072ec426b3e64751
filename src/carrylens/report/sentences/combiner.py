"""The sentence of `combiner`: how many pairs make a step, where it lies and how steep it is.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.combiner.summarise import CombinerTold


def sentence(given: CombinerTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    facts, estimates, layers = given.facts, given.estimates, given.layers
    if not facts:
        return "The model answers too few of the questions for a combiner to be seen."
    parts = []
    for at in range(0, len(facts), 6):
        logits, output, turned, _, _, stray = facts[at : at + 6]
        branch = str(logits.about["branch"])
        slope, gain, share = (
            next((each for each in estimates if each.name.startswith(f"{branch}: {name}")), None)
            for name in ("slope of the logit", "error of a line", "share at which")
        )
        shape = ""
        if slope is not None and gain is not None and share is not None:
            line = "which no line fits" if gain.low > 0 else "as a line's may be"
            shape = (
                f", with a slope of {slope.value:.2f} (a line has 1), {line}, and turns at {share.value:.2f} of the way"
            )
        parts.append(
            f"{branch}, MLP of layer {layers[branch]}: the digit turns in {turned.effect.value:.2f} of pairs, null "
            f"{turned.null.value:.2f}, along a permuted direction {stray.null.value:.2f}; the logit difference goes "
            f"by a step in {logits.effect}, the MLP's output in {output.effect.value:.2f}{shape}"
        )
    return "; ".join(parts) + "."
