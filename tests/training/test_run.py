"""Training runs: reproducible, stoppable, and careful with what is on disk."""

import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load, save

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.recipes import RecipeKind
from carrylens.arithmetic.training_plans import plan_for
from carrylens.errors import CarryLensError
from carrylens.model import load_model
from carrylens.model.weights import hash_of
from carrylens.training import objectives
from carrylens.training.checkpoint import CHECKPOINT
from carrylens.training.history import HISTORY
from carrylens.training.losses import token_losses
from carrylens.training.run import prepare_folder, resume, start, train
from carrylens.workflow.training import train_model
from training.quiet import Quiet

CPU = torch.device("cpu")
TINY, SEED_2 = "mix_d2_l1_h2_w12_t60_s1", "mix_d2_l1_h2_w12_t60_s2"


def trained(folder: Path, name: str = TINY, kind: RecipeKind = RecipeKind.COMPACT) -> str:
    run = start(plan_for(ModelName.parse(name), kind), folder, CPU)
    assert train(run, Quiet(), checkpoint_seconds=1e9)
    return hash_of(load_model(folder))


@pytest.mark.parametrize("kind", list(RecipeKind))
def test_the_same_name_gives_the_same_bits(tmp_path: Path, kind: RecipeKind) -> None:
    assert trained(tmp_path / "a", kind=kind) == trained(tmp_path / "b", kind=kind)
    assert trained(tmp_path / "c", TINY.replace("s1", "s2"), kind) != hash_of(load_model(tmp_path / "a"))


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [1, 19, 20, 21, 59])
def test_a_run_stopped_and_resumed_gives_the_same_bits_and_history(tmp_path: Path, stop_at: int) -> None:
    expected = trained(tmp_path / "straight")
    plan, folder = plan_for(ModelName.parse(TINY)), tmp_path / "stopped"
    assert not train(start(plan, folder, CPU), Quiet(stop_at), checkpoint_seconds=1e9)
    assert (folder / CHECKPOINT).exists()
    assert train(resume(plan, folder, CPU), Quiet(), checkpoint_seconds=1e9)
    assert hash_of(load_model(folder)) == expected
    assert not (folder / CHECKPOINT).exists()
    # The note after a stop between two notes is of fewer steps; every other is the same.
    cut_short = {stop_at // 20} if stop_at % 20 else set[int]()
    pairs = list(zip(losses(folder), losses(tmp_path / "straight"), strict=True))
    assert len(pairs) == 3
    assert [place for place, (mine, straight) in enumerate(pairs) if mine != straight and place not in cut_short] == []


def losses(folder: Path) -> list[object]:
    return [json.loads(line)["loss"] for line in (folder / HISTORY).read_text().splitlines()[1:]]


@pytest.mark.slow
def test_a_run_killed_at_a_random_moment_resumes_to_the_same_bits(tmp_path: Path) -> None:
    name = "add_d3_l2_h3_w24_t200_s1"
    expected = trained(tmp_path / "straight", name)
    folder, command = (
        tmp_path / "killed",
        [sys.executable, "-m", "carrylens", "train", name, "--checkpoint-seconds", "0.05"],
    )
    moment = random.Random(os.getpid())
    n_killed = 0
    while not (folder / "manifest.json").exists():
        more = ["--resume"] if (folder / CHECKPOINT).exists() else ["--restart"]
        process = subprocess.Popen([*command, "--out", str(folder), *more], stdout=subprocess.DEVNULL)
        waited_until = time.monotonic() + 60
        while not (folder / CHECKPOINT).exists() and process.poll() is None and time.monotonic() < waited_until:
            time.sleep(0.01)
        if n_killed < 3:
            time.sleep(moment.uniform(0, 1.0))
            process.send_signal(signal.SIGKILL)
            n_killed += 1
        process.wait(timeout=120)
    assert n_killed > 0
    assert hash_of(load_model(folder)) == expected


@pytest.mark.slow
def test_ctrl_c_keeps_a_checkpoint_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "carrylens", "train", "add_d3_l2_h3_w24_t100K_s1", "--out", str(folder)]
    process = subprocess.Popen([*command, "--checkpoint-seconds", "0.05"], stderr=subprocess.PIPE, text=True)
    while not (folder / CHECKPOINT).exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.fullmatch(r"carrylens: .*\b\d+ of 100000\b.* --resume .*\n", errors)
    assert (folder / CHECKPOINT).exists()


def test_resuming_with_another_recipe_or_name_is_refused(tmp_path: Path) -> None:
    name = ModelName.parse(TINY)
    train(start(plan_for(name), tmp_path, CPU), Quiet(5), checkpoint_seconds=1e9)
    with pytest.raises(CarryLensError, match="adam_rate = 0.002, .*8e-05"):
        resume(plan_for(name, RecipeKind.PAPER), tmp_path, CPU)
    with pytest.raises(CarryLensError, match="name = 'mix_d2_l1_h2_w12_t60_s1'"):
        resume(plan_for(ModelName.parse("mix_d2_l1_h2_w12_t90_s1")), tmp_path, CPU)


def test_resuming_with_another_number_of_threads_is_refused_with_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(ModelName.parse(TINY))
    before = torch.get_num_threads()
    try:
        train_model(plan, tmp_path, "cpu", 1, Quiet(5), 1e9, resume=False, restart=False)
        with pytest.raises(CarryLensError, match="threads = 1, .* --threads 1.* --restart"):
            train_model(plan, tmp_path, "cpu", 2, Quiet(), 1e9, resume=True, restart=False)
        monkeypatch.setattr("carrylens.training.run.machine_of", lambda _device: {"device": "cuda"})
        with pytest.raises(CarryLensError, match="device = 'cpu', .*'cuda'.* --device cpu.* --restart"):
            train_model(plan, tmp_path, "cpu", 1, Quiet(), 1e9, resume=True, restart=False)
        monkeypatch.undo()
        assert train_model(plan, tmp_path, "cpu", 1, Quiet(), 1e9, resume=True, restart=False).done
    finally:
        torch.set_num_threads(before)
    assert json.loads((tmp_path / HISTORY).read_text().splitlines()[0])["run"]["threads"] == 1


def test_a_checkpoint_that_does_not_say_how_many_threads_it_had_is_resumed(tmp_path: Path) -> None:
    plan = plan_for(ModelName.parse(TINY))
    run = start(plan, tmp_path, CPU)
    run.machine = {}
    assert not train(run, Quiet(5), checkpoint_seconds=1e9)
    assert resume(plan, tmp_path, CPU).step == 5


def test_resuming_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match="--resume"):
        resume(plan_for(ModelName.parse(TINY)), tmp_path, CPU)


def test_a_truncated_checkpoint_is_one_clear_line(tmp_path: Path) -> None:
    plan = plan_for(ModelName.parse(TINY))
    train(start(plan, tmp_path, CPU), Quiet(5), checkpoint_seconds=1e9)
    whole = (tmp_path / CHECKPOINT).read_bytes()
    for size in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / CHECKPOINT).write_bytes(whole[:size])
        with pytest.raises(CarryLensError, match=CHECKPOINT) as caught:
            resume(plan, tmp_path, CPU)
        assert "\n" not in str(caught.value)


def said(folder: Path) -> dict[str, Any]:
    with safe_open(str(folder / CHECKPOINT), framework="pt") as file:
        about: dict[str, Any] = json.loads(file.metadata()["about"])
    return about


def say(folder: Path, about: dict[str, Any]) -> None:
    tensors = load((folder / CHECKPOINT).read_bytes())
    (folder / CHECKPOINT).write_bytes(save(tensors, metadata={"about": json.dumps(about)}))


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "an earlier step": lambda about: about.update(step=24),
    "another loss": lambda about: about["history"][0].update(loss=0.5),
    "no notes": lambda about: about.pop("history"),
    "no seal": lambda about: about.pop("seal"),
    "more seconds": lambda about: about.update(seconds=1e6),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_checkpoint_that_says_something_else_is_refused(tmp_path: Path, what: str) -> None:
    plan = plan_for(ModelName.parse(TINY))
    train(start(plan, tmp_path, CPU), Quiet(25), checkpoint_seconds=1e9)
    about = said(tmp_path)
    say(tmp_path, about)
    assert resume(plan, tmp_path, CPU).step == 25
    EDITS[what](about)
    say(tmp_path, about)
    with pytest.raises(CarryLensError, match="hash"):
        resume(plan, tmp_path, CPU)


def test_notes_that_were_changed_on_disk_are_not_believed(tmp_path: Path) -> None:
    plan, folder = plan_for(ModelName.parse(TINY)), tmp_path / "stopped"
    train(start(plan, folder, CPU), Quiet(25), checkpoint_seconds=1e9)
    true = losses(folder)
    (folder / HISTORY).write_text((folder / HISTORY).read_text().replace(f'"loss": {true[0]}', '"loss": 0.5'))
    assert losses(folder) == [0.5]
    train(resume(plan, folder, CPU), Quiet(), checkpoint_seconds=1e9)
    assert losses(folder)[:1] == true


def test_a_checkpoint_of_an_earlier_version_leaves_its_notes_to_the_history(tmp_path: Path) -> None:
    plan = plan_for(ModelName.parse(TINY))
    train(start(plan, tmp_path, CPU), Quiet(25), checkpoint_seconds=1e9)
    about = said(tmp_path)
    say(tmp_path, {name: value for name, value in about.items() if name not in ("history", "seal")})
    assert resume(plan, tmp_path, CPU).history == about["history"]


def test_a_full_disk_is_a_clear_error_and_the_last_checkpoint_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(ModelName.parse(TINY))
    train(start(plan, tmp_path, CPU), Quiet(5), checkpoint_seconds=1e9)
    before = (tmp_path / CHECKPOINT).read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("carrylens.files.os.fsync", full)
    with pytest.raises(CarryLensError, match=os.strerror(errno.ENOSPC)):
        train(resume(plan, tmp_path, CPU), Quiet(), checkpoint_seconds=0.0)
    monkeypatch.undo()
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    assert train(resume(plan, tmp_path, CPU), Quiet(), checkpoint_seconds=1e9), "and it goes on once there is room"


def test_a_loss_that_is_not_a_number_stops_the_run_and_spares_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(ModelName.parse(TINY))
    train(start(plan, tmp_path, CPU), Quiet(5), checkpoint_seconds=1e9)
    before = (tmp_path / CHECKPOINT).read_bytes()
    monkeypatch.setattr(objectives, "token_losses", lambda *given: token_losses(*given) * float("nan"))
    with pytest.raises(CarryLensError, match=f"step 5.*{re.escape(str(tmp_path))}.*{SEED_2}"):
        train(resume(plan, tmp_path, CPU), Quiet(), checkpoint_seconds=0.0)
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    with pytest.raises(CarryLensError, match=f"step 0.*{SEED_2}"):
        train(start(plan, tmp_path / "anew", CPU), Quiet(), checkpoint_seconds=0.0)


def test_a_finished_or_stopped_folder_is_not_overwritten_by_mistake(tmp_path: Path) -> None:
    plan = plan_for(ModelName.parse(TINY))
    train(start(plan, tmp_path, CPU), Quiet(5), checkpoint_seconds=1e9)
    with pytest.raises(CarryLensError, match="--resume"):
        prepare_folder(tmp_path, resume=False, restart=False)
    train(resume(plan, tmp_path, CPU), Quiet(), checkpoint_seconds=1e9)
    for wanted in ({"resume": False, "restart": False}, {"resume": True, "restart": False}):
        with pytest.raises(CarryLensError, match="--restart"):
            prepare_folder(tmp_path, **wanted)
    prepare_folder(tmp_path, resume=False, restart=True)
    assert not (tmp_path / "manifest.json").exists()
    with pytest.raises(CarryLensError, match="--resume .*--restart"):
        prepare_folder(tmp_path, resume=True, restart=True)


def test_training_makes_the_loss_fall(tmp_path: Path) -> None:
    trained(tmp_path, "add_d1_l1_h3_w24_t400_s1")
    fall = losses(tmp_path)
    assert float(str(fall[-1])) < 0.5 * float(str(fall[0]))
