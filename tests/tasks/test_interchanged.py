"""Outputs under interchanges that differ from row to row, against one `do` a row."""

import numpy as np

from carrylens.tasks.interchanged import Taken, interchanged_outputs
from carrylens.tasks.pairs import counterfactual_outputs
from carrylens.tasks.samplers import population_of
from tasks.small_tasks import PARITY, O, R, S

RNG = np.random.default_rng(5)
BASE, SOURCE = (population_of(PARITY).draw(seed, 0, 200) for seed in (1, 2))
VALUES = PARITY.run(SOURCE)


def test_each_row_is_what_do_gives_for_that_row_alone() -> None:
    variables = (R[0], R[2], R[4])
    rows = {variable: RNG.random(len(BASE)) < 0.5 for variable in variables}
    found = interchanged_outputs(PARITY, BASE, [Taken(each, VALUES[each], rows[each]) for each in variables])
    own = PARITY.run(BASE)
    for row in range(len(BASE)):
        do = {each: int(VALUES[each][row]) for each in variables if rows[each][row]}
        sign = PARITY.output_values(BASE[row], do=do)[0, 0]
        rest = PARITY.output_values(BASE[row], do={**do, S: int(own[S][row])})[0, 1:]
        assert found[row].tolist() == [sign, *rest]


def test_one_variable_in_every_row_is_the_usual_counterfactual() -> None:
    every = np.ones(len(BASE), dtype=np.bool_)
    for variable in (R[0], R[3], R[5]):
        found = interchanged_outputs(PARITY, BASE, [Taken(variable, VALUES[variable], every)])
        assert (found == counterfactual_outputs(PARITY, variable, BASE, SOURCE)).all()


def test_a_value_is_taken_for_the_outputs_that_read_it_there() -> None:
    every, top = np.ones(len(BASE), dtype=np.bool_), PARITY.outputs[1]
    found = interchanged_outputs(PARITY, BASE, [Taken(R[0], VALUES[R[0]], every, (top,))])
    usual = PARITY.output_values(BASE)
    changes = VALUES[R[0]] != PARITY.run(BASE)[R[0]]
    assert (found[:, 1] != usual[:, 1]).tolist() == changes.tolist()
    assert (np.delete(found, 1, axis=1) == np.delete(usual, 1, axis=1)).all()


def test_an_emitted_output_is_the_bases_own_unless_it_is_taken_for_a_later_one() -> None:
    every = np.ones(len(BASE), dtype=np.bool_)
    usual = PARITY.output_values(BASE)
    emitted = interchanged_outputs(PARITY, BASE, [Taken(S, VALUES[S], every, (S,))])
    assert (emitted[:, 0] == VALUES[S]).all()
    assert (emitted[:, 1:] == usual[:, 1:]).all()
    later = O[5]
    read = interchanged_outputs(PARITY, BASE, [Taken(S, VALUES[S], every, (later,))])
    at = PARITY.outputs.index(later)
    assert ((read[:, at] != usual[:, at]) == (VALUES[S] != usual[:, 0])).all()
    assert (np.delete(read, at, axis=1) == np.delete(usual, at, axis=1)).all()


def test_of_two_that_a_row_takes_the_last_counts() -> None:
    every, base = np.ones(len(BASE), dtype=np.bool_), PARITY.run(BASE)[R[5]]
    both = [Taken(R[5], VALUES[R[5]], every), Taken(R[5], base, every)]
    assert (interchanged_outputs(PARITY, BASE, both) == PARITY.output_values(BASE)).all()
    assert (interchanged_outputs(PARITY, BASE, both[::-1]) != PARITY.output_values(BASE)).any()
