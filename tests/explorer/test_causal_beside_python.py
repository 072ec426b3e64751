"""The page's causal model, from tables alone, is that of Python: on random questions with random `do`, for any task."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.explorer.causal_record import causal_record
from carrylens.explorer.page_data import Explored, page_data
from carrylens.explorer.question_record import chosen_samplers
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.draws import below, draw
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.task import Task
from carrylens.tasks.timeline import timeline
from carrylens.tasks.variables import Family
from explorer.node_engine import run_cases
from explorer.subjects import SHAPES, drawn

TASKS = ("mix", "one layer", "units first", "small sums", "query tokens, own output vocabulary", "brackets")


@cache
def made(name: str) -> tuple[Explored, dict[str, Any]]:
    explored = SHAPES[name]()
    return explored, page_data(explored)


def questions_of(explored: Explored, count: int, seed: int) -> Batch:
    return next(iter(chosen_samplers(explored.task).values())).draw(seed, 0, count)


@pytest.mark.parametrize("name", TASKS)
def test_runs_under_do_are_those_of_python(name: str) -> None:
    explored, data = made(name)
    causal, random = explored.task.causal, np.random.default_rng(1)
    questions, cases, wanted = questions_of(explored, 2000, 1), [], []
    for start in range(0, 2000, 50):
        some = questions[start : start + 50]
        size = min(int(random.integers(0, 4)), len(causal.by_variable))
        chosen = random.choice(len(causal.by_variable), size=size, replace=False)
        forced = [list(causal.by_variable)[int(each)] for each in chosen]
        values = {variable: random.choice(causal.values_of(variable), size=len(some)) for variable in forced}
        found = causal.run(some, values)
        for row, inputs in enumerate(some.values.tolist()):
            places = [[causal.variables.index(variable), int(given[row])] for variable, given in values.items()]
            cases.append({"do": "run", "inputs": inputs, "forced": places})
            wanted.append([int(found[variable][row]) for variable in causal.variables])
    assert run_cases(data, cases) == wanted


@pytest.mark.parametrize("name", TASKS)
def test_what_is_known_when_is_that_of_python(name: str) -> None:
    explored, data = made(name)
    task, questions = explored.task, questions_of(explored, 20, 2)
    known = timeline(task.causal, task.layout, questions)
    found = run_cases(data, [{"do": "timeline", "inputs": row.tolist()} for row in questions.values])
    for row in range(len(questions)):
        wanted = [known.settled(variable)[row].tolist() for variable in task.causal.variables]
        assert found[row] == wanted


@pytest.mark.parametrize("name", TASKS)
def test_tokens_and_texts_are_those_of_the_layout(name: str) -> None:
    explored, data = made(name)
    task, questions = explored.task, questions_of(explored, 30, 3)
    rows = [row.tolist() for row in questions.values]
    assert run_cases(data, [{"do": "encode", "inputs": row} for row in rows]) == task.token_ids(questions).tolist()
    texts = run_cases(data, [{"do": "text", "inputs": row} for row in rows])
    assert run_cases(data, [{"do": "parse", "text": text} for text in texts]) == rows
    assert task.parse(texts).values.tolist() == rows


@pytest.mark.parametrize("text", ["", "4+", "1234+1", "4*4", "+", "<b>1+1</b>", "1+1+1"])
def test_what_is_no_question_is_refused_in_a_sentence(text: str) -> None:
    (said,) = run_cases(made("mix")[1], [{"do": "parse", "text": text}])
    assert isinstance(said, str)
    assert said.endswith(".")


def test_short_numbers_are_padded() -> None:
    assert run_cases(made("mix")[1], [{"do": "parse", "text": " 45 - 7 = "}]) == [[0, 4, 5, 1, 0, 0, 7]]


@pytest.mark.parametrize("reading", ["own", "right"])
def test_a_sign_that_moves_is_read_as_it_stands(reading: str) -> None:
    explored, data = made("one layer")  # a subtraction, whose digits depend on the sign that was written
    causal, questions, sources = explored.task.causal, questions_of(explored, 200, 4), questions_of(explored, 200, 5)
    top = next(variable for variable in causal.variables if str(variable) == "MV[1]")
    moves = [{"variable": causal.variables.index(top), "outputs": None}]
    cases = [
        {"do": "predicted", "inputs": base.tolist(), "source": source.tolist(), "moves": moves, "reading": reading}
        for base, source in zip(questions.values, sources.values, strict=True)
    ]
    values, own = causal.run(sources).pick(top), explored.task.right_outputs(questions)
    forced = dict(values)
    if reading == "right":
        forced[causal.outputs[0]] = own[:, 0]
    wanted = causal.output_values(questions, forced)
    wanted[:, 0] = causal.output_values(questions, values)[:, 0]
    assert run_cases(data, cases) == explored.task.output_ids(questions, wanted).tolist()


def test_intervals_are_exact() -> None:
    counts = [(0, 1), (1, 1), (0, 200), (200, 200), (1, 200), (199, 200), (3, 7), (120, 200), (0, 0), (1, 5000)]
    found = run_cases(made("mix")[1], [{"do": "interval", "hits": hits, "n": n} for hits, n in counts])
    for (hits, n), (low, high) in zip(counts, found, strict=True):
        assert (low, high) == pytest.approx(Rate(hits, n).interval, abs=1e-8)


def test_invented_questions_are_those_the_task_is_for() -> None:
    for name in ("mix", "small sums", "brackets"):
        explored, data = made(name)
        (rows,) = run_cases(data, [{"do": "invented", "seed": 3, "count": 2000}])
        batch = questions_of(explored, 1, 1).with_values(np.asfortranarray(np.array(rows, dtype=np.int8)))
        explored.task.causal.check_batch(batch)
        assert explored.task.causal.admits(batch).all()


@dataclass(frozen=True)
class Unequal:
    """Two different values: a domain in which no input may be changed by itself."""

    def draw(self, seed: int, start: int, count: int) -> Batch:
        draws = draw((seed, 5), start, count, 2)
        first, step = below(draws[:, 0], 4), 1 + below(draws[:, 1], 3)
        return Batch([PAIR[0], PAIR[1]], np.stack([first, (first + step) % 4], axis=1))


PAIR, LESS = Family("X", (0, 1, 2, 3), "value"), Family("L", (0, 1), "1 if the first is less", labels=("no", "yes"))


def test_questions_are_taken_as_they_are_where_inputs_depend_on_each_other() -> None:
    def differ(batch: Batch) -> NDArray[np.bool_]:
        return np.asarray(batch.values[:, 0] != batch.values[:, 1])

    rule = Mechanism(LESS.variable, (PAIR[0], PAIR[1]), lambda a, b: a < b)
    inputs = (PAIR[0], PAIR[1])
    causal = CausalModel("less", (PAIR, LESS), inputs, (LESS.variable,), (rule,), fed_back=False, domain=differ)
    slots = (*(Slot(f"X{k}", input=PAIR[k]) for k in range(2)), Slot("?", token="?", reads=LESS.variable))
    layout = Layout((*"0123", "?"), slots, (PAIR, LESS), output_vocabulary=("no", "yes"))
    explored = drawn(Task("less", causal, layout, {"unequal": Unequal()}))
    data = page_data(explored)
    assert not data["questions"]["free"]
    (rows,) = run_cases(data, [{"do": "invented", "seed": 3, "count": 500}])
    assert all(first != second for first, second in rows)


def test_a_rule_too_large_for_a_page_is_refused() -> None:
    wide, out = Family("W", tuple(range(16)), "wide"), Family("O", (0, 1), "out")
    inputs = tuple(wide[k] for k in range(5))
    rule = Mechanism(out.variable, inputs, lambda *values: values[0] > 3)
    with pytest.raises(CarryLensError, match=f"{16**5:,}"):
        causal_record(CausalModel("wide", (wide, out), inputs, (out.variable,), (rule,)))


def test_a_rule_that_leaves_its_family_is_refused() -> None:
    small, out = Family("X", (0, 1), "in"), Family("O", (0, 1), "out")
    rule = Mechanism(out.variable, (small[0],), lambda value: value + 1)
    with pytest.raises(CarryLensError, match="'leaves'"):
        causal_record(CausalModel("leaves", (small, out), (small[0],), (out.variable,), (rule,)))
