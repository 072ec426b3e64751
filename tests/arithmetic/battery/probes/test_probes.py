"""Probes read a carry where a plant resolves it, and nowhere in untrained weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arithmetic.battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.probes.carry_probes import first_places, read_carry
from carrylens.arithmetic.battery.probes.early_readings import PLANE, WHOLE, early_reading, interchange_plane
from carrylens.arithmetic.battery.probes.measure import asked_for, untrained_twin
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.planted.dials import Dials, Timing
from carrylens.arithmetic.questions import Operation
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm


def test_a_carry_resolved_at_the_answer_is_read_there_first() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.ADD, 3))
    assert outcome.verdict is Verdict.SUPPORTED
    assert [row[1:5] for row in outcome.rows] == [
        ("A3", "L1 behind heads", "3", "A3"),
        ("A4", "L1 behind heads", "2", "A4"),
    ]
    lags = {each.name.split()[2]: each for each in outcome.estimates if each.name.startswith("lag of")}
    assert lags["SV[2]"].low <= lags["SV[2]"].value == lags["SV[2]"].high == 2
    assert (lags["SV[1]"].value, lags["SV[1]"].null) == (3, 4)  # the twin has not read it by its reader's place
    pooled, *each = (one for one in outcome.estimates if "separation" in one.name)
    assert pooled.name == "carry-axis separation at 3 digits, add"
    assert np.isclose(pooled.value, np.mean([one.value for one in each]))
    assert pooled.low > pooled.null_high


def test_transfers_are_facts_that_count_each_question_once_beside_measured_nulls() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.ADD, 3))
    asked = {str(fact.about["carry"]): fact.effect.n for fact in outcome.facts if "position" in fact.about}
    moved = [fact for fact in outcome.facts if "transfer" in fact.about]
    assert [fact.about["null"] for fact in moved] == ["shuffled labels", "untrained twin"] * 2
    across, deeper = moved[0], moved[2]
    assert "probe" in across.about
    assert across.effect.n == across.null.n == sum(asked.values())
    assert deeper.about["carry"] == "SV[2]"
    assert deeper.effect.n == deeper.null.n == asked["SV[2]"] // 3
    for fact in (across, deeper):
        assert fact.effect.value == 1.0
        assert fact.p < 1e-4
        assert fact.null.hits != fact.null.n // 2  # counted, not supposed


def test_the_paper_gives_no_lag_of_a_borrow() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.SUB, 5), replace(SMALL, n_draws=1, n_train=96))
    (lag,) = (each for each in outcome.beside_paper if each.what.startswith("lag of MV"))
    assert lag.agrees is None


def test_the_first_place_is_found_again_in_resampled_questions() -> None:
    random = np.random.default_rng(3)
    truth = np.stack([random.random((200, 2)) < rate for rate in (0.5, 0.94, 1.0)], axis=1)
    twin = random.random((200, 3, 2)) < 0.5
    never = np.zeros_like(truth)
    weights = random.multinomial(200, np.full(200, 1 / 200), size=300)
    found = first_places(truth, twin, weights)
    assert set(found) == {1, 2}  # a place that is nine of ten in some samples and not in others
    assert set(first_places(truth, truth, weights)) == {3}
    assert set(first_places(never, twin, weights)) == {3}
    sure = np.stack([truth[:, 0], truth[:, 2]], axis=1)
    assert set(first_places(sure, twin[:, :2], weights)) == {1}


def test_probes_of_untrained_weights_read_no_more_than_those_of_a_twin() -> None:
    outcome = outcome_of("probes", ungated_subject(Operation.MIX))
    assert {row[1] for row in outcome.rows} == {"none"}
    twins = [fact for fact in outcome.facts if fact.about["null"] == "untrained twin"]
    assert min(holm([fact.p for fact in twins])) > THRESHOLDS.level
    for each in outcome.estimates:
        assert each.low <= each.null_high


def test_a_carry_resolved_at_the_tail_is_read_too_early() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL)))
    assert outcome.verdict is Verdict.REFUTED
    assert {row[1] for row in outcome.rows} == {"="}
    assert {row[3] for row in outcome.rows} == {"1"}


def test_untrained_weights_have_no_probes_to_test() -> None:
    assert outcome_of("probes", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED


def test_what_is_read_early_is_used_where_the_plant_uses_it() -> None:
    tail = outcome_of("probes", planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL)))
    swapped = {str(fact.about["swapped"]): fact for fact in tail.facts if "swapped" in fact.about}
    assert swapped.keys() == {PLANE, WHOLE}
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in swapped.values())
    plain = outcome_of("probes", planted_subject(Operation.ADD, 3))
    assert not [fact for fact in plain.facts if "swapped" in fact.about]


def test_a_plane_that_says_nothing_of_the_carry_turns_nothing() -> None:
    subject, column = planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL)), 1
    asked = asked_for(ExperimentContext(subject, SMALL), Branch.ADD, column)
    carry = read_carry(
        ExperimentContext(subject, SMALL), untrained_twin(ExperimentContext(subject, SMALL)), Branch.ADD, column, asked
    )
    reading = early_reading(ExperimentContext(subject, SMALL), carry, asked)
    assert reading is not None
    random = np.linalg.qr(np.random.default_rng(1).standard_normal((subject.model.config.d_model, 2)))[0].T
    other = interchange_plane(ExperimentContext(subject, SMALL), carry, reading.site, random)
    assert reading.plane.effect.value == other.whole.effect.value == 1
    assert other.plane.effect.interval[1] < reading.plane.effect.interval[0]
