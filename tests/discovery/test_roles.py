"""Usefulness and roles, where the truth is known because the weights were computed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrylens.arithmetic.model_shapes import config_of_width, digits_of
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task, find_task
from carrylens.discovery.ablations import measure_usefulness
from carrylens.discovery.interchange_outcomes import draw_stimuli, rate_steps
from carrylens.discovery.joint_roles import without_misfits
from carrylens.discovery.node_map import NodeMap, Role, Usefulness, tokens_of
from carrylens.discovery.roles import able_sets, find_roles, readable_variables
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.discovery.stimulus_spec import StimulusSpec
from carrylens.errors import CarryLensError
from carrylens.interventions.engine import Engine
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.variables import Variable
from discovery.same_maps import assert_same, read_again
from heavy_outcomes import once

DIGITS = 3
TASK = arithmetic_task(Operation.ADD, DIGITS)
QUICK = RoleSettings(n_find=32, n_confirm=48, n_compete=24, level=0.01)


def usefulness_of(model: Transformer) -> list[Usefulness]:
    config = model.config
    nodes = all_nodes(config.n_ctx - 1, config.n_layers, config.n_heads)
    population = Population(PopulationKind.ENRICHED, Operation.ADD, digits_of(config))
    return measure_usefulness(Engine(model, TASK), nodes, population.draw(1, 0, 96), population.draw(1, 96, 96))


def roles_of(model: Transformer, nodes: list[Node]) -> list[Role]:
    return find_roles(SearchContext(Engine(model, TASK), TASK.causal, QUICK), [(node,) for node in nodes])


@pytest.fixture(scope="module")
def planted() -> Planted:
    return plant(describe(Operation.ADD, DIGITS, Dials(decoys=1, rotated=True)))


@pytest.fixture(scope="module")
def measured(planted: Planted) -> list[Usefulness]:
    return usefulness_of(planted.model)


@pytest.fixture(scope="module")
def roles(planted: Planted) -> list[Role]:
    return roles_of(planted.model, sorted(planted.truth.roles.keys() | planted.truth.decoys.keys()))


def test_useful_nodes_are_those_with_a_planted_role(planted: Planted, measured: list[Usefulness]) -> None:
    assert {each.node for each in measured if each.is_useful} == set(planted.truth.roles)
    assert all(each.clean.hits == 0 for each in measured)


def test_every_planted_role_is_found_and_no_other(planted: Planted, roles: list[Role]) -> None:
    """A role that no question tells from the planted one, such as SV[0] from ST[0], counts as that one."""
    found: dict[Node, set[Variable]] = {}
    for role in roles:
        (node,) = role.nodes
        truth = planted.truth.roles.get(node, frozenset())
        found.setdefault(node, set()).add(role.variable)
        assert truth & {role.variable, *role.same_as}, f"{node} does not carry {role.variable}"
    missed = {node: truth - found.get(node, set()) for node, truth in planted.truth.roles.items()}
    assert not {node: variables for node, variables in missed.items() if variables}


@pytest.mark.slow
def test_a_mixed_circuit_is_told_by_turning_the_operator() -> None:
    """MV and SGN, SV and the top digit, SA and the digit are alike until the operator differs.

    An MLP that has a sum's digit and both differences' moves the answer's in part; its reader has that as a whole.
    """
    mixed, task = plant(describe(Operation.MIX, 2, Dials())), arithmetic_task(Operation.MIX, 2)
    search = SearchContext(Engine(mixed.model), task.causal, QUICK)
    nodes = [(node,) for node in sorted(mixed.truth.roles)]
    found = once(lambda: find_roles(search, nodes), "roles of a mixed circuit")
    roles = without_misfits(found, task.causal, task.layout)
    for role in roles:
        truth = mixed.truth.roles[role.nodes[0]]
        assert truth & {role.variable, *role.same_as}, f"{role.nodes[0]} does not carry {role.variable}"
    assert {role.nodes[0] for role in roles} == set(mixed.truth.roles)


def test_a_decoy_that_holds_the_right_value_has_no_role(planted: Planted, roles: list[Role]) -> None:
    assert planted.truth.decoys
    assert not {node for role in roles for node in role.nodes} & set(planted.truth.decoys)


def test_a_role_serves_the_tokens_that_depend_on_it(roles: list[Role]) -> None:
    """ST[0] stands at D'0 and serves the digits above the units: tokens 1 to 3 of sign, A3, A2, A1, A0."""
    assert tokens_of(roles)[(Node(6, 0, None),), Variable("ST", 0)] == (1, 2, 3)


def test_untrained_weights_have_no_roles() -> None:
    model = Transformer(config_of_width(DIGITS, n_layers=2, n_heads=3, width=24, seed=5))
    assert roles_of(model, all_nodes(model.config.n_ctx - 1, 2, 3)) == []


def test_a_set_that_stands_before_the_last_input_is_not_asked() -> None:
    early, late = (Node(5, 0, 0),), (Node(6, 0, 0),)
    assert able_sets(TASK.causal, TASK.layout, Variable("ST", 0), [early, late]) == [late]
    assert able_sets(TASK.causal, TASK.layout, Variable("ST", 2), [early, late]) == [early, late]


def test_variables_that_no_answer_shows_are_not_looked_for() -> None:
    names = {variable.name for variable in readable_variables(TASK.causal)}
    assert {"SA", "ST", "SV", "D", "D'", "A"} <= names
    assert "SC" not in names


def test_a_map_comes_back_from_json_as_it_was(planted: Planted, measured: list[Usefulness], roles: list[Role]) -> None:
    found = NodeMap("planted", TASK, TASK.causal, 2, 1, tuple(measured), tuple(roles), {"seed": 0})
    assert_same(read_again(found), found)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"operation": "add", "nodes": 3}'])
def test_what_is_no_map_is_refused(text: str) -> None:
    with pytest.raises(CarryLensError, match="node map"):
        NodeMap.from_json(text, find_task)


def test_what_stays_is_neither_a_hit_nor_a_change_however_wrong_the_model_is() -> None:
    """An untrained model writes what it writes; a node before the column knows nothing of it."""
    task, model = arithmetic_task(Operation.ADD, 2), Transformer(config_of_width(2, 1, 2, width=24, seed=3)).eval()
    search = SearchContext(Engine(model, task), task.causal)
    stimuli = draw_stimuli(task, task.causal, Variable("SA", 0), StimulusSpec(96, 0))
    same = replace(stimuli, null=replace(stimuli.null, source=stimuli.null.base))
    (rates,) = search.together([rate_steps([(Node(0, 0, 0),)], same, least=1)])
    assert rates
    assert all(each.hit.hits == 0 and each.null.hits == 0 for each in rates)
