"""Answers about the algorithms: definitions, soundness, printed examples, how rare hard questions are.

Takes  the algorithms as stated here; no model.
Gives  the functions that answer claims of the methodology, and of the appendices on terms and training data.
Never  reads a saved file: all of it is computed when the page is made.
"""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.classes import QuestionClass
from carrylens.arithmetic.frequencies import class_counts
from carrylens.arithmetic.paper.claim import Agreement, PaperAnswer
from carrylens.arithmetic.paper.hypothesis_3 import hypothesis
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.proof import prove
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.rivals import one_layer
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import MB, MC, MV, NV, SV
from carrylens.evidence.rates import Rate

_DRAWN = 100_000
_SEED = 0


def answer_sound(_evidence: PaperEvidence) -> PaperAnswer:
    """The algorithms are sound and exact."""
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


def answer_st_of_units(_evidence: PaperEvidence) -> PaperAnswer:
    """ST is 0 for the units, whatever they sum to."""
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


def answer_resolved(_evidence: PaperEvidence) -> PaperAnswer:
    """Every SV is 0 or 1 in the end."""
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


def answer_neg_diff(_evidence: PaperEvidence) -> PaperAnswer:
    """ND is (D-D') mod 10."""
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


def answer_examples(_evidence: PaperEvidence) -> PaperAnswer:
    """Four printed sums."""
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


def answer_deepest(_evidence: PaperEvidence) -> PaperAnswer:
    """The frequency of the deepest class at ten digits."""
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


def answer_equal(_evidence: PaperEvidence) -> PaperAnswer:
    """Equal operands in training."""
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


def answer_enriched(_evidence: PaperEvidence) -> PaperAnswer:
    """How much of the training data is enriched."""
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


def answer_printed_differences(_evidence: PaperEvidence) -> PaperAnswer:
    """325-129=+196 and 325-329=-004."""
    printed = {"325-129": 196, "325-329": -4}
    right = all(eval_difference(text) == said for text, said in printed.items())
    return PaperAnswer(
        Agreement.AGREES if right else Agreement.DIFFERS,
        "both are right",
        len(printed),
        "examples",
        command="carrylens trace 325-329",
    )


def eval_difference(text: str) -> int:
    """The difference that a text asks for.

    >>> eval_difference("325-329")
    -4
    """
    first, second = text.split("-")
    return int(first) - int(second)


def answer_one_layer_examples(_evidence: PaperEvidence) -> PaperAnswer:
    """With SA and SC alone, 045+046 comes out as 0091 and 555+446 as 0901."""
    printed = {"045+046": "+0091", "555+446": "+0901"}
    given = dict(zip(printed, one_layer(3).answers(Questions.parse(list(printed))).text(), strict=True))
    said = ", ".join(f"{text} as {answer}" for text, answer in given.items())
    return PaperAnswer(
        Agreement.AGREES if given == printed else Agreement.DIFFERS,
        f"the one-layer rival gives {said}",
        len(printed),
        "examples",
        command="carrylens trace 555+446",
    )


def answer_units_open(_evidence: PaperEvidence) -> PaperAnswer:
    """MB is U where digits are equal, in every column."""
    questions = Population(PopulationKind.NATURAL, Operation.SUB, 6).draw(_SEED, 0, _DRAWN)
    left_open = Rate(int((questions.first[:, 0] == questions.second[:, 0]).sum()), _DRAWN)
    return PaperAnswer(
        Agreement.DIFFERS,
        f"as printed, MB of the units is U where they are equal, so MV of the units stays undecided in {left_open}",
        _DRAWN,
        "questions",
        command="carrylens prove",
        why="there is nothing to borrow below the units: equal digits are 0 there",
    )


def answer_own_borrow(_evidence: PaperEvidence) -> PaperAnswer:
    """A negative answer takes ND where a positive one takes MD; no other borrow is stated."""
    questions = Population(PopulationKind.NATURAL, Operation.SUB, 6).draw(_SEED, 0, _DRAWN)
    values = algorithm(Operation.SUB, 6).run(questions)
    negative = values[MV[5]] == 1
    same = np.all([(values[MV[k]] == values[NV[k]])[negative] for k in range(5)], axis=0)
    rate = Rate(int(same.sum()), len(same))
    return PaperAnswer(
        Agreement.DIFFERS,
        f"with MV, the borrow of D-D', {rate} of negative answers come out right; with NV, that of D'-D, all",
        len(same),
        "negative questions",
        command="carrylens prove",
        why="the borrow of D'-D is not stated in the paper, and negative answers need it",
    )


def answer_neg_borrow(_evidence: PaperEvidence) -> PaperAnswer:
    """NB is 1 if D-D' is below 0."""
    questions = Population(PopulationKind.NATURAL, Operation.SUB, 1).draw(_SEED, 0, _DRAWN)
    first, second = questions.first[:, 0].astype(int), questions.second[:, 0].astype(int)
    same = Rate(int(((first < second) == (second < first)).sum()), _DRAWN)
    return PaperAnswer(
        Agreement.DIFFERS,
        f"D<D' as the appendix prints it is the borrow of D'-D in {same} of columns (where the digits are equal)",
        _DRAWN,
        "columns",
        command="carrylens prove",
        why="a negative answer is that of D'-D, which borrows where D'<D",
    )


def answer_two_borrows(_evidence: PaperEvidence) -> PaperAnswer:
    """MB has two values in the appendix and three in the text."""
    return PaperAnswer(
        Agreement.DIFFERS,
        f"here MB has {len(MB.values)} values as in the text, MC {len(MC.values)}",
        command="carrylens trace 325-329",
        why="the appendix and the tables call the one with three values MT",
    )


def answer_never_equal(_evidence: PaperEvidence) -> PaperAnswer:
    """Equal operands are 0.0001% of six-digit questions."""
    share = 10**6 / 10**12
    return PaperAnswer(
        Agreement.AGREES if share == 1e-6 else Agreement.DIFFERS,
        f"{share:.4%}, counted: 10^6 pairs of equal operands of 10^12",
        10**12,
        "questions, all there are",
        command="carrylens frequencies --questions 1000000",
    )


def answer_raised(_evidence: PaperEvidence) -> PaperAnswer:
    """Adding 1 to each second operand's digit of 8 or less makes more answers negative."""
    drawn = {kind: Population(kind, Operation.SUB, 6).draw(_SEED, 0, _DRAWN) for kind in _KINDS}
    shares = {}
    for kind, questions in drawn.items():
        values = algorithm(Operation.SUB, 6).run(questions)
        shares[kind] = Rate(int((values[MV[5]] == 1).sum()), _DRAWN)
    natural, theirs, ours = (shares[kind] for kind in _KINDS)
    return PaperAnswer(
        Agreement.AGREES if theirs.interval[0] > natural.interval[1] else Agreement.DIFFERS,
        f"negative answers: natural {natural}, the published generator {theirs}, our enriched population {ours}",
        _DRAWN,
        "questions of each",
        command="carrylens frequencies --questions 1000000",
    )


_KINDS = (PopulationKind.NATURAL, PopulationKind.PAPER, PopulationKind.ENRICHED)


def answer_hypothesis_program(_evidence: PaperEvidence) -> PaperAnswer:
    """Hypothesis 3 makes no error in a million additions."""
    task, n = arithmetic_task(Operation.ADD, 5), 10 * _DRAWN
    stated, questions = hypothesis(task).model, task.samplers["natural"].draw(_SEED, 0, n)
    outputs = list(task.causal.outputs)
    mine, right = stated.run(questions, read=outputs), task.causal.run(questions, read=outputs)
    wrong = Rate(int(np.any([mine[each] != right[each] for each in outputs], axis=0).sum()), n)
    low, high = wrong.interval
    return PaperAnswer(
        Agreement.AGREES if not wrong.hits else Agreement.DIFFERS,
        f"{wrong.hits} of {n:,} wrong [{low:.1e}, {high:.1e}]",
        n,
        "questions",
        command="carrylens settle add_d5_l2_h3_w96_t2K_s1 --hypothesis src/carrylens/arithmetic/paper/hypothesis_3.py",
    )
