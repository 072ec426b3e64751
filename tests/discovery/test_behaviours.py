"""Behaviours, where the truth is known because the weights were computed."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic.algorithms import subtasks
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.tokens import place_position
from carrylens.discovery.ablations import likely_backups, measure_backups, measure_places, measure_usefulness
from carrylens.discovery.attention import average_pattern, overlap, top_places
from carrylens.discovery.behaviours import BackupUse, Clusters
from carrylens.discovery.clusters import (
    balanced_questions,
    cluster_points,
    clustered_variables,
    measure_clusters,
    principal_components,
    silhouettes,
)
from carrylens.discovery.node_search import nodes_of
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

DIGITS = 2
TASK, MIXED = arithmetic_task(Operation.ADD, DIGITS), arithmetic_task(Operation.MIX, DIGITS)
POPULATION = Population(PopulationKind.ENRICHED, Operation.ADD, DIGITS)


@pytest.fixture(scope="module")
def planted() -> Planted:
    return plant(describe(Operation.ADD, DIGITS, Dials(sharing=True)))


def clusters_of(model: Transformer, nodes: list[Node], k: int = 1, task: Task = TASK) -> dict[Node, Clusters]:
    watched = next(each for each in clustered_variables(task) if each[1] == Variable("ST", k))
    return measure_clusters(model, task, watched, nodes, per_class=24, n_shuffles=199, seed=0)


def test_a_head_looks_where_it_was_planted_to_look(planted: Planted) -> None:
    """Half of a shared head fetches D[1], the other half D'[1]."""
    pattern = average_pattern(planted.model, TASK, POPULATION.draw(1, 0, 16))
    assert pattern.sum(-1) == pytest.approx(1.0)
    at = place_position("D'1", DIGITS)
    for head, place in ((0, "D1"), (1, "D'1")):
        (look,) = top_places(pattern, Node(at, 0, head), "add", TASK.layout.place_names, 16).looks
        assert look.place == place
        assert look.share == pytest.approx(1.0, abs=0.01)
    assert overlap(pattern, Node(at, 0, 0), Node(at, 0, 1)) < 0.01
    assert overlap(pattern, Node(at, 0, 0), Node(at, 0, 0)) == pytest.approx(1.0)


def test_questions_are_balanced_over_the_classes() -> None:
    assert [str(variable) for _, variable in clustered_variables(MIXED)] == ["ST[0]", "ST[1]", "MB[0]", "MB[1]"]
    for condition, variable in clustered_variables(MIXED):
        drawn, labels = balanced_questions(MIXED, condition, variable, 20, seed=3)
        questions = Questions.of_batch(drawn)
        assert condition.name == ("sub" if variable.name == "MB" else "add")
        assert (subtasks(questions)[variable] == labels).all()
        assert set(np.bincount(labels)) == {20}
        assert questions.minus.all() == (variable.name == "MB")


def test_silhouettes_are_those_of_the_slow_route() -> None:
    random = np.random.default_rng(0)
    points, labels = random.normal(size=(12, 2)), np.repeat([0, 1, 2], 4)
    labellings = np.stack([labels, random.permutation(labels)])
    for found, labelling in zip(silhouettes(points, labellings), labellings, strict=True):
        each = []
        for at, point in enumerate(points):
            means = {}
            for label in range(3):
                others = [i for i in range(12) if labelling[i] == label and i != at]
                means[label] = np.mean([np.linalg.norm(point - points[i]) for i in others])
            own = means.pop(labelling[at])
            each.append((min(means.values()) - own) / max(own, min(means.values())))
        assert found == pytest.approx(np.mean(each))


def test_a_write_that_does_not_vary_has_no_clusters() -> None:
    points = principal_components(np.ones((6, 4)))
    assert not points.any()
    assert silhouettes(points, np.array([[0, 0, 1, 1, 2, 2]])).tolist() == [0.0]


def test_a_planted_tri_state_falls_into_three_clusters_and_a_fetched_digit_does_not(planted: Planted) -> None:
    at = place_position("D'1", DIGITS)
    head, mlp = Node(at, 0, 0), Node(at, 0, None)
    found = clusters_of(planted.model, [head, mlp])
    assert found[mlp].are_clear
    assert found[mlp].quality > 0.95
    assert found[mlp].n_classes == 3
    assert not found[head].are_clear


def test_clusters_of_another_column_are_not_those_of_this_one(planted: Planted) -> None:
    mlp = Node(place_position("D'0", DIGITS), 0, None)
    assert clusters_of(planted.model, [mlp], 0)[mlp].are_clear
    assert not clusters_of(planted.model, [mlp], 1)[mlp].are_clear


def test_shuffled_labels_are_far_below_the_real_ones(planted: Planted) -> None:
    mlp = Node(place_position("D'1", DIGITS), 0, None)
    found = clusters_of(planted.model, [mlp])[mlp]
    assert found.null < 0.2
    assert not Clusters(found.variable, found.null, found.quality, 0.5, found.n, 3).are_clear


def test_a_node_before_the_column_is_read_is_not_asked(planted: Planted) -> None:
    assert clusters_of(planted.model, [Node(place_position("+", DIGITS), 0, None)]) == {}


def test_untrained_weights_have_no_clear_clusters() -> None:
    """Not in one of all nodes and digits, though random weights do hold something of the column's sum."""
    model = Transformer(config_of_width(3, n_layers=2, n_heads=3, width=24, seed=5))
    nodes = all_nodes(model.config.n_ctx - 1, 2, 3)
    task = arithmetic_task(Operation.ADD, 3)
    found = [each for k in (1, 2) for each in clusters_of(model, nodes, k, task).values()]
    assert len(found) > 50
    assert not [each for each in found if each.are_clear]


def test_a_place_is_useful_where_a_node_is(planted: Planted) -> None:
    uses = measure_places(
        Engine(planted.model), nodes_of(planted.model), POPULATION.draw(1, 0, 64), POPULATION.draw(1, 64, 64)
    )
    assert {use.position for use in uses if use.is_useful} == {node.position for node in planted.truth.roles}
    assert [use.place for use in uses[:3]] == ["D1", "D0", "+"]


def test_a_useful_node_says_what_fails_without_it_even_if_only_another_questions_write_breaks_it() -> None:
    model = plant(describe(Operation.ADD, DIGITS, Dials(redundancy=2))).model
    nodes = list(all_nodes(model.config.n_ctx - 1, model.config.n_layers, model.config.n_heads))
    measured = measure_usefulness(Engine(model), nodes, POPULATION.draw(1, 0, 48), POPULATION.draw(1, 48, 48))
    assert any(each.is_useful and not each.mean.hits for each in measured), "by its mean alone it would do nothing"
    for each in measured:
        assert any(rate.hits for rate in each.tokens) == each.is_useful
        assert any(rate.hits for rate in each.classes.values()) == each.is_useful


def test_questions_that_fail_anyway_count_for_no_token_and_no_class() -> None:
    model = Transformer(config_of_width(DIGITS, n_layers=1, n_heads=2, width=24, seed=3)).eval()
    measured = measure_usefulness(
        Engine(model, TASK), [Node(3, 0, 0)], POPULATION.draw(1, 0, 48), POPULATION.draw(1, 48, 48)
    )
    assert measured[0].clean.value > 0.9
    assert sum(rate.hits for rate in measured[0].classes.values()) <= 48 - measured[0].clean.hits


def test_what_a_copy_hides_shows_when_the_copy_is_away_too() -> None:
    """Of three copies of ST[1] one is outvoted; the heads look alike, so each backs up the others."""
    planted = plant(describe(Operation.ADD, DIGITS, Dials(redundancy=3)))
    every, at = nodes_of(planted.model), place_position("D'1", DIGITS)
    pattern = average_pattern(planted.model, TASK, POPULATION.draw(1, 0, 16))
    copies = [Node(at, 0, head) for head in range(3)]
    backups = {node: likely_backups(node, every, [pattern]) for node in copies}
    assert set(backups[copies[0]]) >= set(copies[1:])
    pair = {copies[0]: copies[1:2]}
    found = measure_backups(
        Engine(planted.model),
        {node: tuple(some) for node, some in pair.items()},
        POPULATION.draw(1, 0, 64),
        POPULATION.draw(1, 64, 64),
    )[copies[0]]
    assert found.mean_alone.hits == 0, "one copy of three is outvoted"
    assert found.mean.hits > 0
    assert found.is_useful


def test_a_node_that_adds_nothing_to_its_backups_is_not_called_useful() -> None:
    rates = [Rate(30, 64), Rate(30, 64), Rate(2, 64)] * 2
    assert not BackupUse((Node(3, 0, 1),), *rates).is_useful


def test_the_points_that_are_drawn_are_those_that_were_measured(planted: Planted) -> None:
    mlp = Node(place_position("D'1", DIGITS), 0, None)
    points, labels = cluster_points(planted.model, TASK, Variable("ST", 1), [mlp], per_class=24, seed=0)[mlp]
    assert silhouettes(points, labels[None])[0] == pytest.approx(clusters_of(planted.model, [mlp])[mlp].quality)
