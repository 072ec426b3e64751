"""Our own verdicts, in the form in which methods are scored: one alignment for each hypothesis, tested jointly.

Takes  what a method is given.
Gives  the verdict on every hypothesis, as `carrylens settle` gives it.
Never  adds anything to what `discovery/alignment/` measured and `claims/` judged.
"""

from __future__ import annotations

from carrylens.benchmark.known_truth import RunVerdict
from carrylens.benchmark.method_interface import Found, Given
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.run_verdict import needs_more_questions, run_judgement
from carrylens.discovery.alignment.aligner import AlignSettings
from carrylens.discovery.alignment.contest import ContestModel, contest_for, includes, population_name


def judge_by_alignment(given: Given) -> Found:
    """The verdicts alone, without a map."""
    return Found(verdicts=verdicts_by_alignment(given))


def verdicts_by_alignment(given: Given) -> dict[str, RunVerdict]:
    """The verdict on every hypothesis, with all others as its rivals; none without hypotheses.

    Recodings of the same are no rivals, nor are mixtures that run the hypothesis on some questions.
    """
    if not given.hypotheses:
        return {}
    settings = AlignSettings.chosen(given.seed, quick=given.quick)
    about = ContestModel("benchmark", "", population_name(given.task))
    contest = contest_for(given.model, given.task, about, settings, given.progress)
    found = dict[str, RunVerdict]()
    for stated in given.hypotheses:
        rivals = [each for each in given.hypotheses if each.name != stated.name and not _same(each, stated)]
        measured = contest.settled(stated, rivals, lambda so_far: needs_more_questions(run_judgement(so_far)))
        found[stated.name] = run_judgement(measured).verdict
    return found


def _same(one: Hypothesis, other: Hypothesis) -> bool:
    return includes(one, other) or any("binary carries" in each.name for each in (one, other))
