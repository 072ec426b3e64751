"""What the first version drew, found and counted, this one does, too.

`first_version.json` was written by the first version. Hashes are the first half of a SHA-256's hex digits.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from carrylens.arithmetic.classes import classify
from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.discovery.node_map import NearMiss, Role
from carrylens.discovery.node_search import MapSettings, map_model
from carrylens.discovery.roles import readable_variables
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.interventions import Edit, Engine, ablate, edge, interchange, interpolate, keep_only, patch_difference
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.pairs import Pairs, interchange_pairs, null_pairs
from carrylens.tasks.triples import Triples, effect_triples, null_triples
from carrylens.training.exam import blank_results, sit

FIRST: dict[str, Any] = json.loads(Path(__file__).with_name("first_version.json").read_text())
SHAPES = [(operation, digits) for operation in Operation for digits in (2, 3)]


def digest(array: np.ndarray) -> str:
    flat = np.ascontiguousarray(array)
    return hashlib.sha256(f"{flat.dtype.str} {flat.shape} ".encode() + flat.tobytes()).hexdigest()


def short(*parts: str) -> str:
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def of_questions(batch: Batch) -> tuple[str, ...]:
    questions = Questions.of_batch(batch)
    return digest(questions.first), digest(questions.second), digest(questions.minus)


def of_outputs(outputs: Columns) -> str:
    text = "\n".join(Answers.of_outputs(outputs).text()).encode()
    return hashlib.sha256(f"{len(text)} ".encode() + text).hexdigest()


@pytest.mark.parametrize("kind", list(PopulationKind)[:3])  # structured questions came later
@pytest.mark.parametrize("operation", list(Operation))
def test_samplers_draw_what_they_drew(kind: PopulationKind, operation: Operation) -> None:
    found = {}
    for digits in (1, 3, 6, 20):
        for seed in (0, 3):
            drawn = Population(kind, operation, digits).draw(seed, 1000, 256)
            name = f"{kind.value} {operation.value} d{digits} s{seed}"
            found[name] = short(*of_questions(drawn), digest(classify(drawn).code))
    assert found == {name: FIRST["samplers"][name] for name in found}


def of_pairs(pairs: Pairs) -> str:
    outputs = (of_outputs(pairs.expected), of_outputs(pairs.counterfactual()))
    return short(*of_questions(pairs.base), *of_questions(pairs.source), *outputs)


def of_triples(triples: Triples) -> str:
    sides = [of_questions(side) for side in (triples.asked, triples.base, triples.source)]
    return short(*sides[0], *sides[1], *sides[2], of_outputs(triples.counterfactual()))


@pytest.mark.parametrize(("operation", "digits"), SHAPES)
def test_matched_pairs_are_those_they_were(operation: Operation, digits: int) -> None:
    model = arithmetic_task(operation, digits).causal
    found: dict[str, str | list[str]] = {}
    for variable in readable_variables(model):
        name = f"{operation.value} d{digits} {variable}"
        try:
            pairs = interchange_pairs(model, variable, 24, seed=0)
        except CarryLensError:
            found[name] = "error"
            continue
        found[name] = [of_pairs(pairs), of_pairs(null_pairs(model, variable, pairs.base, seed=0))]
    assert found == {
        name: known for name, known in FIRST["pairs"].items() if name.startswith(f"{operation.value} d{digits}")
    }


@pytest.mark.parametrize(("operation", "digits"), [(Operation.ADD, 2), (Operation.ADD, 3), (Operation.SUB, 2)])
def test_triples_are_those_they_were(operation: Operation, digits: int) -> None:
    model, found = arithmetic_task(operation, digits).causal, {}
    for variable in readable_variables(model):
        sides = []
        for draw in (effect_triples, null_triples):
            try:
                sides.append(of_triples(draw(model, variable, 12, 0)))
            except CarryLensError:
                sides.append("error")
        found[f"{operation.value} d{digits} {variable}"] = sides
    assert found == {name: FIRST["triples"][name] for name in found}


def of_rate(rate: Rate) -> str:
    return f"{rate.hits}/{rate.n}"


def of_nodes(nodes: tuple[Node, ...]) -> str:
    return "+".join(map(str, nodes))


def of_carrier(each: Role | NearMiss) -> str:
    return f"{of_nodes(each.nodes)} {each.variable} {each.token} {of_rate(each.hit)} {of_rate(each.null)}"


@pytest.mark.parametrize("digits", [2, 3])
def test_the_map_of_a_planted_adder_is_the_one_it_was(digits: int) -> None:
    planted = plant(describe(Operation.ADD, digits, Dials()))
    task = arithmetic_task(Operation.ADD, digits)
    mapped = map_model(planted.model, planted.truth.name, task, MapSettings.chosen(seed=0, quick=True))
    found, known = mapped.map, FIRST["maps"][f"add d{digits}"]
    roles = [f"{of_carrier(r)} {r.way.value} {r.p:.6g} {' '.join(map(str, r.same_as))}".strip() for r in found.roles]
    assert roles == known["roles"]
    groups = [f"{each.variable} {each.token} {' | '.join(map(of_nodes, each.sets))}" for each in found.groups]
    assert groups == known["groups"]
    assert [of_carrier(each) for each in found.near_misses] == known["fallen"]
    nodes = [f"{each.node} {of_rate(each.mean)} {of_rate(each.resample)} {of_rate(each.clean)}" for each in found.nodes]
    assert nodes == known["nodes"]
    assert len(mapped.facts) == known["n_facts"]


EDITS: dict[str, Edit] = {
    "zero": ablate("P9L0H1 + P9L0MLP", "zero"),
    "mean": ablate("P10L0H0"),
    "class-mean": ablate("P10L0MLP", "class-mean"),
    "resample": ablate("P11L1H0", "resample"),
    "swap": interchange("P9L0H1 + P9L0MLP"),
    "swap late": interchange("P12L1MLP"),
    "shift": patch_difference("P9L0MLP"),
    "half": interpolate("P9L0MLP", 0.5),
    "keep": keep_only("P9L0H1 + P12L1MLP"),
    "edge": edge("P11L0MLP", "P12L1H0.k + P11.logits"),
    "both": ablate("P7L0H2", "zero") + interchange("P8L0MLP"),
}


def test_edited_models_answer_what_they_answered() -> None:
    source = find_source("add_d5_l2_h3_w96_t2K_s1")
    population = Population(PopulationKind.ENRICHED, Operation.ADD, 5)
    questions, *sources = (population.draw(3, 24 * at, 24) for at in range(3))
    with Engine(source.load(), source.task) as engine:
        given = engine.run(list(EDITS.values()), questions, sources, reference=population.draw(4, 0, 128))
    found = {name: digest(given.tokens[at])[:16] for at, name in enumerate(EDITS)}
    assert {"clean": digest(given.clean_tokens)[:16], **found} == FIRST["engine"]


@pytest.mark.parametrize("name", FIRST["exams"])
def test_exams_count_the_failures_they_counted(name: str) -> None:
    source = find_source(name)
    assert isinstance(source.task, ArithmeticTask)
    parts = exam_parts(source.task, 600, 20, of={(PopulationKind.STRUCTURED, None): 0})
    results = blank_results(parts)
    for _ in sit(source.load(), source.task, parts, results):
        pass
    found = {
        f"{each.name}, {each.label}": [
            each.asked,
            each.failed,
            short(*(" ".join(failure) for failure in each.failures)),
        ]
        for each in results
    }
    assert found == FIRST["exams"][name]
