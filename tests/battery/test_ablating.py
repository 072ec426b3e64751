"""Necessity and sufficiency: redundant plants and plain ones are told apart, in both directions."""

from __future__ import annotations

import numpy as np
import pytest

from battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from carrylens.arithmetic.questions import Operation
from carrylens.battery.columns import Branch
from carrylens.battery.necessity import Missed, Place, weigh_places
from carrylens.battery.subject import Subject
from carrylens.battery.tagging import matched_set, tagged_nodes
from carrylens.discovery.node_map import NodeMap, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict
from carrylens.nodes import Node, all_nodes
from carrylens.planted.dials import Dials

PLAIN, COPIES = Dials(), Dials(redundancy=3)


def test_in_a_plain_plant_every_place_depends_on_one_head() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.ADD, 2, PLAIN))
    assert outcome.verdict is Verdict.REFUTED
    assert {row[-1] for row in outcome.rows} == {"REFUTED"}


def test_with_three_copies_no_head_is_necessary_but_all_are() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.ADD, 2, COPIES))
    assert outcome.verdict is Verdict.SUPPORTED
    assert outcome.beside_paper[0].agrees is True
    gaps = {each.name: each.low for each in outcome.estimates}
    assert gaps
    assert min(gaps.values()) > 0


def missed(whole: float, worst: float, random: np.random.Generator, n: int = 400) -> Missed:
    """A place whose heads are missed that often; what fails without the worst fails without all."""
    drawn = random.random(n)
    never = np.zeros(n, dtype=np.bool_)
    return Missed(Place(Branch.ADD, "A1 add", (), (), (6,)), drawn < whole, drawn < worst, never, never, Node(1, 1, 0))


def test_a_head_is_needed_if_it_is_missed_more_than_half_as_much() -> None:
    random = np.random.default_rng(3)
    found = [missed(whole, worst, random) for whole, worst in ((0.4, 0.05), (0.4, 0.35), (0.4, 0.2), (0.02, 0.02))]
    assert [each.value for each in weigh_places(found)] == ["SUPPORTED", "REFUTED", "INCONCLUSIVE", "UNTESTED"]


def test_of_many_places_at_the_boundary_hardly_one_is_told() -> None:
    random = np.random.default_rng(4)
    told = 0
    for _ in range(60):
        verdicts = weigh_places([missed(0.4, 0.2, random) for _ in range(12)])
        told += any(verdict is not Verdict.INCONCLUSIVE for verdict in verdicts)
    assert told <= 5


def test_more_questions_tell_what_few_leave_open() -> None:
    few, many = (weigh_places([missed(0.4, 0.15, np.random.default_rng(5), n=n)])[0] for n in (100, 4000))
    assert (few, many) == (Verdict.INCONCLUSIVE, Verdict.SUPPORTED)


def test_open_places_are_asked_on_and_others_are_not() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.ADD, 2, COPIES))
    sizes = {row[-1]: int(row[1].split("/")[1]) for row in outcome.rows}
    assert sizes == {"SUPPORTED": 2 * SMALL.n_questions}
    means = [each for each in outcome.estimates if "mean gap" in each.name]
    assert {each.name.split()[6] for each in means} == {"delivering", "making"}
    assert all(each.low > each.null_high for each in means)


def test_heads_that_divide_the_branches_are_no_stand_ins() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.MIX, 2, PLAIN))
    assert outcome.verdict is Verdict.REFUTED
    assert "SUPPORTED" not in {row[-1] for row in outcome.rows}


def test_a_plain_plant_is_kept_by_its_useful_nodes() -> None:
    outcome = outcome_of("sufficiency", planted_subject(Operation.SUB, 2, PLAIN))
    assert outcome.verdict is Verdict.SUPPORTED
    assert all(fact.effect.value == 1 and fact.null.value < 0.3 for fact in outcome.facts)


def test_nodes_that_only_matter_together_are_missed_one_by_one() -> None:
    outcome = outcome_of("sufficiency", planted_subject(Operation.ADD, 2, COPIES))
    assert outcome.verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", ["necessity", "sufficiency"])
def test_untrained_weights_are_not_tested(name: str) -> None:
    assert outcome_of(name, untrained_subject(Operation.ADD)).verdict is Verdict.UNTESTED


def test_a_map_says_which_nodes_are_tagged() -> None:
    subject = planted_subject(Operation.ADD, 2, PLAIN)
    alone = tagged_nodes(subject, SMALL)
    kept = sorted(alone.nodes)[:3]
    hit, none = Rate(5, 9), Rate(0, 9)
    nodes = [Usefulness(node, hit if node in kept else none, none, none, (), {}) for node in subject.nodes]
    found = NodeMap(subject.name, Operation.ADD, 2, 2, subject.model.config.n_heads, nodes, ())
    mapped = tagged_nodes(Subject(subject.name, subject.model, Operation.ADD, found), SMALL)
    assert (mapped.by, alone.by) == ("the node map", "ablation of each node alone")
    assert mapped.nodes == frozenset(kept)


def test_a_matched_set_has_the_same_sorts_of_nodes() -> None:
    nodes = [Node.parse(name) for name in ("P1L0H0", "P1L0MLP", "P8L1H1", "P9L1H0")]
    drawn = matched_set(nodes, all_nodes(11, 2, 2), 7, np.random.default_rng(0))

    def sorts(some: tuple[Node, ...] | list[Node]) -> list[tuple[int, bool, bool]]:
        return sorted((node.layer, node.is_mlp, node.position < 7) for node in some)

    assert sorts(drawn) == sorts(nodes)
    assert set(drawn) != set(nodes)
