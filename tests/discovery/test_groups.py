"""Groups, where the copies are known because they were planted."""

from __future__ import annotations

import pytest

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.planted.dials import Copies, Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import A
from carrylens.discovery.groups import GroupSettings, climbed_set, find_groups, find_writers, proven_groups
from carrylens.discovery.interchange_outcomes import draw_stimuli
from carrylens.discovery.node_map import Group, Nodes, Role
from carrylens.discovery.node_search import MapSettings, evaluation_questions, find_carried, map_model
from carrylens.discovery.roles import searched_claims
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.discovery.stimulus_spec import StimulusSpec
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine
from carrylens.interventions.waves import Steps
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes, parse_nodes
from carrylens.report.terminal.map import map_text
from carrylens.tasks.variables import Variable
from discovery.same_maps import assert_same, read_again
from heavy_outcomes import once

DIGITS = 2
TASK = arithmetic_task(Operation.ADD, DIGITS)


def search_of(model: Transformer, settings: RoleSettings | None = None) -> SearchContext:
    return SearchContext(Engine(model, TASK), TASK.causal, settings or RoleSettings())


def groups_of(model: Transformer, variable: str) -> list[Group]:
    nodes = all_nodes(model.config.n_ctx - 1, model.config.n_layers, model.config.n_heads)
    search = search_of(model)
    claims = [claim for claim in searched_claims(TASK.causal) if str(claim[0]) == variable]
    found = search.together([find_groups(search, *claim, nodes, GroupSettings()) for claim in claims])
    return [group for groups in found for group in groups]


def planted(**dials: object) -> Transformer:
    return plant(describe(Operation.ADD, DIGITS, Dials(rotated=True, **dials))).model  # type: ignore[arg-type]


def members(groups: list[Group]) -> set[frozenset[object]]:
    return {frozenset(group.nodes) for group in groups}


def test_three_copies_in_other_heads_are_one_group_of_which_any_two_suffice() -> None:
    groups = [group for group in groups_of(planted(redundancy=3), "ST[0]") if group.token == 2]
    fetching = next(group for group in groups if set(group.nodes) == parse_nodes("P4L0H0 P4L0H1 P4L0H2"))
    assert {len(nodes) for nodes in fetching.sets} == {2}
    assert fetching.spare == 1


def test_copies_at_other_places_are_found() -> None:
    groups = groups_of(planted(redundancy=2, copies=Copies.PLACES), "ST[0]")
    assert frozenset(parse_nodes("P4L0H0 P5L0H1")) in members(groups)
    assert frozenset(parse_nodes("P4L0MLP P5L0MLP")) in members(groups)


def test_a_shared_role_needs_both_halves() -> None:
    groups = groups_of(planted(sharing=True), "ST[0]")
    (half,) = {
        group.sets for group in groups if group.token == 2 and group.nodes[0].layer == 0 and not group.nodes[0].is_mlp
    }
    assert [len(nodes) for nodes in half] == [2]


def test_a_set_grows_from_the_best_pair_as_long_as_it_gains() -> None:
    """Three nodes of five do it together; any two of them do it in part, and the others only get in the way."""
    needed, others = [Node(4, 0, head) for head in range(3)], [Node(4, 0, 3), Node(4, 0, 4)]

    def hits(sets: list[Nodes]) -> Steps[dict[tuple[Nodes, int], float]]:
        yield from ()
        in_the_way = {nodes: len(set(nodes) & set(others)) for nodes in sets}
        return {(nodes, 1): len(set(nodes) & set(needed)) / 3 - 0.5 * in_the_way[nodes] for nodes in sets}

    def climbed(nodes: list[Node], value: float) -> tuple[Nodes, float]:
        with pytest.raises(StopIteration) as end:
            next(climbed_set(nodes, 1, hits, value))
        return end.value.value

    assert climbed([*needed, *others], 1 / 3) == (tuple(needed), 1.0)
    assert climbed([*needed, *others], 1.0) == ((), 1.0)
    assert climbed([], 0.0) == ((), 0.0)


def test_an_output_that_too_few_pairs_move_grows_no_set() -> None:
    def hits(tried: list[Nodes]) -> Steps[dict[tuple[Nodes, int], float]]:
        yield from ()
        return {(nodes, 0): 1.0 for nodes in tried}  # nothing of output 1: fewer pairs move it than are asked for

    with pytest.raises(StopIteration) as end:
        next(climbed_set(sorted(parse_nodes("P3L0H0 P3L0MLP P4L0MLP")), 1, hits, 0.0))
    assert end.value.value == ((), 0.0)


def test_a_token_of_the_answer_has_its_writer_among_the_nodes_of_its_place() -> None:
    groups = groups_of(planted(), "A[1]")
    assert groups[-1].sets == (tuple(parse_nodes("P7L1MLP")),)


def test_thefind_writers_of_a_token_may_be_of_several_layers() -> None:
    """Without the MLP that writes it, those of its place that bring the digit and the carry stand for the token."""
    stimuli = draw_stimuli(TASK, TASK.causal, A[1], StimulusSpec(32, 0), TASK.causal.outputs.index(A[1]))
    pool = sorted(parse_nodes("P4L0MLP P7L0H0 P7L0MLP P7L1H0"))
    search = search_of(planted())
    ((group,),) = search.together([find_writers(search, A[1], pool, stimuli, GroupSettings())])
    assert {node.layer for node in group.nodes} == {0, 1}
    assert {node.position for node in group.nodes} == {7}
    alone = Group(A[1], 2, (tuple(parse_nodes("P7L1MLP")),))
    assert groups_of(planted(), "A[1]").count(alone) == 2, "once as the layer's MLPs, once as its place's nodes"


def test_a_role_of_one_node_is_a_group_of_one() -> None:
    groups = groups_of(planted(), "ST[0]")
    assert frozenset(parse_nodes("P4L0H0")) in members(groups)
    assert all(group.spare == 0 for group in groups)


@pytest.mark.parametrize("variable", ["ST[0]", "SA[1]"])
def test_untrained_weights_have_no_groups(variable: str) -> None:
    model = Transformer(config_of_width(DIGITS, n_layers=2, n_heads=3, width=24, seed=7))
    assert groups_of(model, variable) == []


def test_a_variable_that_no_question_shows_has_none() -> None:
    assert groups_of(planted(), "SGN") == []


@pytest.mark.slow
def test_a_map_has_the_groups_that_stand_the_test_and_their_sets_as_roles() -> None:
    quick = MapSettings.chosen(quick=True)
    found = once(lambda: map_model(planted(redundancy=3), "planted", TASK, quick).map, "map with copies")
    fetching = [group for group in found.groups if str(group.variable) == "ST[0]" and group.nodes[0].layer == 0]
    assert parse_nodes("P4L0H0 P4L0H1 P4L0H2") in [set(group.nodes) for group in fetching]
    carried = {(role.nodes, role.variable, role.token) for role in found.roles}
    assert all((nodes, group.variable, group.token) in carried for group in found.groups for nodes in group.sets)
    assert all(len(nodes) > 1 for group in found.groups for nodes in group.sets)
    assert_same(read_again(found), found)
    assert "1 of 3" in map_text(found).plain


@pytest.mark.slow
def test_a_map_of_a_plant_without_copies_has_no_groups() -> None:
    quick = MapSettings.chosen(quick=True)
    found = once(lambda: map_model(planted(), "planted", TASK, quick).map, "map without copies")
    assert found.groups == ()
    parts = [role for role in found.roles if role.variable.name == "A" and len(role.nodes) > 1]
    assert parts == [], "those who have a token's parts hit together, and yet none of them has the token"
    near = {str(each.variable) for each in found.near_misses}
    assert near <= {"D[0]", "D'[0]", "D[1]", "D'[1]"}, "which ST accounts for"


def test_a_node_that_does_alone_gets_its_role_even_where_answers_stand_without_it() -> None:
    settings = MapSettings.chosen(quick=True)
    search = search_of(planted(), settings.roles)
    roles, _ = find_carried(search, [], evaluation_questions(TASK, settings), settings)
    assert (tuple(parse_nodes("P4L0H0")), "ST[0]") in {(role.nodes, str(role.variable)) for role in roles}


def test_a_set_found_for_another_variable_has_a_role_only_where_nothing_else_does() -> None:
    def role(nodes: str, variable: str, token: int, hits: int = 48) -> Role:
        found = tuple(sorted(parse_nodes(nodes)))
        return Role(found, Variable.parse(variable), token, Rate(hits, 48), Rate(0, 48), 1e-9)

    pair, triple = "P4L0H0 P4L0H1", "P4L0H0 P4L0H1 P4L0H2"
    sets = tuple(tuple(sorted(parse_nodes(nodes))) for nodes in (pair, triple))
    group = Group(Variable.parse("SV[1]"), 0, sets)
    stood = [role(pair, "SV[1]", 0), role(pair, "ST[1]", 0), role(pair, "SA[1]", 1), role(triple, "ST[1]", 0)]
    stood.append(role(pair, "D[1]", 0))

    known = [role("P4L0H2", "SA[1]", 1), role("P4L0H3", "ST[1]", 0, hits=24)]
    groups, roles = proven_groups([group], stood, known, [Variable.parse("D[1]")])
    assert [each.sets for each in groups] == [sets[:1]]
    assert roles == [stood[0], stood[1]], (
        "SA[1] has its carrier, ST[1] one in part, and the triple is more than it takes"
    )
