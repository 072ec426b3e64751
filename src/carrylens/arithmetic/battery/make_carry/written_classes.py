"""Written classes: does what a column's place writes tell the values 0, U and 1 apart, beyond the column's digits?

Takes  a subject and a branch.
Gives  for every column above the units, and each of its two cuts, how often pairs of digits fall on the right side.
Never  scores a pair of digits by means it is part of, and never takes a sum that is told for a value that is.

1. Draw questions in which every column has each of the 100 pairs of digits equally often, in an order of its own. (A
   subtraction's top column makes the sign and is left out.)
2. Sum what the nodes of D'k write in the layers whose writes a later component reads, and average it for each pair of
   digits.
3. Cut 0 from U, and U from 1. A pair next to the cut (sums 8 and 9; sums 9 and 10) is on the side whose mean is
   nearer, in units of the spread within the sides, which is what the digits do besides. Means and spread are taken
   without the pair. A place that writes the sum in a straight line fails: 8 is nearer to 9 than to the mean of 0 to 8.
4. Null for the digits: the same cut at sums that all have one value (7 from 8; 10 from 11). A place that writes every
   sum in its own way does as well there, and tells no values.
5. Null for chance: the same, with sums shuffled among the pairs of digits.

For a borrow it is the difference of the digits that is cut, at 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.residual_states import read_hooks
from carrylens.arithmetic.battery.measures.verdict_rules import weigh
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Questions
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

LOW, HIGH = "0 from U", "U from 1"
"""The two cuts: below the middle amount (a sum of 9, a difference of 0), and above it."""
BESIDE = {LOW: (-3, -2, -1), HIGH: (1, 2, 3)}
"""Where the null cuts instead: amounts that all have one value."""
OTHER_SUMS, SHUFFLED = "cuts among sums of one value", "shuffled sums"
NO_CLASS, THREE_CLASSES = "no class", "three classes"
_CLASSES = {
    (True, True): THREE_CLASSES,
    (False, True): "two classes, 1 or not",
    (True, False): "two classes, 0 or not",
    (False, False): NO_CLASS,
}
_FOLDS = 5
_ROUND = 1.0  # how much of the mean variance is added to every direction's: pairs are fewer than directions
Writes = NDArray[np.float64]
ColumnAmounts = NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """How often pairs of digits next to one cut are on its right side, beside both nulls."""

    branch: Branch
    column: int
    name: str
    told: Rate
    other_sums: Rate
    shuffled: Rate

    def facts(self, experiment: str, stimuli: Mapping[str, object]) -> list[Fact]:
        """A fact for each null."""
        about = {"write of": str(self.branch.family[self.column]), "cut": self.name}
        nulls = ((OTHER_SUMS, self.other_sums), (SHUFFLED, self.shuffled))
        return [
            Fact(f"battery {experiment}", {**about, "null": name}, self.told, rate, stimuli) for name, rate in nulls
        ]


def written_cuts(context: ExperimentContext, branch: Branch) -> list[Cut]:
    """Both cuts at every column above the units."""
    subject, settings = context.subject, context.settings
    columns = range(1, branch.top(subject.digits))
    if not columns:
        return []
    random = np.random.default_rng(settings.seed_of("written classes", branch))
    questions = balanced_column_questions(branch, subject.digits, max(2, settings.n_train // 100), random)
    found = []
    for k, writes in zip(columns, _writes(subject, questions, columns), strict=True):
        means, amounts = _by_pair(branch, questions, k, writes)
        mixed = [random.permutation(amounts) for _ in range(settings.n_draws)]
        for name, beside in BESIDE.items():
            others = sum((tell(means, amounts, name, at) for at in beside), Rate(0, 0))
            shuffled = sum((tell(means, each, name) for each in mixed), Rate(0, 0))
            found.append(Cut(branch, k, name, tell(means, amounts, name), others, shuffled))
    return found


def balanced_column_questions(branch: Branch, digits: int, times: int, random: np.random.Generator) -> Questions:
    """Questions of the branch in which each pair of digits stands `times` times in every column it can stand in."""
    pairs = np.stack([random.permutation(np.repeat(np.arange(100), times)) for _ in range(digits)], axis=1)
    if branch is not Branch.ADD:
        larger = np.array([10 * high + low for high in range(10) for low in range(high)])
        top = random.choice(larger, len(pairs))
        pairs[:, -1] = top if branch is Branch.POSITIVE else 10 * (top % 10) + top // 10
    return Questions(
        (pairs // 10).astype(np.int8), (pairs % 10).astype(np.int8), np.full(len(pairs), branch is not Branch.ADD)
    )


def amounts_of(branch: Branch, first: ColumnAmounts, second: ColumnAmounts) -> ColumnAmounts:
    """What decides a column's value: 0 where it is negative, U where it is 0, 1 where it is positive."""
    return {Branch.ADD: first + second - 9, Branch.POSITIVE: second - first, Branch.NEGATIVE: first - second}[branch]


def tell(means: Writes, amounts: ColumnAmounts, cut: str, at: int = 0) -> Rate:
    """How many of the pairs next to a cut are nearer to the mean of their own side, taken without them.

    `means` has the write of each pair of digits; `at` is the amount that is cut off from all below it, or above it.
    """
    one_side = amounts < at if cut == LOW else amounts > at
    middle, step = amounts == at, -1 if cut == LOW else 1
    tested = np.flatnonzero(middle | (amounts == at + step))
    hits = 0
    for fold in (tested[start::_FOLDS] for start in range(_FOLDS)):
        left = np.ones(len(amounts), dtype=np.bool_)
        left[fold] = False
        far, near = means[one_side & left], means[middle & left]
        axis = np.linalg.solve(_spread(far, near), near.mean(0) - far.mean(0))
        scores = (means[fold] - (far.mean(0) + near.mean(0)) / 2) @ axis
        hits += int(((scores > 0) == middle[fold]).sum())
    return Rate(hits, len(tested))


def _spread(*sides: Writes) -> Writes:
    centred = np.concatenate([side - side.mean(0) for side in sides])
    covariance = centred.T @ centred / len(centred)
    return np.asarray(covariance + np.eye(len(covariance)) * max(_ROUND * np.trace(covariance) / len(covariance), 1e-9))


def classes_told(cuts: Sequence[Cut]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each branch how many classes its columns' writes tell, and at which cuts no more surely than other sums."""
    asked = list(dict.fromkeys((cut.branch, name) for cut in cuts for name in BESIDE))
    pooled = [pool([cut for cut in cuts if (cut.branch, cut.name) == each]) for each in asked]
    beyond, told = (
        [verdict is Verdict.SUPPORTED for verdict in weigh([Fact("", {}, rates[0], rates[null]) for rates in pooled])]
        for null in (1, 2)
    )
    found = {}
    for at, (branch, _) in list(enumerate(asked))[::2]:
        plain = tuple(name for side, name in enumerate(BESIDE) if told[at + side] and not beyond[at + side])
        found[branch.value] = (_CLASSES[told[at], told[at + 1]], plain)
    return found


def pool(cuts: Sequence[Cut]) -> tuple[Rate, Rate, Rate]:
    """The cuts' rates together: told, and the two nulls."""
    told, others, shuffled = (
        sum((getattr(cut, name) for cut in cuts), Rate(0, 0)) for name in ("told", "other_sums", "shuffled")
    )
    return told, others, shuffled


def _writes(subject: Subject, questions: Questions, columns: Sequence[int]) -> list[Writes]:
    # All nodes of each column's place together, up to the last layer but one: no later component reads what the last
    # writes there.
    places = [subject.position(f"D'{k}") for k in columns]
    hooks = ["blocks.0.hook_resid_pre", f"blocks.{max(0, subject.last_layer - 1)}.hook_resid_post"]
    before, after = read_hooks(subject.model, questions, places, hooks)
    return [(after[:, at] - before[:, at]).astype(np.float64) for at in range(len(places))]


def _by_pair(branch: Branch, questions: Questions, k: int, writes: Writes) -> tuple[Writes, ColumnAmounts]:
    first, second = (side[:, k].astype(np.int64) for side in (questions.first, questions.second))
    order = np.argsort(10 * first + second, kind="stable")
    means = writes[order].reshape(100, -1, writes.shape[1]).mean(1)
    left, right = np.divmod(np.arange(100), 10)
    return means, amounts_of(branch, left, right)
