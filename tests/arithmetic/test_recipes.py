"""Recipes: the published one to the letter, and ours by its table."""

import json
import math

import pytest

from carrylens.arithmetic import Operation, PopulationKind
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.recipes import RecipeKind, recipe_for, recipe_record, training_population
from carrylens.arithmetic.zoo.shipped import find_model
from carrylens.training.run import HISTORY


def test_the_paper_recipe_is_the_published_one() -> None:
    name = ModelName.parse("mix_d6_l3_h4_t40K_s372001")
    recipe = recipe_for(name, RecipeKind.PAPER)
    assert (recipe.adam_rate, recipe.weight_decay, recipe.betas, recipe.batch) == (8e-5, 0.1, (0.9, 0.98), 64)
    assert recipe.muon_rate is None
    assert recipe.clip is None
    assert recipe.decays_all
    assert training_population(name, RecipeKind.PAPER).kind is PopulationKind.PAPER
    assert recipe.rate_at(7999, 40000) == 1.0, "warm-up over a fifth"
    assert recipe.rate_at(3999, 40000) == pytest.approx(0.5)
    assert recipe.rate_at(24000, 40000) == pytest.approx(0.5 * (1 + math.cos(math.pi / 2))), "then cosine to zero"
    assert recipe.rate_at(39999, 40000) < 1e-8


@pytest.mark.parametrize(("name", "share"), [("mix_d6_l3_h4_t1K_s1", 0.66), ("ins1_mix_d6_l3_h4_t1K_s1", 0.80)])
def test_the_paper_recipe_subtracts_as_often_as_published(name: str, share: float) -> None:
    parsed = ModelName.parse(name)
    questions = training_population(parsed, RecipeKind.PAPER).draw(parsed.seed, 0, 64 * 4000)
    assert abs(questions.minus.mean() - share) < 4 * math.sqrt(share * (1 - share) / 4000)


@pytest.mark.parametrize(
    ("name", "muon", "adam", "silent", "tail"),
    [
        ("add_d6_l2_h3_w96_t2K_s1", 0.02, 3e-3, False, 0.2),
        ("add_d15_l2_h3_w96_t2K_s1", 0.01, 2e-3, False, 0.0),
        ("sub_d6_l2_h3_w96_t2K_s1", 0.01, 2e-3, True, 0.0),
        ("mix_d6_l3_h4_w96_t2K_s1", 0.01, 2e-3, False, 0.0),
    ],
)
def test_the_compact_recipe_follows_its_table(name: str, muon: float, adam: float, silent: bool, tail: float) -> None:
    recipe = recipe_for(ModelName.parse(name))
    assert (recipe.muon_rate, recipe.adam_rate, recipe.batch) == (muon, adam, 128)
    assert (recipe.silent_start, recipe.tail, recipe.decays_all) == (silent, tail, False)
    assert training_population(ModelName.parse(name)).kind is PopulationKind.ENRICHED
    assert recipe.rate_at(0, 1000) == pytest.approx(0.02)
    assert recipe.rate_at(49, 1000) == 1.0
    assert recipe.rate_at(525, 1000) == pytest.approx(0.5)
    assert 0 < recipe.rate_at(999, 1000) < 0.002


def test_long_subtractions_keep_the_full_rate_for_half_of_the_steps() -> None:
    recipe = recipe_for(ModelName.parse("sub_d8_l2_h3_w96_t12K_s1"))
    assert [recipe.rate_at(step, 1000) for step in (0, 49, 50, 549, 550)] == [0.02, 1, 1, 1, 1]
    assert recipe.rate_at(775, 1000) == pytest.approx(0.5)
    assert 0 < recipe.rate_at(999, 1000) < 0.005


def test_the_population_is_that_of_the_name() -> None:
    population = training_population(ModelName.parse("sub_d7_l2_h3_w96_t2K_s5"))
    assert (population.operation, population.digits) == (Operation.SUB, 7)


def test_the_published_recipe_averages_nothing() -> None:
    name = ModelName.parse("add_d6_l2_h3_t15K_s1")
    assert recipe_for(name, RecipeKind.PAPER).tail == 0
    assert recipe_for(name).tail == 0.2


@pytest.mark.parametrize("name", ["sub_d6_l2_h3_w96_t5K_s1", "ins1_mix_d6_l3_h4_w96_t6K_s1"])
def test_a_recipe_is_recorded_as_the_shipped_files_have_it(name: str) -> None:
    said = json.loads((find_model(name) / HISTORY).read_text().splitlines()[0])["run"]
    recorded = json.loads(json.dumps(recipe_record(ModelName.parse(name))))
    assert {field: said[field] for field in recorded} == recorded
    assert [field for field in said if field in recorded] == list(recorded), "in the order of the files"
