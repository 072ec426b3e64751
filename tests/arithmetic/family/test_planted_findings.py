"""Findings of experiments on planted circuits, where the truth is known; and by two routes from one outcome."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from arithmetic.battery.plants import outcome_of, planted_subject
from carrylens.arithmetic.battery.battery_folder import save_outcomes
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.battery.running import hash_of_map
from carrylens.arithmetic.family.cells import Cell, State
from carrylens.arithmetic.family.experiments import FINDINGS
from carrylens.arithmetic.family.members import _of_another_map, read_member
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.dials import Dials, Timing
from carrylens.arithmetic.questions import Operation
from claims.maps import left_to_right_map

PLAIN, TAIL, COPIES = Dials(), Dials(timing=Timing.TAIL), Dials(redundancy=3)


@cache
def found(experiment: str, dials: Dials, operation: Operation = Operation.ADD, digits: int = 3) -> Outcome:
    return outcome_of(experiment, planted_subject(operation, digits, dials))


def cell(name: str, experiment: str, dials: Dials, operation: Operation = Operation.ADD, digits: int = 3) -> Cell:
    (finding,) = [each for each in FINDINGS if (each.experiment, each.name) == (experiment, name)]
    model = ModelName.parse(f"{operation.value}_d{digits}_l2_h3_t1K_s1")
    return finding.read(found(experiment, dials, operation, digits), model)


@pytest.mark.parametrize(
    ("experiment", "name", "dials", "word"),
    [
        ("make-carry", "values of a column's carry", PLAIN, "three values"),
        ("make-carry", "where the sum's top carry is made", PLAIN, "at its own place, all its values"),
        ("patching", "the combiner's heads swapped at the answer, its digit follows", PLAIN, "most"),
        ("paths", "the heads of its layer deliver it", PLAIN, "yes"),
        ("paths", "earlier nodes of the place deliver it", PLAIN, "no"),
        ("paths", "heads that deliver", PLAIN, "one head alone"),
        ("paths", "what = is", PLAIN, "bypassed"),
        ("paths", "what = is", TAIL, "depot"),
        ("necessity", "heads that deliver a carry", PLAIN, "one is needed"),
        ("necessity", "heads that deliver a carry", COPIES, "redundant"),
        ("sufficiency", "answers kept, the rest resampled", PLAIN, "most"),
        ("probes", "where resolved carries are first read", PLAIN, "at its reader"),
        ("probes", "where resolved carries are first read", TAIL, "before"),
        ("whole-algorithm", "whole answers predicted", PLAIN, "most"),
    ],
)
def test_a_planted_truth_is_the_word_in_the_table(experiment: str, name: str, dials: Dials, word: str) -> None:
    assert cell(name, experiment, dials).word == word


@pytest.mark.parametrize("dials", [PLAIN, TAIL, COPIES])
def test_kinds_read_off_facts_are_those_the_experiment_counted(dials: Dials) -> None:
    outcome = found("paths", dials)
    beside = {each.what: _counts(each.ours) for each in outcome.beside_paper}
    for name in ("heads that deliver", "what = is"):
        read = cell(name, "paths", dials)
        if read.state is State.TOLD and not read.word.startswith("mixed"):
            assert beside[name].most_common(1) == [(read.word, int(read.figure.split()[0]))]


def test_a_planted_choice_is_one_direction() -> None:
    assert cell("digits follow the operator's state", "selection", PLAIN, Operation.MIX, 2).word == "yes"
    for what in ("operator", "sign"):
        one = cell(f"one direction turns the {what}, other operands", "selection", PLAIN, Operation.MIX, 2)
        least = cell(f"least rank for the {what}, same operands", "selection", PLAIN, Operation.MIX, 2)
        assert (one.word, least.value) == ("enough", 1)


def test_shares_and_angles_are_those_of_the_outcome() -> None:
    serving = [row[1] for row in found("polysemy", PLAIN, Operation.MIX, 2).rows]
    share = sum(len(branches) > 1 for branches in serving) / len(serving)
    read = cell("useful nodes that serve several branches", "polysemy", PLAIN, Operation.MIX, 2)
    assert read.figure.startswith(f"{share:.2f} (null ")
    angles = {each.name: each.value for each in found("axes", PLAIN, Operation.MIX, 2).estimates}
    borrows = [value for name, value in angles.items() if "positive-negative" in name]
    assert cell("both borrows", "axes", PLAIN, Operation.MIX, 2).figure.startswith(f"{min(borrows):.2f}")


def test_every_finding_can_be_read_off_an_outcome_that_has_nothing() -> None:
    model = ModelName.parse("mix_d3_l2_h3_t1K_s1")
    cards = {each.card.name: each.card for each in EXPERIMENTS}
    for finding in FINDINGS:
        empty = replace(found("axes", PLAIN), card=cards[finding.experiment], rows=(), facts=(), estimates=())
        assert finding.read(empty, model).state in (State.UNTESTED, State.APART), finding.name
    assert {finding.experiment for finding in FINDINGS} == set(cards)


def test_outcomes_of_an_earlier_form_are_left_out_and_noted(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("old")
    outcome = found("patching", PLAIN)
    old = replace(outcome, card=replace(outcome.card, question="Another?"))
    name = ModelName.parse("add_d3_l2_h3_t1K_s1")
    for saved, notes in (
        (old, ("made by an earlier form of the experiment, so not used: patching",)),
        (outcome, ()),
    ):
        save_outcomes(folder, {"sha256": "x"}, [saved, found("necessity", PLAIN)])
        member = read_member("here", name, "x", [folder])
        assert (member.notes, "patching" in member.missing) == (notes, bool(notes))
        assert set(member.outcomes) == {"patching", "necessity"} - ({"patching"} if notes else set())


def test_another_map_ages_only_what_was_made_with_it() -> None:
    """What reads no map says `map` None in its settings, and stays."""
    other = replace(found("necessity", PLAIN), settings={"map": "other"})
    same = left_to_right_map(Operation.ADD, 3)
    (note,) = _of_another_map([found("patching", PLAIN), other], same)
    assert note == "made with another map than the one here: necessity"
    assert not _of_another_map([found("patching", PLAIN), replace(other, settings={"map": hash_of_map(same)})], same)


def _counts(text: str) -> Counter[str]:
    return Counter({kind: int(n) for kind, n in re.findall(r"(?:^|, )(\D+) (\d+)", text)})
