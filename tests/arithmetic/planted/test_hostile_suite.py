"""Every hostile plant says which verdict each hypothesis deserves, and its description and truth come back equal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arithmetic.planted.interchanges import questions_of
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.hypotheses import rival_algorithms
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.description import CircuitDescription, PlantedRole
from carrylens.arithmetic.planted.deserved import deserved_verdicts
from carrylens.arithmetic.planted.dials import Dials, describe, one_layer, place_value
from carrylens.arithmetic.planted.hostile import Hostile, Memorised
from carrylens.arithmetic.planted.hostile_suite import hostile_descriptions
from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.planting import load_truth, plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.rivals import one_layer as one_layer_algorithm
from carrylens.arithmetic.rivals import weighted_sum
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.errors import CarryLensError

RUNS, IN_PART, DOES_NOT = RunVerdict.RUNS, RunVerdict.IN_PART, RunVerdict.DOES_NOT_RUN


def verdicts(description: CircuitDescription) -> dict[str, RunVerdict]:
    return {each.hypothesis: each.verdict for each in deserved_verdicts(description)}


@pytest.mark.parametrize(
    ("hostile", "left_to_right", "weighed"),
    [
        (Hostile(), RUNS, None),
        (Hostile(gate=0.1), IN_PART, None),
        (Hostile(gate=0.5), IN_PART, None),
        (Hostile(weighted=2), IN_PART, None),
        (Hostile(weighted=3), DOES_NOT, RUNS),
        (Hostile(split=True, backup=True, cancel=True, spread=True, superposed=True), RUNS, None),
        (Hostile(memorised=Memorised.TABLE), RUNS, None),
        (Hostile(memorised=Memorised.BACKDOOR), IN_PART, None),
    ],
)
def test_each_hypothesis_gets_what_it_deserves(
    hostile: Hostile, left_to_right: RunVerdict, weighed: RunVerdict | None
) -> None:
    found = verdicts(describe(Operation.ADD, 3, Dials(hostile=hostile)))
    assert found[algorithm(Operation.ADD, 3).name] is left_to_right
    assert found.get(weighted_sum(Operation.ADD, 3).name) is weighed
    assert {found[rival.name] for rival in rival_algorithms(Operation.ADD, 3)} == {DOES_NOT}


def test_shares_and_outputs_say_how_much_runs() -> None:
    gate = deserved_verdicts(describe(Operation.MIX, 3, Dials(hostile=Hostile(gate=0.3))))
    assert gate[0].questions == pytest.approx(0.7)
    assert len(gate[0].outputs) == 5
    assert gate[-1].verdict is RUNS, "the mixture that it runs"
    assert {"G", "WS", "WM", "WN", "ST"} <= {variable.name for variable in gate[-1].algorithm.by_variable}
    some = deserved_verdicts(describe(Operation.ADD, 4, Dials(hostile=Hostile(weighted=3))))
    assert [str(output) for output in some[0].outputs] == ["A[4]", "A[1]", "A[0]"]
    backdoor = deserved_verdicts(describe(Operation.ADD, 4, Dials(hostile=Hostile(memorised=Memorised.BACKDOOR))))
    assert backdoor[0].questions == pytest.approx(1 - 1e-5)


def test_rival_plants_get_theirs() -> None:
    assert verdicts(one_layer(3)) == {
        "left-to-right add": DOES_NOT,
        "one-layer add": RUNS,
        one_layer_algorithm(3, sum_nine=True).name: DOES_NOT,
        "ripple add": DOES_NOT,
        "weighted-sum add": DOES_NOT,
    }
    assert set(verdicts(place_value(3)).values()) == {DOES_NOT}


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("digits", [2, 3, 5])
def test_the_suite_has_every_dial_that_the_width_allows(operation: Operation, digits: int) -> None:
    suite = hostile_descriptions(operation, digits)
    turned = {dial for each in suite for dial in each.description.hostile.turned()}
    expected = {"weighted", "split", "backup", "cancel", "superposed", "memorised"}
    expected |= {"gate"} if digits < 5 else set()
    assert turned == expected | ({"spread"} if operation is Operation.ADD else set())
    assert len({each.name for each in suite}) == len(suite) == len({each.description for each in suite})
    for each in suite:
        assert CircuitDescription.from_json(each.description.to_json()) == each.description
        assert each.deserved[0].hypothesis == algorithm(operation, digits).name
        assert each.description.rotated


def test_the_truth_of_a_hostile_plant_comes_back_equal(tmp_path: Path) -> None:
    hostile = Hostile(gate=0.3, split=True, backup=True, cancel=True, memorised=Memorised.BACKDOOR)
    planted = plant(describe(Operation.ADD, 3, Dials(hostile=hostile)))
    planted.save(tmp_path / "hostile")
    truth = load_truth(tmp_path / "hostile")
    assert truth == planted.truth
    assert truth.backups
    assert {group.share for group in truth.groups} > {0.3, 0.7, 0.5, 1.0}
    plain = json.loads(truth.to_json())
    assert plain["deserves"][0]["verdict"] == "runs in part"
    assert plain["description"]["hostile"] == hostile.turned()


def test_old_truths_without_hostile_fields_are_read() -> None:
    truth = plant(describe(Operation.ADD, 3)).truth
    plain = json.loads(truth.to_json())
    assert "hostile" not in plain["description"]
    assert "backups" not in plain
    del plain["deserves"]
    assert Truth.from_json(json.dumps(plain)) == truth


def test_a_backup_counts_as_one_more_copy_for_scores() -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(hostile=Hostile(backup=True))))
    backup = planted.truth.backups[0]
    (group,) = [each for each in known_truth(planted.truth).groups if backup.node in each.nodes]
    assert group.copies == ((backup.first,), (backup.node,))


def test_an_edited_hostile_description_is_checked() -> None:
    gate = describe(Operation.ADD, 3, Dials(hostile=Hostile(gate=0.3)))
    kept = tuple(role for role in gate.roles if str(role.variable) != "WS[1]")
    with pytest.raises(CarryLensError, match=r"WS\[1\]"):
        plant(replace(gate, roles=kept))
    late = PlantedRole.of("WS[1]", "P9L0H1 + P9L1MLP")
    with pytest.raises(CarryLensError, match=r"WS\[1\]"):
        plant(replace(gate, roles=(*kept, late)))
    backup = describe(Operation.ADD, 3, Dials(hostile=Hostile(backup=True)))
    with pytest.raises(CarryLensError, match="heads"):
        plant(replace(backup, roles=tuple(r for r in backup.roles if r.nodes != backup.roles[-1].nodes)))
    spread = describe(Operation.ADD, 3, Dials(hostile=Hostile(spread=True)))
    with pytest.raises(CarryLensError, match="STU"):
        plant(replace(spread, roles=tuple(role for role in spread.roles if str(role.variable) != "STU[1]")))


def test_the_algorithm_of_every_plant_is_right_but_for_the_backdoor() -> None:
    for operation in Operation:
        questions = questions_of(operation, 3, 500, seed=9)
        right = algorithm(operation, 3).output_values(questions)
        for each in hostile_descriptions(operation, 3):
            if each.description.hostile.memorised is not Memorised.BACKDOOR:
                assert (model_of(each.description).output_values(questions) == right).all(), each.name
