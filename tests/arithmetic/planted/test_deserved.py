"""What planted circuits deserve is what interchanging every variable comes to."""

from __future__ import annotations

import pytest

from arithmetic.held_by_interchange import readers_of, verdict_by_interchange
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.deserved import deserved_verdicts
from carrylens.arithmetic.planted.dials import Carry, Dials, describe, one_layer, place_value
from carrylens.arithmetic.planted.hostile import Memorised
from carrylens.arithmetic.planted.hostile_suite import hostile_descriptions
from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.rivals import weighted_sum
from carrylens.benchmark.known_truth import RunVerdict

CIRCUITS = {
    "plain": describe(Operation.ADD, 3),
    "binary": describe(Operation.ADD, 3, Dials(carry=Carry.BINARY)),
    "copies": describe(Operation.ADD, 3, Dials(redundancy=2)),
    "subtraction": describe(Operation.SUB, 3),
    "one-layer": one_layer(3),
    "place-value": place_value(3),
    **{each.name: each.description for each in hostile_descriptions(Operation.ADD, 3)},
}


@pytest.mark.parametrize("description", CIRCUITS.values(), ids=CIRCUITS)
def test_interchange_of_every_variable_comes_to_the_deserved_verdict(description: CircuitDescription) -> None:
    truth, readers = model_of(description), readers_of(known_truth(plant(description).truth))
    for deserved in deserved_verdicts(description):
        if not any(variable.name == "G" for variable in deserved.algorithm.by_variable):
            found = verdict_by_interchange(truth, readers, deserved.algorithm)
            errs = description.hostile.memorised is Memorised.BACKDOOR and found is RunVerdict.RUNS
            assert (RunVerdict.IN_PART if errs else found) is deserved.verdict, deserved.hypothesis


@pytest.mark.parametrize("name", ["plain", "binary", "gate-30", "weighted-some", "backdoor"])
def test_whatever_resolves_columns_holds_the_weighted_sums_so_that_no_verdict_on_them_is_deserved(name: str) -> None:
    description, stated = CIRCUITS[name], weighted_sum(Operation.ADD, 3)
    readers = readers_of(known_truth(plant(description).truth))
    assert verdict_by_interchange(model_of(description), readers, stated) is RunVerdict.RUNS
    assert stated.name not in {each.hypothesis for each in deserved_verdicts(description)}


def test_the_slow_route_tells_a_circuit_from_what_it_is_not() -> None:
    description = CIRCUITS["weighted-all"]
    readers = readers_of(known_truth(plant(description).truth))
    stated = algorithm(Operation.ADD, 3)
    assert verdict_by_interchange(model_of(description), readers, stated) is RunVerdict.DOES_NOT_RUN
