"""The suites: fixed, split by circuit, with the verdicts that each circuit deserves."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrylens.arithmetic import Operation
from carrylens.arithmetic.planted.benchmark.aligned import aligned_models
from carrylens.arithmetic.planted.benchmark.suites import SUITES, suite_models
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.benchmark.known_models import DEV, SPLITS, TEST
from carrylens.benchmark.known_truth import KnownTruth, RunVerdict, TrueGroup
from carrylens.benchmark.saved_truth import truth_to_json
from carrylens.folders import check_sealed, write_sealed
from carrylens.interventions.keys import digest_of


def test_no_circuit_is_in_both_splits_and_no_name_is_twice() -> None:
    circuits = {split: {model.counted_as for model in suite_models((), split)} for split in SPLITS}
    assert not circuits[DEV] & circuits[TEST]
    names = [model.name for split in SPLITS for model in suite_models((), split)]
    assert len(set(names)) == len(names)


def test_rotations_are_other_weights_of_one_circuit() -> None:
    turned = [model for model in suite_models(["kind"], TEST) if model.counted_as == "decoys_add_d2"]
    built = [model.build() for model in turned]
    assert len({digest_of(known.model) for known in built}) == len(turned) == 3
    assert all(known.truth.held == built[0].truth.held for known in built)


@pytest.mark.parametrize("name", [name for name in SUITES if name != "aligned"])
def test_a_model_is_the_same_each_time_it_is_built(name: str) -> None:
    model = suite_models([name], TEST, quick=True)[0]
    assert digest_of(model.build().model) == digest_of(model.build().model)


def test_every_deserved_verdict_is_on_a_hypothesis_that_a_method_is_given() -> None:
    for split in SPLITS:
        for model in suite_models((), split, quick=True):
            known = model.build()
            assert set(known.truth.deserved) <= {each.name for each in known.hypotheses}
            assert model.suite != "empty" or set(known.truth.deserved.values()) == {RunVerdict.DOES_NOT_RUN}


def test_a_method_is_given_no_hypothesis_that_two_digits_cannot_tell_from_another() -> None:
    """With two digits, what ripples has the same carriers as the left-to-right circuit: no verdict on it is wrong."""
    models = {model.name: model for model in suite_models(["kind", "empty"], TEST)}
    for name in ("sharing_add_d2_r0", "twin_sharing_add_d2_r0"):
        known = models[name].build()
        assert [each.name for each in known.hypotheses] == ["left-to-right add", "one-layer add"]
        assert set(known.truth.deserved) == {"left-to-right add", "one-layer add"}
    assert [each.name for each in models["plain_sub_d2_r0"].build().hypotheses] == ["left-to-right sub"]
    assert len(models["plain_add_d3_r0"].build().hypotheses) == 4


def test_a_kind_circuit_deserves_to_be_found_running_its_own_algorithm_alone() -> None:
    (plain,) = (model for model in suite_models(["kind"], TEST, quick=True) if model.name == "plain_add_d3_r0")
    deserved = plain.build().truth.deserved
    assert [name for name, verdict in deserved.items() if verdict is RunVerdict.RUNS] == ["left-to-right add"]
    assert len(deserved) == 4


def test_a_one_layer_circuit_deserves_to_be_found_running_the_one_layer_algorithm() -> None:
    (one,) = (model for model in suite_models(["hostile"], TEST, quick=True) if model.name == "one-layer_add_d3_r0")
    deserved = one.build().truth.deserved
    assert deserved["one-layer add"] is RunVerdict.RUNS
    assert deserved["left-to-right add"] is RunVerdict.DOES_NOT_RUN


def test_a_folder_with_a_truth_is_an_aligned_model(tmp_path: Path) -> None:
    planted = plant(describe(Operation.ADD, 2))
    for at in range(8):
        folder = tmp_path / f"add_d2_l2_h1_w43_t1K_s{at}"
        planted.save(folder)
        truth = KnownTruth((TrueGroup.of("ST[1]", "P3L0H0 + P3L0MLP", as_whole=True),), deserved={"x": RunVerdict.RUNS})
        write_sealed(folder, {"truth.json": truth_to_json(truth)}, also=check_sealed(folder))
    models = list(aligned_models(tmp_path))
    assert {model.split for model in models} == set(SPLITS)
    assert len({model.counted_as for model in models}) == 8
    known = models[0].build()
    assert known.truth.groups[0].as_whole
    assert known.task.causal.outputs == known.causal.outputs
