"""The aligned models that come with carrylens: enough of each, small, accepted by what was measured and again here."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from carrylens.arithmetic.aligned.plans import aligned_plan, held_out
from carrylens.arithmetic.aligned.shipped import AlignedFigures, aligned_figures
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.sources import ALIGNED, find_source
from carrylens.benchmark.known_models import permuted_twin
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.benchmark.saved_truth import truth_from_json
from carrylens.folders import check_sealed, read_sealed
from carrylens.training.acceptance import Acceptance, measure_acceptance

FIGURES = aligned_figures()
ACCEPTED = [each for each in FIGURES if each.accepted]
FEW = 256
MOST_BYTES = 40 * 1000**2


def operation_of(each: AlignedFigures) -> str:
    return ModelName.parse(each.name).operation.value


def test_there_are_forty_with_three_seeds_of_every_algorithm_and_all_of_them_are_small() -> None:
    assert len(ACCEPTED) >= 40
    seeds = Counter(each.algorithm for each in ACCEPTED)
    gated = {f"left-to-right add, weighted-sum on {tenths}0%" for tenths in (1, 3, 5)}
    usual = {f"left-to-right {operation}" for operation in ("add", "sub", "mix")}
    others = {"left-to-right add with binary carries", "weighted-sum add", "one-layer add"}
    assert {name for name, count in seeds.items() if count >= 3} >= gated | usual | others
    assert {ModelName.parse(each.name).digits for each in ACCEPTED} == {3, 4, 5}
    alike = [each for each in ACCEPTED if each.algorithm == "left-to-right add"]
    assert any(each.n_copies > 1 for each in alike), "variables held twice"
    assert sum(each.n_variables > 1 for each in alike) >= 2, "two variables at one site"
    size = sum(path.stat().st_size for path in ALIGNED.rglob("*") if path.is_file())
    assert size < MOST_BYTES


def test_in_some_of_them_one_site_holds_several_variables() -> None:
    truths = (truth_from_json(read_sealed(ALIGNED / each.name, "truth.json"), each.name) for each in ACCEPTED)
    most = [max(Counter(copy for group in truth.groups for copy in group.copies).values()) for truth in truths]
    assert sum(count > 1 for count in most) >= 2


@pytest.mark.parametrize("each", FIGURES, ids=lambda each: each.name)
def test_accepted_is_what_the_measured_rates_come_to(each: AlignedFigures) -> None:
    assert msgspec.convert(each.rates, Acceptance).accepted is each.accepted


@pytest.mark.parametrize("each", ACCEPTED, ids=lambda each: each.name)
def test_each_has_a_card_and_a_truth_that_calls_it_running_its_own_algorithm(each: AlignedFigures) -> None:
    folder = ALIGNED / each.name
    assert {"README.md", "truth.json", "aligned.json", "acceptance.json"} <= set(check_sealed(folder))
    truth = truth_from_json(read_sealed(folder, "truth.json"), each.name)
    assert truth.deserved[each.algorithm] is RunVerdict.RUNS
    assert each.algorithm in (folder / "README.md").read_text()


FIRST = {(operation_of(each), each.algorithm): each for each in reversed(ACCEPTED)}


@pytest.mark.parametrize("each", FIRST.values(), ids=lambda each: each.name)
def test_the_weights_reach_on_a_few_questions_what_their_acceptance_says(each: AlignedFigures) -> None:
    found = measured(each)
    assert found.accepted, found


def test_shuffled_weights_reach_nothing_of_it() -> None:
    found = measured(ACCEPTED[0], shuffled=True)
    assert not found.accepted
    assert found.one_site.value < 0.1


def measured(each: AlignedFigures, *, shuffled: bool = False) -> Acceptance:
    source = find_source(str(ALIGNED / each.name))
    assert isinstance(source.task, ArithmeticTask)
    how = aligned_plan(ModelName.parse(each.name), ALIGNED / each.name / "aligned.json").interchange
    assert how is not None
    model = permuted_twin(source.load(), 0) if shuffled else source.load()
    return measure_acceptance(model, how, held_out(source.task, FEW), {})
