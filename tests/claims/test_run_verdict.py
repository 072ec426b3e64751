"""Verdicts from saved rates, and what would make each of them false."""

import shlex
from dataclasses import replace

import msgspec
import pytest

from carrylens.alignment import AlignedSite, Alignment
from carrylens.claims.run_verdict import (
    absent_families,
    confidence_at,
    needs_more_questions,
    run_judgement,
    settle_command,
    standing_of,
    verdict_of,
)
from carrylens.claims.verdicts import RunVerdict
from carrylens.discovery.alignment.joint_rates import (
    CarrierRate,
    DeviationRecord,
    DrawnFrom,
    JointRates,
    MeasuredAlignment,
    PopulationAnswers,
    RivalRates,
)
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate

ALL, MOST, HALF, NONE = Rate(500, 500), Rate(930, 1000), Rate(250, 500), Rate(0, 500)
CARRIER = CarrierRate("ST[1]", "ST", ("P5L0H0",), ALL, NONE)
RATES = JointRates(ALL, ALL, ALL, ALL, ALL, ALL, {"A[2]": ALL}, {}, Rate(10, 500), (CARRIER,))
WORSE = RivalRates("weighted-sum add", HALF, HALF, HALF, ALL)
WHOLE = MeasuredAlignment(
    "model",
    "0" * 64,
    "left-to-right add",
    Alignment("left-to-right add", (AlignedSite.of("ST[1]", "P5L0H0"),)),
    RATES,
    DrawnFrom("enriched", 0, 500, 500, 128, 3),
    (WORSE,),
    (PopulationAnswers("natural", ALL), PopulationAnswers("structured", ALL)),
)


def with_rates(**changes: object) -> MeasuredAlignment:
    return replace(WHOLE, rates=msgspec.structs.replace(RATES, **changes))


def carrier(hit: Rate, null: Rate = NONE, nodes: tuple[str, ...] = ("P5L0H0",)) -> MeasuredAlignment:
    both = (CARRIER, CarrierRate("ST[0]", "ST", nodes, hit, null))
    return with_rates(carriers=both)


def test_a_model_of_which_all_holds_runs_the_algorithm() -> None:
    judged = run_judgement(WHOLE)
    assert judged.verdict is RunVerdict.RUNS
    assert (judged.carriers.supported, judged.carriers.required) == (1, 1)
    assert not judged.deviations
    assert not judged.open
    assert [each.standing for each in judged.rivals] == ["surely worse"]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (with_rates(interchange=HALF), RunVerdict.IN_PART),
        (with_rates(scrubbed=HALF), RunVerdict.IN_PART),
        (carrier(HALF), RunVerdict.IN_PART),
        (carrier(ALL, HALF), RunVerdict.NOT_SETTLED),
        (with_rates(deviation=DeviationRecord("D[2] <= 2", 0.3, HALF, NONE)), RunVerdict.IN_PART),
        (with_rates(interchange=Rate(91, 100)), RunVerdict.NOT_SETTLED),
        (with_rates(carriers=()), RunVerdict.NOT_SETTLED),
        (with_rates(answers=HALF), RunVerdict.DOES_NOT_RUN),
        (with_rates(carriers=(CARRIER, CarrierRate("SV[0]", "SV", (), NONE, NONE))), RunVerdict.IN_PART),
        (replace(WHOLE, rivals=()), RunVerdict.NOT_SETTLED),
        (replace(WHOLE, rivals=(msgspec.structs.replace(WORSE, both=ALL),)), RunVerdict.NOT_SETTLED),
        (replace(WHOLE, joined=True), RunVerdict.NOT_SETTLED),
        (replace(WHOLE, populations=(PopulationAnswers("structured", Rate(960, 1000)),)), RunVerdict.IN_PART),
        (replace(WHOLE, populations=(PopulationAnswers("structured", HALF),)), RunVerdict.DOES_NOT_RUN),
    ],
)
def test_one_thing_that_speaks_against_it_is_enough(found: MeasuredAlignment, verdict: RunVerdict) -> None:
    assert verdict_of(found) is verdict


def test_a_rival_that_explains_the_model_as_a_whole_excludes_what_falls_short_unless_it_includes_it() -> None:
    explains = RivalRates("weighted-sum add", ALL, ALL, ALL, ALL)
    short = replace(with_rates(interchange=HALF, both=HALF), rivals=(explains,))
    assert standing_of(explains, short) == "surely better"
    assert verdict_of(short) is RunVerdict.DOES_NOT_RUN
    mixture = msgspec.structs.replace(explains, includes=True)
    assert verdict_of(replace(short, rivals=(mixture,))) is RunVerdict.IN_PART


def test_a_rival_that_answers_otherwise_is_worse_however_well_its_answers_compare() -> None:
    errs = RivalRates("one-layer add", HALF, HALF, HALF, HALF)
    poor = replace(with_rates(interchange=HALF, both=NONE), rivals=(errs,))
    assert standing_of(errs, poor) == "surely worse"
    right = msgspec.structs.replace(errs, answers=ALL)
    assert standing_of(right, poor) == "surely better"


def test_a_family_of_which_nothing_is_found_is_absent_only_where_joint_interchange_fails_too() -> None:
    none = tuple(CarrierRate(f"SV[{k}]", "SV", (), NONE, NONE) for k in range(2))
    poor = with_rates(interchange=Rate(150, 500), carriers=(CARRIER, *none))
    assert absent_families(poor) == ("SV",)
    assert verdict_of(poor) is RunVerdict.DOES_NOT_RUN
    for other in (
        with_rates(interchange=Rate(260, 500), carriers=(CARRIER, *none)),
        with_rates(interchange=Rate(150, 500), carriers=(CARRIER, *none[:1])),
        with_rates(interchange=Rate(150, 500), carriers=(CARRIER, none[0], CarrierRate("SV[1]", "SV", (), HALF, NONE))),
    ):
        assert not absent_families(other)
        assert verdict_of(other) is RunVerdict.IN_PART


def test_more_questions_are_wanted_only_where_they_could_settle_something() -> None:
    assert needs_more_questions(run_judgement(with_rates(interchange=Rate(91, 100))))
    assert not needs_more_questions(run_judgement(replace(WHOLE, joined=True)))
    assert not needs_more_questions(run_judgement(WHOLE))


def test_rates_that_were_looked_at_often_must_be_surer() -> None:
    close = with_rates(interchange=Rate(922, 1000))
    assert verdict_of(close) is RunVerdict.RUNS
    assert verdict_of(replace(close, looks=4)) is RunVerdict.NOT_SETTLED


def test_one_of_many_carriers_may_fall_short_by_chance() -> None:
    many = with_rates(carriers=(*[CARRIER] * 40, CarrierRate("ST[0]", "ST", ("P6L0H0",), Rate(76, 96), NONE)))
    assert verdict_of(many) is RunVerdict.NOT_SETTLED
    assert verdict_of(with_rates(carriers=many.rates.carriers[-1:])) is RunVerdict.IN_PART


def test_what_is_saved_is_read_back_and_damage_is_one_line() -> None:
    assert MeasuredAlignment.from_json(WHOLE.to_json()) == WHOLE
    for damage in (b"[]", b"{}", WHOLE.to_json().replace(b'"hits": 500', b'"hits": 501', 1)):
        with pytest.raises(CarryLensError, match="mine"):
            MeasuredAlignment.from_json(damage, "mine")


def test_a_rate_that_is_short_but_not_surely_so_for_so_many_tests_is_open() -> None:
    short = Rate(161, 192)
    assert short.interval[1] < 0.9
    found = with_rates(carriers=(*[CARRIER] * 9, CarrierRate("ST[2]", "ST", ("P4L0H0",), short, NONE)))
    judged = run_judgement(found)
    assert judged.verdict is RunVerdict.NOT_SETTLED
    assert needs_more_questions(judged), "more questions would decide it"
    (point,) = judged.open
    assert point.questions is not None
    assert point.questions > 192


def test_what_is_open_says_how_many_questions_would_decide_it() -> None:
    joint = Rate(91, 100)
    (point,) = run_judgement(with_rates(interchange=joint)).open
    assert point.questions is not None
    grown = Rate(round(joint.value * point.questions), point.questions)
    sure = confidence_at(1)
    assert grown.interval_at(sure)[0] >= 0.9
    fewer = round(0.9 * point.questions)
    assert Rate(round(joint.value * fewer), fewer).interval_at(sure)[0] < 0.9
    assert f"{point.questions:,} questions" in point.cost
    (never,) = run_judgement(with_rates(interchange=Rate(90, 100))).open
    assert never.questions is None
    assert "full fit" in never.cost
    alike = replace(WHOLE, rivals=(msgspec.structs.replace(WORSE, both=Rate(495, 500)),))
    (rival,) = run_judgement(alike).open
    assert rival.questions is not None
    assert not needs_more_questions(run_judgement(alike)), "rivals are not measured again"


def test_what_settles_it_names_the_model_as_its_user_did() -> None:
    unsure = carrier(Rate(45, 50))
    assert {each.settled_by for each in run_judgement(unsure).open} >= {"carrylens settle model --budget 3600"}
    given = settle_command("models/my adder", hypothesis_file="mine.py")
    assert shlex.split(given) == ["carrylens", "settle", "models/my adder", "--hypothesis", "mine.py"]
    assert all(each.settled_by.startswith(f"{given} --") for each in run_judgement(unsure, given).open)


def test_what_falls_short_after_a_quick_fit_names_the_full_one() -> None:
    quick = with_rates(interchange=HALF)
    full = replace(quick, drawn=msgspec.structs.replace(quick.drawn, fit_rows=256))
    assert any("--restart" in point.settled_by for point in run_judgement(quick).open)
    assert not any("--restart" in point.settled_by for point in run_judgement(full).open)
    assert not needs_more_questions(run_judgement(quick)), "more questions would not mend a fit"
