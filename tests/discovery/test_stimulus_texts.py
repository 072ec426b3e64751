"""The questions behind a map's facts, drawn again; and what a search tells while it goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from carrylens.arithmetic import Answers, Operation, Questions
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.interchange_outcomes import count_hits
from carrylens.discovery.node_map import NodeMap
from carrylens.discovery.node_search import MapSettings, evaluation_questions, nodes_of
from carrylens.discovery.roles import find_roles
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.discovery.stimulus_texts import evaluation_texts, pair_texts
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine

TASK = arithmetic_task(Operation.ADD, 1)
MAP = NodeMap("planted", TASK, TASK.causal, 2, 1, (), ())


@pytest.fixture(scope="module")
def told() -> tuple[list[Fact], list[str]]:
    """The facts of a small search, and what it said of its progress."""
    facts, said = list[Fact](), list[str]()
    model = plant(describe(Operation.ADD, 1, Dials())).model
    settings = RoleSettings(n_find=12, n_confirm=16, n_compete=8, level=0.01)
    with Engine(model) as engine:
        search = SearchContext(
            engine, TASK.causal, settings, progress=lambda what, *_: said.append(what), note=facts.append
        )
        assert find_roles(search.saying("single nodes"), [(node,) for node in nodes_of(model)])
    return facts, said


def test_pairs_that_are_drawn_again_are_pairs_of_the_variable(told: tuple[list[Fact], list[str]]) -> None:
    texts = pair_texts(MAP, told[0])
    confirmed = {str(fact.about["variable"]) for fact in told[0] if fact.about.get("split") == "confirm"}
    assert {str(each.variable) for each in texts} == confirmed
    for each in texts:
        base, source = (Questions.parse([pair[side] for pair in each.effect]) for side in (0, 1))
        values = TASK.causal.run(source)
        assert (TASK.causal.run(base)[each.variable] != values[each.variable]).all()
        moved = Answers.of_outputs(TASK.causal.output_values(base, values.pick(each.variable)))
        assert [pair[2] for pair in each.effect] == moved.text()
        same = [TASK.causal.run(Questions.parse([p[side] for p in each.null]))[each.variable] for side in (0, 1)]
        assert (same[0] == same[1]).all()


def test_pairs_that_do_not_fit_the_facts_are_not_handed_out(told: tuple[list[Fact], list[str]]) -> None:
    other = [replace(fact, effect=Rate(fact.effect.hits, fact.effect.n + 1)) for fact in told[0]]
    with pytest.raises(CarryLensError):
        pair_texts(MAP, other)


def test_progress_says_what_it_is_about(told: tuple[list[Fact], list[str]]) -> None:
    assert told[1]
    assert all(text.endswith("of single nodes") for text in told[1])


def test_evaluated_questions_are_the_first_of_the_population_and_the_reference_follows() -> None:
    settings = MapSettings(n_questions=10, n_reference=5, seed=3)
    population = Population(PopulationKind.ENRICHED, Operation.ADD, 1)
    questions, reference = evaluation_questions(TASK, settings)
    assert (questions, reference) == (population.draw(3, 0, 10), population.draw(3, 10, 5))
    drawn = {"stream": "enriched", "n": 10, "reference": 5, "seed": 3}
    fact = Fact("ablate", {"nodes": "P1L0H0", "fill": "mean"}, Rate(0, 10), Rate(0, 10), drawn)
    assert evaluation_texts(MAP, [fact]) == population.draw(3, 0, 10).text()
    assert evaluation_texts(MAP, []) == []
    with pytest.raises(CarryLensError, match="'elsewhere'"):
        evaluation_texts(MAP, [replace(fact, stimuli={**drawn, "stream": "elsewhere"})])


def test_hits_are_counted_only_where_the_output_is_to_move() -> None:
    expected = np.array([[1, 5], [2, 5], [3, 6]], dtype=np.int8)
    given = np.array([[[1, 5], [0, 5], [3, 5]], [[0, 0], [0, 0], [0, 0]]], dtype=np.int8)
    moves = np.array([[True, False], [True, False], [False, True]])
    assert count_hits(given, expected, moves, least=1) == [
        {0: Rate(1, 2), 1: Rate(0, 1)},
        {0: Rate(0, 2), 1: Rate(0, 1)},
    ]
    assert count_hits(given, expected, moves, least=2) == [{0: Rate(1, 2)}, {0: Rate(0, 2)}]
