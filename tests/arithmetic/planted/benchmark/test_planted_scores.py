"""Maps of planted circuits made by hand, with scores worked out by hand; which circuits are scored and trained on."""

from __future__ import annotations

import json

import pytest

from carrylens.arithmetic import Operation, algorithm
from carrylens.arithmetic.planted.benchmark.circuits import (
    DIALS,
    PlantedSetting,
    quick_circuits,
    scored_circuits,
    training_circuits,
)
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.variables import D_PRIME, MD, MV, ND, SA, SGN, ST, SV, A, D
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.match_counts import MatchCounts
from carrylens.benchmark.method_interface import Found, FoundRole
from carrylens.benchmark.scores import CircuitScore, score_roles
from carrylens.benchmark.thresholds import DevScores, choose_threshold
from carrylens.errors import CarryLensError
from carrylens.nodes import Node, parse_nodes
from carrylens.tasks.equivalence import are_equivalent
from carrylens.tasks.variables import Variable

ADDITION = algorithm(Operation.ADD, 2)


def truth_of(**dials: object) -> KnownTruth:
    return known_truth(plant(describe(Operation.ADD, 2, Dials(**dials))).truth)  # type: ignore[arg-type]


def report_of(*roles: tuple[str, Variable], groups: tuple[str, ...] = (), output: int | None = None) -> Found:
    tags = tuple(FoundRole.of(node, variable, output) for node, variable in roles)
    return Found(tags, frozenset(map(parse_nodes, groups)))


def true_report(truth: KnownTruth) -> Found:
    tags = tuple(FoundRole.of(node, variable) for node, variables in truth.roles.items() for variable in variables)
    return Found(tags, frozenset(group.nodes for group in truth.groups))


def test_the_truth_scores_full_marks() -> None:
    truth = truth_of(redundancy=2, sharing=True, decoys=1)
    result = score_roles(truth, ADDITION, true_report(truth))
    assert result.roles.precision == result.roles.recall == result.groups.precision == result.groups.recall == 1.0
    assert result.decoys == MatchCounts(len(truth.decoys), 0, 0)
    assert (result.wrong, result.missed, result.wrong_groups, result.missed_groups) == ((), (), (), ())


def test_a_hand_made_map_is_counted_role_by_role() -> None:
    result = score_roles(truth_of(), ADDITION, report_of(("P3L0H0", ST[1]), ("P3L0H0", SA[1]), ("P0L0H0", ST[1])))
    assert result.roles == MatchCounts(n_true=13, n_found=3, n_both=1)
    assert result.wrong == ("P0L0H0 ST[1]", "P3L0H0 SA[1]")
    assert len(result.missed) == 12
    assert result.by_variable["ST"] == MatchCounts(4, 2, 1)


def test_heads_that_only_bring_digits_are_counted_apart() -> None:
    """Of 13 roles in the plain adder four are of fetching heads, two a column; what they bring is made elsewhere."""
    truth = truth_of()
    found = report_of(("P3L0H0", ST[1]), ("P3L0MLP", ST[1]), ("P0L0H0", ST[1]))
    assert score_roles(truth, ADDITION, found).made == MatchCounts(n_true=9, n_found=2, n_both=1)
    assert {str(node) for node, _ in truth.input_roles} == {"P3L0H0", "P4L0H0", "P7L0H0", "P8L0H0"}


def test_a_variable_that_no_question_tells_from_the_planted_one_counts_as_it_once() -> None:
    truth = truth_of()  # ST[0] is planted at P4L0H0; SV[0] always does the same
    both = score_roles(truth, ADDITION, report_of(("P4L0H0", ST[0]), ("P4L0H0", SV[0])))
    assert (both.roles.n_found, both.roles.n_both) == (1, 1)
    assert (both.strict.n_found, both.strict.n_both) == (2, 1)
    other = score_roles(truth, ADDITION, report_of(("P4L0H0", SV[0])))
    assert other.roles.n_both == 1
    elsewhere = score_roles(truth, ADDITION, report_of(("P5L0H0", SV[0]), ("P5L0H0", ST[0])))
    assert (elsewhere.roles.n_found, elsewhere.roles.n_both) == (1, 0)


def test_alike_is_what_an_interchange_shows_and_not_what_looks_alike() -> None:
    subtraction = algorithm(Operation.SUB, 2)
    assert are_equivalent(ADDITION, SV[1], A[2], None)
    assert not are_equivalent(ADDITION, ST[1], SV[1], None)
    assert not are_equivalent(ADDITION, SA[1], A[1], None)
    assert not are_equivalent(subtraction, MD[1], ND[1], None)
    assert are_equivalent(subtraction, MV[1], SGN, 0)
    assert not are_equivalent(subtraction, MV[1], SGN, None), "digits are made with the sign that stands there"
    assert not are_equivalent(ADDITION, Variable("MD", 1), SA[1], None)


def test_a_claim_for_one_token_need_only_be_alike_there() -> None:
    """At the sign, which is always plus in an addition, no interchange of any variable shows."""
    assert are_equivalent(ADDITION, SA[1], ST[0], 0)
    assert not are_equivalent(ADDITION, SA[1], ST[0], 2)


def test_half_of_a_shared_column_may_be_called_by_its_digit_but_no_other_node() -> None:
    truth = truth_of(sharing=True)
    assert (Node.parse("P3L0H0"), D[1]) in truth.single_inputs
    right = score_roles(truth, ADDITION, report_of(("P3L0H0", D[1]), ("P3L0H1", D_PRIME[1])))
    assert right.roles.n_found == 0
    wrong = score_roles(truth, ADDITION, report_of(("P3L0H0", D_PRIME[1]), ("P3L0MLP", D[1])))
    assert (wrong.roles.n_found, wrong.roles.n_both) == (2, 0)


def test_a_tagged_decoy_is_counted() -> None:
    truth = truth_of(decoys=1)
    node = next(iter(truth.decoys))
    tags = tuple(FoundRole.of(node, variable) for variable in truth.decoys[node])
    assert score_roles(truth, ADDITION, Found(tags)).decoys.n_found == 1


def test_a_result_comes_back_from_json_as_it_was() -> None:
    found = report_of(("P3L0H0", SA[1]), groups=("P3L0H0 P3L0MLP",), output=2)
    result = score_roles(truth_of(), ADDITION, found)
    assert CircuitScore.from_plain(json.loads(json.dumps(result.plain()))) == result
    assert Found.from_plain(json.loads(json.dumps(found.plain()))) == found


def test_the_threshold_is_the_one_that_parts_true_from_false() -> None:
    truth = truth_of()
    scores = {(node, variable): 0.8 for node, variables in truth.roles.items() for variable in variables}
    scores |= {(Node.parse(f"P{at}L0H0"), SA[1]): 0.3 + at / 100 for at in range(3)}
    chosen = choose_threshold([DevScores(Found(role_scores=scores), truth, ADDITION)])
    assert 0.32 < chosen.value < 0.8
    assert chosen.balance == 1.0


def test_no_training_circuit_is_scored_whatever_its_seed() -> None:
    def circuit(setting: PlantedSetting) -> str:
        plain = json.loads(setting.description.to_json())
        return json.dumps({name: value for name, value in plain.items() if name != "seed"}, sort_keys=True)

    scored = {circuit(setting) for setting in (*scored_circuits(), *quick_circuits())}
    assert not scored & {circuit(setting) for quick in (True, False) for setting in training_circuits(quick=quick)}


def test_every_setting_has_a_name_of_its_own_and_can_be_planted() -> None:
    settings = [*scored_circuits(n_seeds=2), *training_circuits()]
    assert len({setting.name for setting in settings}) == len(settings)
    assert {setting.dial for setting in scored_circuits()} == set(DIALS)
    assert not any(s.dial == "polysemy" and s.operation is Operation.ADD for s in settings), "that is the plain circuit"
    for setting in (*scored_circuits(digits=[3]), *training_circuits(quick=True)):
        assert plant(setting.description).truth.roles


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"dials": ["mirrors"]}, ["'mirrors'", *DIALS]),
        ({"operations": ["times"]}, ["'times'", "add", "sub", "mix"]),
        ({"digits": [1]}, ["1 digits", "2 to 10"]),
        ({"n_seeds": 0}, ["seeds is 0", "at least 1"]),
        ({"dials": ["polysemy"], "operations": ["add"]}, ["'polysemy'", "operation"]),
    ],
)
def test_circuits_that_are_not_there_are_refused(given: dict[str, object], named: list[str]) -> None:
    with pytest.raises(CarryLensError) as refusal:
        scored_circuits(**given)  # type: ignore[arg-type]
    assert [each for each in named if each not in str(refusal.value)] == []
