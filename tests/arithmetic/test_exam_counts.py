"""How many are asked of each population: what is written is what is asked, and back."""

import shlex
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.arithmetic import Operation
from carrylens.arithmetic.exam_counts import (
    MOST_STRUCTURED,
    count_options,
    parse_counts,
    population_counts,
    single_operations,
)
from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.structures import Structure
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError

ADD, SUB, MIX = Operation.ADD, Operation.SUB, Operation.MIX


@pytest.mark.parametrize("texts", [["enriched=7", "enriched:sub=9"], ["enriched:sub=9", "enriched=7"]])
def test_an_operations_own_count_goes_before_its_populations_in_any_order(texts: list[str]) -> None:
    counts = population_counts(MIX, 5, parse_counts(texts))
    assert [counts[PopulationKind.ENRICHED, each] for each in (ADD, SUB)] == [7, 9]
    assert {counts[kind, each] for kind in (PopulationKind.NATURAL, PopulationKind.PAPER) for each in (ADD, SUB)} == {5}


def test_the_parts_of_an_exam_have_these_counts_and_none_for_zero() -> None:
    parts = exam_parts(arithmetic_task(MIX, 3), 5, 0, of=parse_counts(["paper=0", "natural:add=11"]))
    assert [(part.name, part.label, part.count) for part in parts] == [
        ("natural", "add", 11),
        ("enriched", "add", 5),
        ("structured", "add", 5),
        ("natural", "sub", 5),
        ("enriched", "sub", 5),
        ("structured", "sub", 5),
    ]


def test_without_structured_questions_no_structure_is_drawn_of_that_operation() -> None:
    parts = exam_parts(arithmetic_task(MIX, 3), 5, 2, of=parse_counts(["structured:sub=0"]))
    structures = {each.value for each in Structure}
    assert {part.label for part in parts if part.name in structures} == {"add"}
    assert {part.name for part in parts} >= structures | {"structured"}


def test_of_structured_questions_fewer_are_usual() -> None:
    counts = population_counts(ADD, 10**6, {})
    assert {kind: counts[kind, ADD] for kind in PopulationKind} == {
        kind: MOST_STRUCTURED if kind is PopulationKind.STRUCTURED else 10**6 for kind in PopulationKind
    }
    more = population_counts(ADD, 10**6, parse_counts(["structured=3000000"]))
    assert more[PopulationKind.STRUCTURED, ADD] == 3_000_000
    assert count_options(ADD, more) == "--questions 1000000 --of structured=3000000"
    assert count_options(ADD, counts) == "--questions 1000000"


@pytest.mark.parametrize(
    "text", ["", "enriched", "enriched=", "enriched=many", "enriched=-1", "easy=5", "enriched:mix=5", "paper=1e3", "=5"]
)
def test_what_is_no_count_is_quoted_and_told_what_to_write(text: str) -> None:
    with pytest.raises(CarryLensError) as caught:
        parse_counts(["natural=5", text])
    assert str(caught.value).startswith(f"--of {text!r} ")
    assert all(kind.value in str(caught.value).replace(text, "", 1) for kind in PopulationKind), "what can be written"
    assert "\n" not in str(caught.value)


def test_a_count_given_twice_is_refused() -> None:
    with pytest.raises(CarryLensError, match="--of paper:add "):
        parse_counts(["paper:add=5", "paper=5", "paper:add=6"])


def test_a_count_for_what_the_model_cannot_do_is_refused() -> None:
    with pytest.raises(CarryLensError, match="--of paper:sub .* paper:add"):
        population_counts(ADD, 5, parse_counts(["paper:sub=5"]))


@pytest.mark.parametrize(
    ("natural", "paper", "enriched", "options"),
    [
        ((4, 4), (4, 4), (4, 4), "--questions 4"),
        ((4, 4), (1, 1), (4, 4), "--questions 1 --of natural=4 --of enriched=4"),
        ((4, 4), (1, 1), (9, 4), "--questions 1 --of natural=4 --of enriched:add=9 --of enriched:sub=4"),
        ((1, 1), (1, 1), (9, 1), "--questions 1 --of enriched:add=9"),
        ((1, 1), (1, 0), (1, 1), "--questions 1 --of paper:sub=0 --of structured:sub=0"),
    ],
)
def test_the_options_are_short(
    natural: tuple[int, int], paper: tuple[int, int], enriched: tuple[int, int], options: str
) -> None:
    of_kinds = zip(PopulationKind, (natural, paper, enriched, paper), strict=True)
    asked = {(kind, each): n for kind, counts in of_kinds for each, n in zip((ADD, SUB), counts, strict=True)}
    assert count_options(MIX, asked) == options


@given(st.sampled_from(list(Operation)), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_the_options_ask_exactly_what_was_asked(operation: Operation, counts: list[int]) -> None:
    keys = [(kind, each) for each in single_operations(operation) for kind in PopulationKind]
    asked = dict(zip(keys, counts, strict=False))
    words = shlex.split(count_options(operation, asked))
    given = [word for before, word in pairwise(words) if before == "--of"]
    assert population_counts(operation, int(words[1]), parse_counts(given)) == asked
