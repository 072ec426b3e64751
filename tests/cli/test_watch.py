"""What a person sees of a training run and of a long test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from carrylens.cli.watch import Watch, short_losses

LINE = {"loss": 0.25, "token_losses": {"add": [1e-6, 0.3], "sub": [2.34, 0.004]}}


def test_in_a_pipe_there_is_a_line_now_and_then_with_every_digits_loss(capsys: pytest.CaptureFixture[str]) -> None:
    with Watch(100, "mix_d1", line_seconds=0) as watch:
        watch.note(20, 100, {**LINE, "hard": 0.5})
        watch.note(40, 100, LINE)
    first, second = capsys.readouterr().err.splitlines()
    expected = (
        "mix_d1  step 20 of 100, loss 0.25, hard questions right 50.0%; "
        "add sign e-6, digits .30; sub sign 2.3, digits e-3; 20%"
    )
    assert first.startswith(expected)
    assert second.startswith(expected.replace("20", "40")), "the hard questions stay as they were when last asked"


def test_in_a_pipe_lines_do_not_come_faster_than_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with Watch(100, "mix_d1", line_seconds=3600) as watch:
        for step in range(50):
            watch.note(step, 100, LINE)
            watch.advance(1)
            watch.stage("testing", step, 100)
    assert capsys.readouterr().err == ""


def test_a_test_and_a_stage_show_how_far_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    with Watch(100, "mix_d1", line_seconds=0) as watch:
        watch.advance(25)
        watch.stage("mapping", 3, 4)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("mix_d1; 25%")
    assert second.startswith("mix_d1  mapping; 75%")


def test_the_time_left_is_told_from_the_stage_alone_and_from_slow_steps_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("rich.console.monotonic", lambda: now)
    with Watch(100, "mix_d1", line_seconds=0) as watch:
        for step in range(100):
            watch.stage("finding", step, 100)
            now += 0.001
        for step, seconds in ((0, 100.0), (25, 0.001), (50, 100.0), (75, 0.001)):  # every other step takes no time
            watch.stage("telling", step, 100)
            now += seconds
    lines = capsys.readouterr().err.splitlines()
    assert lines[100] == "mix_d1  telling; 0%", "nothing is known of this stage yet"
    assert lines[-1] == "mix_d1  telling; 75%, about 51 s left"


@pytest.mark.parametrize(
    ("loss", "short"),
    [(0, "0"), (9.9e-10, "e-10"), (0.0099, "e-3"), (0.01, ".01"), (0.994, ".99"), (0.996, "1.0"), (9.96, "10")],
)
def test_a_loss_takes_few_letters(loss: float, short: str) -> None:
    assert short_losses([loss, 1.0]) == f"sign {short}, digits 1.0"


def test_on_a_terminal_the_bar_and_every_digits_loss_fit_80_columns(tmp_path: Path) -> None:
    script = tmp_path / "watch.py"
    script.write_text(
        "import sys\nfrom rich.console import Console\nfrom carrylens.cli import watch\n"
        "sys.stderr.isatty = lambda: True\n"
        "watch.Console = lambda stderr: Console(stderr=stderr, force_terminal=True, width=80, color_system=None)\n"
        "with watch.Watch(100, 'mix_d20_l3_h4_w96_t4K_s1') as bar:\n"
        "    bar.note(50, 100, {'loss': 0.5, 'hard': 0.25, 'token_losses': {'add': [1e-6] + [0.3] * 20 + [0.77]}})\n"
    )
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=60).stderr
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.split("mix_d20")[-1])
    assert "━" in last
    assert "50%" in last
    assert "step 50 of 100, loss 0.5, hard questions right 25.0%" in last
    assert last.split("digits")[1].split() == [*[".30"] * 20, ".77"]
