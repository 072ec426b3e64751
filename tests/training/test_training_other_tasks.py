"""A task that is no arithmetic is trained, stopped, gone on with and tested like any other."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from carrylens.errors import CarryLensError
from carrylens.model import load_model
from carrylens.model.decoding import decode_outputs
from carrylens.model.weights import hash_of
from carrylens.tasks.samplers import Uniform
from carrylens.training.checkpoint import CHECKPOINT
from carrylens.training.exam import blank_results, class_results, population_parts, sit
from carrylens.training.history import HISTORY
from carrylens.training.plan import TrainingPlan
from carrylens.training.run import resume, start, train
from training.bit_parity import BITS, parity_plan, parity_task
from training.quiet import Quiet

CPU = torch.device("cpu")


def history(folder: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (folder / HISTORY).read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def trained(plan: TrainingPlan, folder: Path) -> str:
    assert train(start(plan, folder, CPU), Quiet(), checkpoint_seconds=1e9)
    return hash_of(load_model(folder))


@pytest.mark.parametrize("fed_back", [True, False])
def test_the_loss_falls_until_no_question_fails(tmp_path: Path, fed_back: bool) -> None:
    task = parity_task(fed_back=fed_back)
    plan = parity_plan(n_steps=400, task=task, hard=(task.samplers["first set"],))
    run = start(plan, tmp_path, CPU)
    parts = population_parts(task, 200)
    before = blank_results(parts)
    list(sit(run.model, task, parts, before))
    assert train(run, Quiet(), checkpoint_seconds=1e9)
    first, *_, last = history(tmp_path)[1:]
    assert float(str(last["loss"])) < 0.1 * float(str(first["loss"]))
    assert last["hard"] == 1
    assert list(json.loads(json.dumps(last["token_losses"]))) == ["first set"], "the task's own conditions"
    after = blank_results(parts)
    list(sit(load_model(tmp_path), task, parts, after))
    assert [result.name for result in after] == ["every", "first set"]
    assert min(result.failed for result in before) > 0
    assert [(result.asked, result.failed) for result in after] == [(200, 0), (200, 0)]


def test_failures_are_those_that_decoding_makes_by_class_and_in_all(tmp_path: Path) -> None:
    task = parity_task()
    model = start(parity_plan(), tmp_path, CPU).model
    part = population_parts(task, 300)[0]
    questions = part.population.draw(part.seed, 0, 300)
    wrong = (decode_outputs(model, task, questions) != task.output_ids(questions)).any(1)
    results = blank_results([part])
    list(sit(model, task, [part], results))
    assert results[0].failed == wrong.sum() > 0
    question, right, given = results[0].failures[0]
    assert question == task.question_text(questions[wrong])[0]
    assert right == task.layout.output_text(task.output_ids(questions[wrong]))[0] != given
    classes = task.classes(questions)
    by_class = class_results(model, task, part.population, 300)
    assert list(by_class) == list(classes.names), "five classes, all of them met in 300 questions"
    for code, result in enumerate(by_class.values()):
        assert (result.asked, result.failed) == ((classes.code == code).sum(), wrong[classes.code == code].sum())


@pytest.mark.parametrize("stop_at", [1, 20, 33, 59])
def test_a_run_stopped_and_resumed_gives_the_same_bits(tmp_path: Path, stop_at: int) -> None:
    plan = parity_plan()
    expected = trained(plan, tmp_path / "straight")
    folder = tmp_path / "stopped"
    assert not train(start(plan, folder, CPU), Quiet(stop_at), checkpoint_seconds=1e9)
    assert (folder / CHECKPOINT).exists()
    assert train(resume(plan, folder, CPU), Quiet(), checkpoint_seconds=1e9)
    assert hash_of(load_model(folder)) == expected
    assert history(folder)[0] == history(tmp_path / "straight")[0]
    assert trained(parity_plan(seed=2), tmp_path / "other") != expected


def test_a_run_is_not_resumed_by_a_plan_that_makes_another_model(tmp_path: Path) -> None:
    plan = parity_plan()
    assert not train(start(plan, tmp_path, CPU), Quiet(5), checkpoint_seconds=1e9)
    others = {
        "n_steps": replace(plan, n_steps=61),
        "questions": replace(plan, population=plan.task.samplers["first set"]),
        "seed": replace(plan, seed=2),
        "config": replace(plan, config=replace(plan.config, d_mlp=48)),
        "batch": replace(plan, recipe=replace(plan.recipe, batch=16)),
    }
    for field, other in others.items():
        with pytest.raises(CarryLensError, match=f"{field} = "):
            resume(other, tmp_path, CPU)
    assert resume(plan, tmp_path, CPU).step == 5


def test_a_config_that_does_not_fit_the_task_is_refused() -> None:
    plan = parity_plan()
    shorter = replace(plan.config, n_ctx=6)
    for config in (replace(plan.config, d_vocab=5), replace(plan.config, reads=range(2, 5)), shorter):
        with pytest.raises(CarryLensError, match="parity"):
            replace(plan, config=config)


def test_questions_the_task_does_not_know_are_refused() -> None:
    task = parity_task()
    fewer = Uniform(tuple((each, (0, 1)) for each in BITS[1:]))
    with pytest.raises(CarryLensError):
        replace(parity_plan(task=task), population=fewer).identity()
