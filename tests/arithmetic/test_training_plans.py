"""Plans from names: what is trained, and what of it is written down."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import carrylens as cl
from carrylens.arithmetic.hard_questions import hard_populations
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.recipes import RecipeKind
from carrylens.arithmetic.training_plans import plan_for
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.model_facts import CARD
from carrylens.errors import CarryLensError
from carrylens.model import Transformer
from carrylens.model.weights import hash_of
from carrylens.training.history import HISTORY
from carrylens.training.insertion import Restored
from carrylens.training.run import resume, start, train
from carrylens.workflow.training import training_plan
from training.quiet import Quiet

CPU = torch.device("cpu")
TINY = "mix_d2_l1_h2_w12_t60_s1"


def pair() -> tuple[Transformer, Transformer]:
    larger = Transformer(config_of_width(2, 3, 4, width=12, seed=1))
    smaller = Transformer(config_of_width(2, 2, 3, width=12, seed=2))
    with torch.no_grad():
        for parameter in smaller.parameters():
            parameter.add_(1.0)  # so that norms and biases are not at their defaults
    return larger, smaller


def test_a_plan_says_what_its_name_says() -> None:
    name = ModelName.parse("ins2_mix_d2_l3_h4_w12_t10_s7")
    plan = plan_for(name, RecipeKind.PAPER, pair()[1], "add_d2_l2_h3_w12_t10_s1")
    assert (plan.name, plan.n_steps, plan.seed, plan.task.name) == (str(name), 10, 7, "mix 2 digits")
    assert plan.config == config_of_width(2, 3, 4, 12, seed=7)
    assert plan.population.draw(7, 5, 60) == Population(PopulationKind.PAPER, name.operation, 2, minus_share=0.8).draw(
        7, 5, 60
    )
    assert plan.hard == hard_populations(name.operation, 2)
    assert plan.insertion is not None
    assert plan.insertion.restored is Restored.HEADS
    said = plan.identity()
    assert (said["name"], said["kind"], said["stream"], said["minus_share"]) == (str(name), "paper", "paper", 0.8)
    assert (said["inserted_from"], said["placement"]) == ("add_d2_l2_h3_w12_t10_s1", "early")


def test_only_an_addition_model_is_inserted() -> None:
    with pytest.raises(CarryLensError, match="sub_d6_l2_h3_w96_t5K_s1 .*--insert"):
        training_plan("ins1_mix_d6_l3_h4_w96_t6K_s1", "compact", "sub_d6_l2_h3_w96_t5K_s1", "early")
    plan = training_plan("ins1_mix_d6_l3_h4_w96_t6K_s1", "compact", "add_d6_l2_h3_w96_t2K_s1", "early")
    assert plan.identity()["inserted_sha256"] == hash_of(cl.load("add_d6_l2_h3_w96_t2K_s1"))


def test_a_run_is_not_resumed_with_another_model_of_the_same_name(tmp_path: Path) -> None:
    name, (_, smaller) = ModelName.parse("ins1_mix_d2_l3_h4_w12_t10_s1"), pair()
    first = plan_for(name, inserted=smaller, inserted_from="add_d2_l2_h3_w12_t10_s1")
    assert not train(start(first, tmp_path, torch.device("cpu")), Quiet(1), checkpoint_seconds=1e9)
    assert resume(first, tmp_path, torch.device("cpu")).step == 1
    with torch.no_grad():
        other = pair()[1]
        other.unembed.b_U[3] += 1e-3
    with pytest.raises(CarryLensError, match="add_d2_l2_h3_w12_t10_s1.*--insert"):
        resume(plan_for(name, inserted=other, inserted_from="add_d2_l2_h3_w12_t10_s1"), tmp_path, torch.device("cpu"))


def test_a_name_and_its_insertion_go_together() -> None:
    _, smaller = pair()
    with pytest.raises(CarryLensError, match="--insert"):
        plan_for(ModelName.parse("ins1_mix_d2_l3_h4_w12_t10_s1"))
    with pytest.raises(CarryLensError, match="--insert"):
        plan_for(ModelName.parse("mix_d2_l3_h4_w12_t10_s1"), inserted=smaller)


def test_a_name_with_grokfast_is_refused() -> None:
    with pytest.raises(CarryLensError, match="_t60_gf_s1 .*mix_d2_l1_h2_w12_t60_s1"):
        plan_for(ModelName.parse("mix_d2_l1_h2_w12_t60_gf_s1"))


def test_the_history_has_losses_by_operation_and_token_and_the_hard_questions(tmp_path: Path) -> None:
    monitor = Quiet()
    assert train(start(plan_for(ModelName.parse(TINY)), tmp_path, CPU), monitor, checkpoint_seconds=1e9)
    lines: list[Any] = [json.loads(line) for line in (tmp_path / HISTORY).read_text().splitlines()]
    assert lines[0]["run"]["name"] == TINY
    assert [line["step"] for line in lines[1:]] == [20, 40, 60]
    assert lines[1:] == monitor.lines
    for line in lines[1:]:
        assert {name: len(row) for name, row in line["token_losses"].items()} == {"add": 4, "sub": 4}
        assert min(min(row) for row in line["token_losses"].values()) <= line["loss"]
        assert max(max(row) for row in line["token_losses"].values()) >= line["loss"]
    assert 0 <= lines[-1]["hard"] <= 1


@pytest.mark.parametrize(("name", "silent"), [("sub_d2_l2_h2_w12_t60_s1", True), (TINY, False)])
def test_with_a_silent_start_no_node_writes_at_first(tmp_path: Path, name: str, silent: bool) -> None:
    model = start(plan_for(ModelName.parse(name)), tmp_path, CPU).model
    tokens = torch.zeros(1, model.config.n_ctx, dtype=torch.long)
    _, cache = model.run_with_cache(tokens, lambda hook: hook.endswith(("hook_embed", "hook_pos_embed", "resid_post")))
    read = cache["hook_embed"] + cache["hook_pos_embed"]
    written = cache[f"blocks.{model.config.n_layers - 1}.hook_resid_post"] - read
    assert bool((written == 0).all()) is silent


@pytest.mark.parametrize(
    ("recipe", "layout", "options"),
    [("paper", "paper", "--recipe paper"), ("compact", "unsigned", "--layout unsigned")],
)
def test_a_model_of_any_recipe_can_be_read_and_its_card_says_how_it_was_made(
    recipe: str, layout: str, options: str, tmp_path: Path
) -> None:
    name = "add_d2_l1_h1_w8_t4_s1"
    train(start(training_plan(name, recipe, None, "early", layout=layout), tmp_path / name, CPU), Quiet(), 1e9)
    exam = Exam.start(str(tmp_path / name), 5, 1, "cpu")
    list(exam.sit())
    exam.save()
    assert f"    carrylens train {name} {options}\n" in (tmp_path / name / CARD).read_text()
    assert cl.losses(tmp_path / name)


@pytest.mark.parametrize("layout", ["unsigned", "equals"])
def test_a_model_is_trained_stopped_and_tested_in_a_layout_that_the_paper_tried(layout: str, tmp_path: Path) -> None:
    plan = training_plan("add_d2_l1_h1_w8_t4_s1", "compact", None, "early", layout=layout)
    run = start(plan, tmp_path / "it", CPU)
    train(run, Quiet(), 1e9)
    exam = Exam.start(str(tmp_path / "it"), 50, 5, "cpu")
    list(exam.sit())
    assert exam.task.layout == plan.task.layout
    assert exam.model.config.n_ctx == plan.task.layout.n_positions != config_of_width(2, 1, 1, width=8).n_ctx
    assert json.loads((tmp_path / "it" / HISTORY).read_text().splitlines()[0])["run"]["layout"] == layout


def test_a_layout_that_is_none_or_leaves_a_sign_out_that_is_needed_is_refused() -> None:
    for name, layout in (("add_d2_l1_h1_w8_t4_s1", "upside-down"), ("sub_d2_l1_h1_w8_t4_s1", "unsigned")):
        with pytest.raises(CarryLensError):
            training_plan(name, "compact", None, "early", layout=layout)
