"""Rows on their way: each step looks at the folder first, and a worker that dies costs no more than its step."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.family.rows import ModelRow, parse_rows
from carrylens.arithmetic.family.run_state import StepEnd
from carrylens.arithmetic.zoo.model_facts import saved_test
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.folders import WEIGHTS
from carrylens.progress import silent
from carrylens.workflow.family_run.route import RowWork, take_step
from carrylens.workflow.family_run.row_folder import LOCK, held

ROWS = """
[defaults]
steps = ["train", "test", "settle"]
questions = 200
per_class = 5
of = []

[[rows]]
model = "add_d2_l1_h1_w8_t{steps}"
seeds = [1, 2]

[[rows]]
model = "ins1_mix_d2_l1_h1_w8_t20_s1"
insert = "add_d2_l1_h1_w8_t{steps}_s1"
"""
STEPS = 60
SAME = (WEIGHTS, "config.json", "test.json")
"""What has the same bytes however often a row was stopped; the history says how many seconds it took."""


def rows_of(steps: int) -> list[ModelRow]:
    return parse_rows(ROWS.format(steps=steps).encode(), "rows")


def work_on(row: ModelRow, out: Path) -> RowWork:
    inserted = None if row.insert is None else str(out / row.insert)
    return RowWork(row, out / row.folder, inserted, 1, silent)


def take_all(rows: list[ModelRow], out: Path) -> dict[tuple[str, str], StepEnd]:
    return {(row.folder, step): take_step(work_on(row, out), step)[0] for row in rows for step in row.steps}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("family")
    take_all(rows_of(STEPS), out)
    return out


def test_a_step_that_is_done_is_not_done_again(made: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*") if path.is_file()}
    ends = take_all(rows_of(STEPS), made)
    assert {end for (_, step), end in ends.items() if step == "train"} == {StepEnd.THERE}
    assert {end for (_, step), end in ends.items() if step == "test"} <= {StepEnd.THERE, StepEnd.MISSED}
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*") if path.is_file()} == before


def test_a_step_that_the_package_does_not_have_is_passed_over(made: Path) -> None:
    assert take_step(work_on(rows_of(STEPS)[0], made), "no such step") == (StepEnd.PASSED, 0.0)


def test_a_model_that_surely_misses_the_bar_is_told_from_one_that_may_meet_it(made: Path) -> None:
    row = rows_of(STEPS)[0]
    test = saved_test(made / row.folder)
    assert test is not None
    assert test["meets_bar"] is False
    assert take_step(work_on(row, made), "test")[0] is StepEnd.MISSED


def test_more_questions_than_were_asked_are_asked(made: Path, tmp_path: Path) -> None:
    row = parse_rows(ROWS.format(steps=STEPS).replace("= 200", "= 300").encode(), "rows")[1]
    shutil.copytree(made / row.folder, tmp_path / row.folder)
    take_step(work_on(row, tmp_path), "test")
    test = saved_test(tmp_path / row.folder)
    assert test is not None
    assert {part["asked"] for part in test["parts"] if part["name"] == "natural"} == {300}


def test_a_folder_with_a_model_made_otherwise_is_refused(made: Path) -> None:
    late = parse_rows((ROWS + 'placement = "late"\n').format(steps=STEPS).encode(), "rows")[-1]
    with pytest.raises(CarryLensError, match="placement"):
        take_step(work_on(late, made), "train")


def test_a_folder_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    waited: list[str] = []

    def give_up(who: str) -> None:
        waited.append(who)
        raise InterruptedError

    with held(tmp_path, give_up):
        with pytest.raises(InterruptedError), held(tmp_path, give_up):
            pass
        assert str(os.getpid()) in waited[0]
    with held(tmp_path, give_up):
        assert len(waited) == 1


def test_family_reads_whatever_is_there(made: Path) -> None:
    result = CliRunner().invoke(app, ["family", str(made), "--json"])
    assert result.exit_code == 0, result.output
    names = [model["model"] for model in json.loads(result.stdout)["models"]]
    assert sorted(names) == sorted(row.model for row in rows_of(STEPS))


@pytest.mark.slow
def test_a_worker_killed_midway_costs_its_step_alone_and_the_end_is_the_same_bytes(made: Path, tmp_path: Path) -> None:
    said_of_rows = ROWS.format(steps=STEPS).replace(', "settle"', "").encode()  # nothing of that is compared below
    rows, out = parse_rows(said_of_rows, "rows"), tmp_path / "out"
    write_whole(tmp_path / "rows.toml", said_of_rows)
    command = ["family", "run", "rows.toml", "--out", "out", "--workers", "2", "--json"]
    run = subprocess.Popen([sys.executable, "-m", "carrylens", *command], cwd=tmp_path, stdout=subprocess.PIPE)
    killed = _kill_the_worker_at(out / rows[0].folder, run)
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0
    ends = [json.loads(line) for line in said.splitlines()]
    trained = next(each for each in ends if each.get("step") == "train" and each["row"] == rows[0].folder)
    assert not trained["where"].endswith(f":{killed}")
    assert ends[-1]["rows"] == len(rows)
    for row in rows:
        for name in SAME:
            mine, theirs = out / row.folder / name, made / row.folder / name
            assert mine.read_bytes() == theirs.read_bytes(), (row.folder, name)


@pytest.mark.slow
def test_a_worker_that_says_nothing_for_long_is_waited_for(tmp_path: Path) -> None:
    rows = parse_rows(ROWS.format(steps=400).encode(), "rows")[:1]
    write_whole(tmp_path / "rows.toml", f'[[rows]]\nmodel = "{rows[0].model}"\nsteps = ["train"]'.encode())
    command = [sys.executable, "-m", "carrylens", "family", "run", "rows.toml", "--out", "out", "--workers", "1"]
    soon = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "1s"}
    run = subprocess.Popen([*command, "--json"], cwd=tmp_path, stdout=subprocess.PIPE, env=soon)
    worker = _worker_at(tmp_path / "out" / rows[0].folder, run)
    os.kill(worker, signal.SIGSTOP)
    assert not (tmp_path / "out" / rows[0].folder / WEIGHTS).exists()
    time.sleep(8)  # a scheduler that counts gives up after ten heartbeats, of half a second each
    os.kill(worker, signal.SIGCONT)
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0
    assert json.loads(said.splitlines()[0])["where"].endswith(f":{worker}")


def _kill_the_worker_at(folder: Path, run: subprocess.Popen[bytes]) -> int:
    process = _worker_at(folder, run)
    assert not (folder / WEIGHTS).exists()
    os.kill(process, signal.SIGKILL)
    return process


def _worker_at(folder: Path, run: subprocess.Popen[bytes]) -> int:
    # The process that works on a row, once there is one.
    while not (text := (folder / LOCK).read_text() if (folder / LOCK).exists() else ""):
        assert run.poll() is None, "it ended before a worker began"
        time.sleep(0.02)
    return int(text.split()[-1])
