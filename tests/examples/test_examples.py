"""The example scripts run, and say what is so."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from carrylens.interventions import Engine, ablate

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested_here() -> None:
    names = set(re.findall(r'example\("(\w+)"\)', Path(__file__).read_text()))
    assert {path.stem for path in EXAMPLES.glob("*.py")} == names


def test_an_interchanged_carry_moves_the_planted_answer(explained: tuple[Path, str]) -> None:
    lines = example("interchange_one_carry").main(str(explained[0]), "ST[0]", 24)
    assert "ST[0]" in lines[0]
    assert len(lines) > 1
    assert all(re.search(r"predicted (\d+)/\1 = 1.000 .* null 0/24", line) for line in lines[1:])
    assert len(example("interchange_one_carry").main(str(explained[0]), "SV[1]")) > 1
    assert len(example("interchange_one_carry").main(str(explained[0]), "D[0]")) == 1  # no node carries it


def test_what_is_planted_is_found() -> None:
    *lines, last = example("plant_and_find").main(1)
    assert lines
    assert re.findall(r"\d+", last) == [str(len(lines))] * 2, "so many of so many"


def test_a_planted_digit_is_held_as_a_table(explained: tuple[Path, str]) -> None:
    lines = example("table_or_circle").main(str(explained[0]))
    assert any(line.startswith("SA[") for line in lines)
    assert all("table" in line.split(";")[0] for line in lines)


def test_a_rival_is_refuted_from_saved_facts(explained: tuple[Path, str]) -> None:
    lines = example("refute_a_rival").main(str(explained[0]))
    assert lines[0] == "left-to-right add: runs"
    at = lines.index("one-layer add: does not run")
    assert at == 1
    assert any("refuted:" in line for line in lines[at + 1 :])


def test_variables_of_ones_own_are_supported_where_they_are_and_refuted_where_they_are_not() -> None:
    verdicts = {
        line.split("  ", 1)[1].strip().split(":")[0]: line.split()[0] for line in example("own_variable").main()
    }
    assert {verdicts[f"carried CLS[{k}] for A[2]"] for k in (0, 1)} == {"SUPPORTED"}
    assert {verdicts[f"carried PAR[{k}] for A[{k}]"] for k in (0, 1)} == {"REFUTED"}


def test_an_example_is_a_script(explained: tuple[Path, str]) -> None:
    command = [sys.executable, str(EXAMPLES / "refute_a_rival.py"), str(explained[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "one-layer add: does not run" in done.stdout


def test_the_wired_brackets_answer_as_both_algorithms_do() -> None:
    made = example("brackets")
    task = made.brackets(4)
    rows = np.array([[int(bit) for bit in f"{row:04b}"] for row in range(16)], dtype=np.int8)
    batch = task.samplers["natural"].draw(0, 0, 1).with_values(np.asfortranarray(rows))
    right = task.right_outputs(batch)
    assert right.sum() == 2  # (()) and ()()
    assert np.array_equal(right, made.running_stack(4).output_values(batch))
    model, _ = made.wired(task, 4)
    assert model.answer("(())?") == "yes"
    with Engine(model, task) as engine:
        outcomes = engine.run([ablate("P0L0H0")], batch, reference=batch)
    assert np.array_equal(outcomes.clean_tokens, outcomes.right)


def test_a_task_that_is_no_arithmetic_goes_the_whole_way(tmp_path: Path) -> None:
    lines = example("brackets").main(tmp_path / "model", small=True)
    assert [line.split(": ")[1].split()[0] for line in lines[:2]] == ["0", "0"]
    assert lines[2].endswith("yes")
    found, true, said = (int(word) for word in re.findall(r"\d+", lines[-1]))
    assert found >= 0.7 * true
    assert found >= 0.8 * said


def test_the_table_of_verdicts_counts_a_false_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [("runs in part", "runs"), ("does not run", "does not run"), ("runs", "runs")]
    rows = [
        {"model": f"m{at}", "suite": "hostile", "operation": "add", "deserves": deserved, "verdict": verdict}
        for at, (deserved, verdict) in enumerate(said)
    ]
    file = tmp_path / "verdicts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sys.argv, before = ["verdicts", str(file), "--table"], sys.argv
    try:
        example("verdicts_of_known_models").main()
    finally:
        sys.argv = before
    printed = capsys.readouterr().out
    assert "| hostile | add | runs in part | 1 | 0 | 0 | 0 |" in printed
    assert "False `runs`: 1/2" in printed


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_says_how_to_run_it(path: Path) -> None:
    assert f"python examples/{path.name}" in path.read_text()
