"""Alignment: which variables of a causal model each site of a network holds, chosen on questions of their own.

Takes  a subject, causal models (ours and the rivals'), sites.
Gives  `AlignedHypothesis`: for every site the variables that predict best what its interchange does.
Never  scores on the questions it chose with.

1. Interchange each site with unrelated questions.
2. Of no part, every part and every two parts the one that predicts most answers exactly is the site's; then parts are
   added as long as that predicts more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.battery.measures.hit_rates import AnswerTokens
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.whole_algorithm.interchange_sites import InterchangeSite, SiteLabel, holdable_parts
from carrylens.arithmetic.battery.whole_algorithm.intervention_rows import random_pairs
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.arithmetic.variables import SGN
from carrylens.interventions.edits import interchange
from carrylens.tasks.causal import Values


@dataclass(frozen=True)
class AlignedHypothesis:
    """For each site the variables it holds, by the hypothesis of one causal model."""

    model: Algorithm
    labels: Mapping[InterchangeSite, SiteLabel]


@dataclass(frozen=True)
class MovedSite:
    """A site that takes its values from a source, as that source's values in one causal model."""

    site: InterchangeSite
    label: SiteLabel
    values: Values


def predict(model: Algorithm, base: Questions, own: Values, moved: Sequence[MovedSite]) -> AnswerTokens:
    """The tokens that the base must be answered with, each made with the sign that stands in the base's answer."""
    usual = Answers.of_outputs(own.outputs())
    predicted = answer_tokens(base, usual)
    whole = [each for each in moved if each.site.digit is None]
    served = {each.site.digit for each in moved if each.site.digit is not None}
    for token, tokens in _cases(model, served, whole=bool(whole)):
        written = {} if token == "sign" else own.pick(SGN)
        do = dict(written)
        for each in whole:  # a digit is made with the sign that was written, whatever moved before it
            do |= each.values.pick(*(v for v in each.label if v != SGN or token == "sign"))
        for each in (m for m in moved if m.site.digit is not None and m.site.digit == token):
            do |= each.values.pick(*each.label)
        given = answer_tokens(base, model.answers(base, do=do))
        predicted[:, tokens] = given[:, tokens]
    return predicted


def _cases(model: Algorithm, served: set[int], *, whole: bool) -> Iterator[tuple[object, list[int]]]:
    # Tokens that are predicted alike: the sign, each digit that has a site of its own, all the others. Without a site
    # that serves all digits nothing moves the first and the last of these.
    n = model.digits
    if whole and SGN in model.by_variable and model.by_variable[SGN].parents:
        yield "sign", [0]
    if whole:
        yield "others", [n + 1 - digit for digit in range(n + 1) if digit not in served]
    for digit in served:
        yield digit, [n + 1 - digit]


def align_hypotheses(
    subject: Subject, models: Sequence[Algorithm], sites: Sequence[InterchangeSite], n: int, seed: int
) -> list[AlignedHypothesis]:
    """For each causal model what the sites hold, by what interchanging each alone does to the same questions."""
    base, (source,) = random_pairs(subject.operation, subject.digits, n, 1, seed)
    given = subject.engine.run([interchange(site.nodes) for site in sites], base, source).tokens
    last_read = subject.position("D'0")
    found = []
    for model in models:
        own, values = model.run(base), model.run(source)
        labels = {}
        for site, tokens in zip(sites, given, strict=True):

            def score(parts: Sequence[SiteLabel], site: InterchangeSite = site, tokens: AnswerTokens = tokens) -> float:
                label = tuple(dict.fromkeys(variable for part in parts for variable in part))
                return _agreed(predict(model, base, own, [MovedSite(site, label, values)]), tokens)  # noqa: B023

            labels[site] = _chosen(holdable_parts(model, site, last_read), score)
        found.append(AlignedHypothesis(model, labels))
    return found


def _chosen(parts: Sequence[SiteLabel], score: Callable[[Sequence[SiteLabel]], float]) -> SiteLabel:
    # Step 3. Of equally good ones the first is taken, and those of fewer parts come first.
    tried = [some for size in range(3) for some in combinations(parts, size)]
    scores = [score(some) for some in tried]
    best, reached = tried[int(np.argmax(scores))], max(scores)
    while len(best) >= 2 and (rest := [part for part in parts if part not in best]):
        grown = [(*best, part) for part in rest]
        scores = [score(some) for some in grown]
        if max(scores) <= reached:
            break
        best, reached = grown[int(np.argmax(scores))], max(scores)
    return tuple(dict.fromkeys(variable for part in best for variable in part))


def _agreed(predicted: AnswerTokens, given: AnswerTokens) -> float:
    # Whole answers; single tokens count only between equals.
    same = predicted == given
    return float(same.all(1).sum() + same.mean())
