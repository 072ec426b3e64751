"""Stimuli that tell two hypotheses apart: every pair has two predictions, and those that have none are said to."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic import Operation, algorithm
from carrylens.arithmetic.aligned.sites import alignment_of
from carrylens.arithmetic.hypotheses import aligned_rivals, hypothesis_called, usual_for
from carrylens.arithmetic.rivals import one_layer
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import ALIGNED, find_source
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.rival_stimuli import Distinction, RivalStimuli, ToldApart, distinguish
from carrylens.errors import CarryLensError
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.tasks.variables import Variable
from claims.walks import DBL, S, X, stated, walk, walk_hypothesis, walk_task

NINE = one_layer(3, sum_nine=True).name
ADD = Operation.ADD
ADDITION = arithmetic_task(ADD, 3)
USUAL = usual_for(ADDITION)


def between(name: str, n_pairs: int = 64) -> Distinction:
    return distinguish(ADDITION, USUAL, hypothesis_called(name, ADDITION), n_pairs)


def of_usual(found: Distinction, name: str) -> list[RivalStimuli]:
    return [each for each in found.stimuli if each.owner == USUAL.name and each.variables[0].name == name]


def carried_over(hypothesis: Hypothesis, each: RivalStimuli) -> np.ndarray:
    """What a run of the causal model itself says of the interchange."""
    values = hypothesis.model.run(each.source)
    return hypothesis.model.output_values(each.base, do={variable: values[variable] for variable in each.variables})


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("one-layer add", ToldApart.ANSWERS),
        (NINE, ToldApart.ANSWERS),
        ("ripple add", ToldApart.EXISTENCE),
        ("weighted-sum add", ToldApart.EXISTENCE),
        ("left-to-right add with binary carries", ToldApart.SEPARATION),
        ("left-to-right add, weighted-sum on 30%", ToldApart.SHARED),
        ("left-to-right add but weighted-sum add where D'[0] > 7", ToldApart.SHARED),
        ("left-to-right add", ToldApart.NOTHING),
    ],
)
def test_each_rival_is_told_from_the_usual_algorithm_by_its_own_means(name: str, means: ToldApart) -> None:
    found = between(name, 24)
    assert found.means is means
    assert (found.best() is None) == (means is ToldApart.NOTHING)
    assert all(
        0 < each.share <= 1 and (each.predicted != each.against_predicted).any(1).all() for each in found.stimuli
    )


def test_a_weighted_sum_says_that_a_column_s_carry_does_nothing() -> None:
    found = between("weighted-sum add")
    mine = of_usual(found, "ST")
    assert {each.variables for each in mine} == {(Variable("ST", 1),), (Variable("ST", 2),)}
    for each in mine:
        assert each.share == 1
        assert (each.predicted == carried_over(USUAL, each)).all()
        assert (each.against_predicted == USUAL.model.output_values(each.base)).all()
    assert not of_usual(found, "SV"), "the same value stands in both, and does the same to the digit that reads it"


def test_a_mixture_disagrees_just_where_its_gate_is_open() -> None:
    rival = hypothesis_called("left-to-right add, weighted-sum on 30%", ADDITION)
    mine = of_usual(distinguish(ADDITION, USUAL, rival, 64), "ST")
    assert len(mine) == 3
    for each in mine:
        assert each.other[0] == each.variables[0]
        assert (each.base.column(Variable("D", 2)) < 3).all()
        assert (each.predicted == carried_over(USUAL, each)).all()
        assert (each.against_predicted == carried_over(rival, each)).all()
        assert 0.1 < each.share < 0.6


def test_two_flags_move_together_as_one_value_does_and_differ_when_moved_alone() -> None:
    found = between("left-to-right add with binary carries")
    assert not of_usual(found, "ST")
    assert {each.variables[0].name for each in found.stimuli} == {"SC", "S9"}
    assert all(Variable("ST", each.variables[0].index) in each.within for each in found.stimuli)


def test_one_digit_leaves_little_to_tell() -> None:
    task = arithmetic_task(ADD, 1)
    found = {each.name: distinguish(task, usual_for(task), each, 24).means for each in aligned_rivals(task)}
    same = {"one-layer add", NINE, "left-to-right add with binary carries", "weighted-sum add"}
    assert {name for name, means in found.items() if means is ToldApart.NOTHING} == same


def test_hypotheses_of_other_tasks_are_told_apart_too() -> None:
    task, usual = walk_task(), walk_hypothesis()
    other = walk_hypothesis(walk("another ring", stated(S[1], (DBL[0], X[1]), lambda d, x: (3 * d + x) % 7)))
    found = distinguish(task, usual, other, 24)
    assert found.means is ToldApart.ANSWERS
    assert found.answers == pytest.approx(6 / 7, abs=0.03)
    assert distinguish(task, usual, usual, 24).means is ToldApart.NOTHING


def test_hypotheses_about_other_questions_are_refused() -> None:
    with pytest.raises(CarryLensError, match="3 digits"):
        distinguish(ADDITION, USUAL, usual_for(arithmetic_task(ADD, 2)))


@pytest.mark.parametrize(
    ("model", "rival", "usual_holds"),
    [
        ("add_d3_l2_h3_w72_t2K_s100", "weighted-sum add", True),
        ("add_d3_l2_h3_w72_t2K_s100", "left-to-right add, weighted-sum on 30%", True),
        ("add_d3_l2_h3_w72_t2K_s120", "weighted-sum add", False),
        ("add_d3_l2_h3_w72_t3K_s110", "left-to-right add, weighted-sum on 30%", False),
    ],
)
def test_networks_of_known_truth_do_what_the_right_one_predicts(model: str, rival: str, usual_holds: bool) -> None:
    source = find_source(str(ALIGNED / model))
    (each,) = (one for one in of_usual(between(rival, 192), "ST") if one.variables[0].index == 2)
    (site,) = (one for one in alignment_of(algorithm(ADD, 3)).sites if each.variables[0] in one.variables)
    with Engine(source.load(), source.task) as engine:
        given = engine.run([interchange(" + ".join(map(str, site.nodes)))], each.base, [each.source]).tokens[0]
    expected = each.predicted if usual_holds else each.against_predicted
    assert (given == ADDITION.layout.output_ids(expected)).all(axis=1).mean() > 0.9
