"""What is measured for the paper alone is kept with its weights, goes on where it stopped, and shows the null."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.family.table import FamilyTable
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.claim import Agreement
from carrylens.arithmetic.paper.measured_answers import answer_own_carry, answer_random_additions
from carrylens.arithmetic.paper.measurements import LabelledRate, Measurement, PaperFile, read_paper_file
from carrylens.arithmetic.paper.measures.carry_sources import (
    BOTH,
    CARRY_SOURCES,
    DECIDED,
    EARLIER,
    OPEN,
    OWN,
    source_label,
)
from carrylens.arithmetic.paper.measures.first_place import FIRST_PLACE
from carrylens.arithmetic.paper.measures.random_sets import RANDOM_SETS
from carrylens.arithmetic.paper.saved import PaperEvidence
from carrylens.arithmetic.paper.saved_models import ModelRecord, SavedModel
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.workflow import measuring_paper
from carrylens.workflow.answering_paper import paper_evidence
from carrylens.workflow.measuring_paper import measure_paper

MODEL = "add_d5_l2_h3_w96_t2K_s1"
KEPT = Measurement("m", MODEL, "0", 1, {"n": 3}, (LabelledRate("a", Rate(1, 2), Rate(0, 2)),))


def evidence_of(*measured: Measurement) -> PaperEvidence:
    return PaperEvidence(FamilyTable((), (), {}), {}, (), {}, (), measured)


def planted(operation: Operation, digits: int) -> ExperimentContext:
    model = plant(describe(operation, digits)).model
    return ExperimentContext(Subject("planted", model, operation), BatterySettings.chosen(quick=True))


def test_a_file_of_measurements_is_read_as_it_was_written(tmp_path: Path) -> None:
    model = SavedModel(ModelName.parse(MODEL), None, None, {"kind": "compact", "stream": "natural"}, {"loss": 0.5}, "1")
    file = PaperFile((KEPT,), (ModelRecord.of(model),))
    (tmp_path / "file.json").write_bytes(file.to_bytes())
    found = read_paper_file(tmp_path / "file.json")
    assert found == file
    assert found.models[0].model() == model
    assert model.is_variant
    assert found.of_weights({MODEL: "0"}) == [KEPT]
    assert found.of_weights({MODEL: "another"}) == []


def test_two_rates_of_one_name_are_refused() -> None:
    with pytest.raises(CarryLensError):
        replace_rates(KEPT)


def replace_rates(found: Measurement) -> Measurement:
    return Measurement(found.name, found.model, found.sha256, 1, found.settings, found.rates * 2)


def test_a_planted_adder_takes_its_carry_from_earlier_places_and_not_from_its_own_heads() -> None:
    rates = {each.label: each for each in CARRY_SOURCES.run(planted(Operation.ADD, 3))}
    own, earlier, both = (rates[source_label("add", DECIDED, site)] for site in (OWN, EARLIER, BOTH))
    assert own.hit.value < 0.1
    assert earlier.hit.value > 0.9
    assert both.hit.value > 0.9
    assert max(each.null.value for each in (own, earlier, both)) < 0.1


def test_a_planted_subtraction_does_not_use_its_first_place() -> None:
    rates = {each.label: each for each in FIRST_PLACE.run(planted(Operation.SUB, 2))}
    assert rates["signs turned"].hit.value < 0.02


def test_the_own_heads_must_decide_in_every_model() -> None:
    def found(model: str, own: int) -> Measurement:
        rates = [
            LabelledRate(source_label("add", when, site), Rate(own if site == OWN else 100 - own, 100))
            for when in (DECIDED, OPEN)
            for site in (OWN, EARLIER)
        ]
        return Measurement("carry-sources", model, "0", 1, {}, tuple(rates))

    assert answer_own_carry(evidence_of(found("a", 95), found("b", 90))).word is Agreement.AGREES
    assert answer_own_carry(evidence_of(found("a", 95), found("b", 40))).word is Agreement.DIFFERS
    assert answer_own_carry(evidence_of()).word is Agreement.MISSING


@pytest.mark.parametrize(("at_40", "word"), [(41, Agreement.AGREES), (70, Agreement.DIFFERS)])
def test_random_additions_are_near_the_unrestored_level_or_not(at_40: int, word: Agreement) -> None:
    counts = {0: 40, 40: at_40, 80: 90}
    rates = tuple(
        LabelledRate(f"positive, mean, {n} more", Rate(hits, 100), Rate(40, 100)) for n, hits in counts.items()
    )
    measured = Measurement("random-additions", "m", "0", 1, {}, rates)
    assert answer_random_additions("m", Branch.POSITIVE, "mean")(evidence_of(measured)).word is word


@pytest.mark.slow
def test_what_is_there_of_the_same_weights_and_form_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring_paper, "MEASURES", (CARRY_SOURCES, RANDOM_SETS))
    file = tmp_path / "file.json"
    made = measure_paper(file, names=[MODEL])
    assert [each.name for each in made.measurements] == ["carry-sources", "random-sets"]
    null = made.measurements[1].rate("add, mean")
    assert null is not None
    assert null.null.value < 0.01 < 0.9 < null.hit.value
    monkeypatch.setattr(measuring_paper, "MEASURES", (CARRY_SOURCES, replace(RANDOM_SETS, run=_fails, form=2)))
    with pytest.raises(AssertionError):
        measure_paper(file, names=[MODEL])
    monkeypatch.setattr(measuring_paper, "MEASURES", (replace(CARRY_SOURCES, run=_fails),))
    assert [each.name for each in measure_paper(file, names=[MODEL]).measurements] == ["carry-sources"]


def _fails(_context: ExperimentContext) -> list[LabelledRate]:
    raise AssertionError


def test_what_ships_is_of_the_weights_that_ship() -> None:
    shipped, used = read_paper_file(), paper_evidence(table=FamilyTable((), (), {})).measured
    assert len(used) == len(shipped.measurements) > 0
