"""Claims about the algorithms: definitions, soundness, printed examples, how rare hard questions are.

Takes  the algorithms as stated here; no model.
Gives  `ALGORITHM_CLAIMS` of the methodology, and `DATA_CLAIMS` of the appendix on training data.
Never  reads a saved file: all of it is computed when the page is made.
"""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.classes import QuestionClass
from carrylens.arithmetic.frequencies import class_counts
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer, PaperClaim
from carrylens.arithmetic.paper.readers import shown
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.proof import prove
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.variables import SV
from carrylens.evidence.rates import Rate

_DRAWN = 100_000
_SEED = 0


def _sound(_evidence: PaperEvidence) -> PaperAnswer:
    lemmas = prove()
    cases = sum(lemma.cases for lemma in lemmas)
    return PaperAnswer(
        Agreement.AGREES,
        f"proved for every number of digits: {len(lemmas)} lemmas, {cases:,} cases, all checked",
        cases,
        "cases",
        command="carrylens prove",
        why="with the definitions of ST, ND and NB as corrected below",
    )


def _st_of_units(_evidence: PaperEvidence) -> PaperAnswer:
    questions = Population(PopulationKind.NATURAL, Operation.ADD, 6).draw(_SEED, 0, _DRAWN)
    sums = questions.first[:, 0].astype(int) + questions.second[:, 0]
    lost = Rate(int((sums >= 10).sum()), _DRAWN)
    return PaperAnswer(
        Agreement.DIFFERS,
        f"as printed, ST of the units is always 0, so the carry of {lost} questions is lost",
        _DRAWN,
        "questions",
        command="carrylens prove",
        why="the two conditions stand in the wrong order: the units are 1 if they sum to 10 or more, else 0",
    )


def _resolved(_evidence: PaperEvidence) -> PaperAnswer:
    model = algorithm(Operation.ADD, 6)
    questions = Population(PopulationKind.ENRICHED, Operation.ADD, 6).draw(_SEED, 0, _DRAWN)
    values = model.run(questions)
    resolved = np.stack([values[SV[k]] for k in range(6)])
    undecided = int((~np.isin(resolved, (0, 1))).sum())
    return PaperAnswer(
        Agreement.AGREES if not undecided else Agreement.DIFFERS,
        f"{undecided} of {resolved.size:,} values of SV are neither 0 nor 1",
        resolved.size,
        "values",
        command="carrylens trace 555555+444448",
    )


def _neg_diff(_evidence: PaperEvidence) -> PaperAnswer:
    questions = Population(PopulationKind.NATURAL, Operation.SUB, 1).draw(_SEED, 0, _DRAWN)
    first, second = questions.first[:, 0].astype(int), questions.second[:, 0].astype(int)
    negative = first < second
    right = ((first - second) % 10 == second - first)[negative]
    rate = Rate(int(right.sum()), len(right))
    return PaperAnswer(
        Agreement.DIFFERS,
        f"D-D' as the appendix prints it gives the digit of one-digit negative answers in {rate}; D'-D in all",
        len(right),
        "questions",
        command="carrylens trace 325-329",
        why="the text of the methodology has D'-D, which is right",
    )


def _examples(_evidence: PaperEvidence) -> PaperAnswer:
    printed = {"55555+44446": 100001, "54321+45679": 1000000, "44450+55550": 10000, "1234+8769": 10003}
    right = {text: sum(map(int, text.split("+"))) for text in printed}
    wrong = [f"{text} is {right[text]}, not {said}" for text, said in printed.items() if right[text] != said]
    return PaperAnswer(
        Agreement.DIFFERS if wrong else Agreement.AGREES,
        "; ".join(wrong) or "all right",
        len(printed),
        "examples",
        command="carrylens trace 54321+45679",
    )


def _deepest(_evidence: PaperEvidence) -> PaperAnswer:
    counts = class_counts(Population(PopulationKind.NATURAL, Operation.ADD, 10), _SEED, 10 * _DRAWN)
    rate = Rate(counts[QuestionClass.S5], 10 * _DRAWN)
    low, high = rate.interval
    return PaperAnswer(
        Agreement.AGREES if low <= 3.5e-4 and high >= 2.5e-4 else Agreement.DIFFERS,
        f"class S5, a carry through 4 or more sum-9 columns: {rate.value:.1e} [{low:.1e}, {high:.1e}]",
        rate.n,
        "questions",
        command="carrylens frequencies --questions 1000000",
    )


def _equal(_evidence: PaperEvidence) -> PaperAnswer:
    questions = Population(PopulationKind.PAPER, Operation.SUB, 6).draw(_SEED, 0, 10 * _DRAWN)
    rate = _equal_share(questions)
    low, high = rate.interval
    return PaperAnswer(
        Agreement.AGREES if low <= 0.006 <= high else Agreement.DIFFERS,
        f"{rate.value:.2%} [{low:.2%}, {high:.2%}] in the published generator as coded",
        rate.n,
        "questions",
        command="carrylens frequencies --questions 1000000",
        why="one in a hundred of the 40% enriched batches, whole batches at a time, so the interval is too narrow",
    )


def _equal_share(questions: Questions) -> Rate:
    equal = (questions.first == questions.second).all(axis=1)
    return Rate(int(equal.sum()), len(equal))


def _enriched(_evidence: PaperEvidence) -> PaperAnswer:
    questions = Population(PopulationKind.PAPER, Operation.ADD, 6).draw(_SEED, 0, 10 * _DRAWN)
    batches = (questions.first.astype(int) + questions.second == 9).mean(axis=1).reshape(-1, 64).mean(axis=1)
    share = float((batches > 0.25).mean())
    return PaperAnswer(
        Agreement.DIFFERS if share < 0.5 else Agreement.AGREES,
        f"{share:.0%} of its batches are enriched, as the published generator is coded",
        len(batches),
        "batches",
        command="carrylens frequencies --questions 1000000",
        why="the two shares are changed round",
    )


ALGORITHM_CLAIMS = (
    PaperClaim("1, Fig. 1, Fig. 3; 3", "the left-to-right algorithms are sound and exact", _sound),
    PaperClaim(
        "1, Fig. 1",
        "the addition algorithm worked through",
        shown("docs/trace.svg", "carrylens trace 555555555+444444448 --svg docs/trace.svg"),
    ),
    PaperClaim(
        "3.3, Fig. 3", "the subtraction algorithm worked through", shown("on the terminal", "carrylens trace 325-329")
    ),
    PaperClaim(
        "3.2, eq. 3", "ST is 0 for sums of 8 or less and for the units, else 1 for sums of 10 or more", _st_of_units
    ),
    PaperClaim("3.2, eq. 5", "every SV is 0 or 1 by the token =", _resolved),
    PaperClaim("App. A", "ND is (D-D') mod 10", _neg_diff),
)
DATA_CLAIMS = (
    PaperClaim("App. B", "four printed sums", _examples),
    PaperClaim("App. B", "at ten digits the deepest class of cascades has a frequency of about 3e-4", _deepest),
    PaperClaim("App. B", "60% of training data is enriched, 40% random", _enriched),
    PaperClaim("App. B", "equal operands in 0.6% of six-digit questions", _equal),
)
