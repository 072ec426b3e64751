"""Make-carry: three values, two binary ones, one binary one, a later place, the answer; each where it was planted."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from arithmetic.battery.plants import SMALL, outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.finding_rules import pooled_fact
from carrylens.arithmetic.battery.make_carry.summarise import (
    MADE_AT_ANSWER,
    MADE_BINARY,
    MADE_IN_PLACE,
    MADE_LATER,
    MADE_SPLIT,
)
from carrylens.arithmetic.battery.make_carry.written_classes import (
    BESIDE,
    HIGH,
    LOW,
    NO_CLASS,
    OTHER_SUMS,
    SHUFFLED,
    THREE_CLASSES,
    Cut,
    amounts_of,
    balanced_column_questions,
    classes_told,
    tell,
    written_cuts,
)
from carrylens.arithmetic.battery.measures.verdict_rules import weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Outcome
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, contrast_pairs, own_carry
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.layout import position_of, sequence_length
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.answer_mlps import add_combiners
from carrylens.arithmetic.planted.assembly import Finish, assemble
from carrylens.arithmetic.planted.circuit import sketch_circuit
from carrylens.arithmetic.planted.description import PlantedRole
from carrylens.arithmetic.planted.dials import Carry, Dials, describe, one_layer
from carrylens.arithmetic.planted.directions import bit
from carrylens.arithmetic.planted.sketch import Neuron, pos
from carrylens.arithmetic.planted.wiring import Wiring
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import D_PRIME
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange
from carrylens.nodes import Node


def kinds(outcome: Outcome) -> set[str]:
    return {row[1] for row in outcome.rows}


def write_facts(outcome: Outcome, null: str) -> list[Fact]:
    return [fact for fact in outcome.facts if fact.about.get("null") == null]


def nines_elsewhere(digits: int) -> Subject:
    """An adder that makes SC[k] at D'k, binary, and S9[k] one place later; a layer-1 head brings SC[k] there too."""
    plain = describe(Operation.ADD, digits, Dials(carry=Carry.BINARY))
    later = {"SC": 0, "S9": 1}
    roles = tuple(
        PlantedRole(role.variable, frozenset(moved(node, later.get(role.variable.name, 0)) for node in role.nodes))
        for role in plain.roles
    )
    description = replace(plain, roles=roles, n_layers=3)
    wiring = Wiring(description, model_of(description))  # not `wire`, which wants both halves at one place
    sketch = sketch_circuit(wiring)
    add_combiners(sketch, wiring)
    early, bit_here = "SC where it is made", bit("S", 0)
    sketch.neurons[0] = [
        Neuron(neuron.reads, {early if name == bit_here else name: weight for name, weight in neuron.writes.items()})
        for neuron in sketch.neurons[0]
    ]
    brings = sketch.head(1, 0)
    brings.move(early, bit_here)
    brings.show(pos(digits), "operator")
    places = {position_of(D_PRIME[k], digits): k for k in range(digits)}
    for position in range(digits, sequence_length(digits)):
        made = position - 1 if position - 1 in places else None
        brings.ask(position, {"operator": 25.0} if made is None else {f"column {places[made]}": 25.0})
    for place, k in places.items():
        brings.show(pos(place), f"column {k}")
    for (layer, _), head in sketch.heads.items():
        if layer == 2:
            head.keys = {
                (pos(int(name.split()[1]) + 1) if " column " in key else name, key): weight
                for (name, key), weight in head.keys.items()
            }
    model = assemble(sketch, digits, Finish(noise_heads=(), rotated=False, seed=0, width=None))
    return Subject("nines elsewhere", model, Operation.ADD)


def cuts_told(outcome: Outcome) -> set[str]:
    """The cuts at which what columns write tells values apart, beyond shuffled sums."""
    facts = [fact for fact in outcome.facts if "cut" in fact.about and fact.about["null"] == SHUFFLED]
    names = sorted({str(fact.about["cut"]) for fact in facts})
    pooled = [pooled_fact([fact for fact in facts if fact.about["cut"] == name]) for name in names]
    return {name for name, verdict in zip(names, weigh(pooled), strict=True) if verdict is Verdict.SUPPORTED}


def moved(node: Node, places: int) -> Node:
    return Node(node.position + places, 2 if node.layer == 1 else 0, node.head)


def figures(beside: BesidePaper) -> list[int]:
    """Columns made in place, columns that could be told, then binary ones, split ones, and those with three values."""
    return [int(each) for each in re.findall(r"\d+", beside.ours)]


@pytest.mark.parametrize("dials", [Dials(), Dials(sharing=True, rotated=True)], ids=["plain", "shared"])
def test_a_planted_tri_state_carry_is_found_at_its_place(dials: Dials) -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 3, dials))
    assert outcome.verdict is Verdict.SUPPORTED
    assert kinds(outcome) == {MADE_IN_PLACE}
    assert cuts_told(outcome) == {LOW, HIGH}
    assert all(fact.effect.value == 1 for fact in outcome.facts if "cut" in fact.about)
    (beside,) = outcome.beside_paper
    assert beside.agrees is False
    assert figures(beside) == [2, 2, 0, 0, 2]


def test_borrows_of_both_branches_are_found_at_their_places() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.SUPPORTED
    assert [row[0] for row in outcome.rows] == ["ST[0]", "ST[1]", "MB[0]", "NB[0]"]


def test_two_binary_values_are_told_from_one_with_three() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 3, Dials(carry=Carry.BINARY)))
    assert outcome.verdict is Verdict.REFUTED
    assert [row[1] for row in outcome.rows] == [MADE_IN_PLACE, MADE_SPLIT, MADE_SPLIT]
    (beside,) = outcome.beside_paper
    assert beside.agrees is True
    assert figures(beside) == [2, 2, 0, 2, 0]


def test_a_binary_carry_whose_nines_are_told_elsewhere_is_seen_to_be_binary() -> None:
    subject = nines_elsewhere(4)
    assert subject.right(contrast_pairs(Branch.ADD, 4, 2, (0, 2), 60, seed=1).base).all()
    outcome = outcome_of("make-carry", subject)
    assert outcome.verdict is Verdict.REFUTED
    assert [row[1] for row in outcome.rows] == [MADE_IN_PLACE, MADE_BINARY, MADE_BINARY, MADE_BINARY]
    assert cuts_told(outcome) == {HIGH}
    (beside,) = outcome.beside_paper
    assert beside.agrees is True
    assert figures(beside) == [3, 3, 3, 0, 0]


def test_interchanges_of_each_node_alone_are_kept_beside_their_null() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 3, Dials(carry=Carry.BINARY)))
    alone = {
        (fact.about["site"], fact.about["values"]): (fact.effect.value, fact.null.hits)
        for fact in outcome.facts
        if fact.about.get("alone") and fact.about["column"] == "ST[1]"
    }
    place = position_of(D_PRIME[1], 3)
    assert alone[f"P{place}L0H0", "0-1"] == alone[f"P{place}L0H1", "0-U"] == (1, 0)
    assert alone[f"P{place}L0H0", "0-U"] == alone[f"P{place}L0H1", "0-1"] == (0, 0)


@pytest.mark.parametrize("dials", [Dials(), Dials(sharing=True, rotated=True)], ids=["plain", "shared"])
def test_a_planted_write_tells_three_classes_beyond_its_digits(dials: Dials) -> None:
    subject = planted_subject(Operation.MIX, 3, dials)
    cuts = [cut for branch in Branch for cut in written_cuts(ExperimentContext(subject, SMALL), branch)]
    assert classes_told(cuts) == dict.fromkeys(("add", "positive", "negative"), (THREE_CLASSES, ()))
    assert [str(cut.branch.family[cut.column]) for cut in cuts[::2]] == ["ST[1]", "ST[2]", "MB[1]", "NB[1]"]
    assert all(cut.told.hits == cut.told.n == 19 for cut in cuts)
    assert all(max(cut.other_sums.value, cut.shuffled.value) < 0.75 for cut in cuts)


def test_a_place_that_does_not_make_the_carry_writes_no_class_of_it() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 3, Dials(delay=1)))
    assert cuts_told(outcome) == set()


AMOUNTS = amounts_of(Branch.ADD, *np.divmod(np.arange(100), 10))


@pytest.mark.parametrize(("cut", "beside"), BESIDE.items())
def test_a_write_of_the_sum_itself_is_not_taken_for_classes(cut: str, beside: tuple[int, ...]) -> None:
    noise = np.random.default_rng(1).normal(0, 1e-3, (100, 4))
    line = noise + AMOUNTS[:, None]
    assert tell(line, AMOUNTS, cut).value < 0.6
    each = np.eye(19)[AMOUNTS + 9]
    assert [tell(each, AMOUNTS, cut, at).value for at in (0, *beside)] == [1, 1, 1, 1]
    classes = np.eye(3)[np.sign(AMOUNTS)]
    assert tell(classes, AMOUNTS, cut).value == 1
    assert max(tell(classes, AMOUNTS, cut, at).value for at in beside) < 0.6


def test_a_pair_of_digits_is_not_scored_by_means_it_is_part_of() -> None:
    draws = np.random.default_rng(3).normal(size=(20, 100, 90))  # room enough to tell any pairs that were shown
    right = sum((tell(writes, AMOUNTS, cut) for writes in draws for cut in BESIDE), Rate(0, 0))
    assert right.interval[0] < 0.5 < right.interval[1]


@pytest.mark.parametrize(
    ("others", "plain"),
    [(50, ()), (97, (HIGH,))],
)
def test_classes_that_are_told_as_well_as_any_sums_are_said_to_be(others: int, plain: tuple[str, ...]) -> None:
    cuts = [
        Cut(Branch.ADD, 1, LOW, Rate(95, 95), Rate(50, 100), Rate(480, 950)),
        Cut(Branch.ADD, 1, HIGH, Rate(95, 95), Rate(others, 100), Rate(480, 950)),
    ]
    assert classes_told(cuts) == {"add": (THREE_CLASSES, plain)}


@pytest.mark.parametrize("branch", list(Branch))
def test_balanced_questions_have_every_pair_of_digits_alike(branch: Branch) -> None:
    questions = balanced_column_questions(branch, 3, 4, np.random.default_rng(0))
    for k in range(branch.top(3)):
        pairs = 10 * questions.first[:, k].astype(int) + questions.second[:, k]
        assert np.array_equal(np.bincount(pairs, minlength=100), np.full(100, 4))
        carries = amounts_of(branch, questions.first[:, k].astype(int), questions.second[:, k].astype(int)) > 0
        assert np.array_equal(carries, own_carry(ColumnPairs(branch, k, *[questions] * 3), questions) == 1)
    assert (is_negative(questions) == (branch is Branch.NEGATIVE)).all()


def test_a_delayed_carry_is_seen_to_be_made_later() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 2, Dials(delay=1)))
    assert outcome.verdict is Verdict.REFUTED
    assert kinds(outcome) == {MADE_LATER}


def test_a_carry_fetched_by_the_answer_itself_is_seen_there() -> None:
    outcome = outcome_of("make-carry", subject_of(one_layer(2)))
    assert outcome.verdict is Verdict.REFUTED
    assert kinds(outcome) == {MADE_AT_ANSWER}


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.MIX])
def test_untrained_weights_are_not_tested_and_their_writes_tell_no_class(operation: Operation) -> None:
    outcome = outcome_of("make-carry", untrained_subject(operation))
    assert outcome.verdict is Verdict.UNTESTED
    assert all(fact.effect.hits == 0 for fact in outcome.facts if "site" in fact.about)
    for null in (OTHER_SUMS, SHUFFLED):
        facts = write_facts(outcome, null)
        effect, level = (sum((getattr(f, side) for f in facts), Rate(0, 0)) for side in ("effect", "null"))
        assert Fact("", {}, effect, level).p > 0.05
    cuts = [
        cut
        for branch in branches_of(operation)
        for cut in written_cuts(ExperimentContext(untrained_subject(operation), SMALL), branch)
    ]
    assert set(classes_told(cuts).values()) == {(NO_CLASS, ())}


def test_scored_by_its_own_answers_an_untrained_model_follows_no_column() -> None:
    subject, followed, moved_too = untrained_subject(Operation.ADD), Rate(0, 0), Rate(0, 0)
    for k in range(3):
        pairs = contrast_pairs(Branch.ADD, 3, k, (0, 1), 80, seed=2)
        edits, above = [interchange(subject.nodes_at(subject.position(f"D'{k}")))], list(range(subject.token(k)))
        own = subject.engine.run(edits, pairs.source, pairs.source).clean_tokens[:, above]
        effect, null = (subject.engine.run(edits, pairs.base, side) for side in (pairs.source, pairs.null))
        moved_to = effect.changed[0][:, above].any(1) & (effect.tokens[0][:, above] == own).all(1)
        followed += Rate(int(moved_to.sum()), len(pairs))
        moved_too += Rate(int(null.changed[0][:, above].any(1).sum()), len(pairs))
    assert followed.n == 240
    assert Fact("", {}, followed, moved_too).p > 0.05
