"""The text of a verdict: one sentence, then what it rests on.

Takes  a judgement.
Gives  lines for a terminal, and the sentence that a page opens with.
Never  says more than the judgement does.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrylens.claims.run_verdict import JointRate, RunJudgement
from carrylens.claims.verdicts import RunVerdict

_SHOWN = 6  # of deviations and open points


def verdict_sentence(judged: RunJudgement) -> str:
    """The integrated statement: the verdict, how much, on which population."""
    what, joint = f"the {judged.hypothesis} algorithm", judged.joint_interchange
    if joint is None:
        return f"Whether {judged.model} runs {what} is not settled: no alignment was measured."
    measured = f"interchanging several variables at once changes the answer as predicted in {_share(joint)}"
    says = {
        RunVerdict.RUNS: f"{judged.model} runs {what}: {measured}.",
        RunVerdict.IN_PART: f"{judged.model} runs {what} in part: {measured}.",
        RunVerdict.DOES_NOT_RUN: f"{judged.model} does not run {what}: {measured}.",
        RunVerdict.NOT_SETTLED: f"Whether {judged.model} runs {what} is not settled: {measured}.",
    }
    return says[judged.verdict]


def verdict_title(judged: RunJudgement) -> str:
    """The verdict alone, as a heading."""
    what = f"the {judged.hypothesis} algorithm"
    says = {
        RunVerdict.RUNS: f"This model runs {what}",
        RunVerdict.IN_PART: f"This model runs {what} in part",
        RunVerdict.DOES_NOT_RUN: f"This model does not run {what}",
        RunVerdict.NOT_SETTLED: f"Whether this model runs {what} is not settled",
    }
    return says[judged.verdict]


def verdict_lines(judged: RunJudgement, *, every: bool = False) -> Iterator[str]:
    """The sentence, then carriers, scrubbing, form, deviations, rivals and what is open: the first few, or every."""
    yield verdict_sentence(judged)
    if judged.joint_interchange is not None:
        worst = "" if judged.worst_output is None else f"; worst output {judged.worst_output}"
        count = judged.carriers
        yield f"  Carriers:   {count.supported} of {count.required} required variables have a full carrier."
        yield f"  Jointly:    {_share(judged.joint_interchange)}{worst}."
    if judged.scrubbed is not None:
        yield f"  Scrubbed:   {_share(judged.scrubbed)} keep their answer with all outside the sites resampled."
    if judged.form is not None:
        yield f"  Form:       {judged.form}."
    yield from _some(every, "Deviation:  ", [f"{each.sentence} (share {each.share:.3g})" for each in judged.deviations])
    yield from _some(every, "Rival:      ", [f"{each.name}: {each.standing}" for each in judged.rivals])
    if judged.implementation is not None:
        yield f"  Paper:      {judged.implementation}."
    yield from _some(
        every, "Open:       ", [f"{each.claim}{each.cost and f' To settle it: {each.cost}.'}" for each in judged.open]
    )
    yield from _some(every, "Next:       ", list(dict.fromkeys(each.settled_by for each in judged.open)))


def _some(every: bool, label: str, said: list[str]) -> Iterator[str]:
    shown = said if every else said[:_SHOWN]
    for each in shown:
        yield f"  {label}{each}"
    if len(said) > len(shown):
        yield f"  {label}{len(said) - _SHOWN} more; --json lists all."


def _share(rate: JointRate) -> str:
    return f"{rate.value:.3f} ({rate.low:.3f} to {rate.high:.3f}) of {rate.n:,} tests on {rate.population} questions"
