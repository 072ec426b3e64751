"""The commands under "Make it again" on a page: they make that very page, its alignment included."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import carrylens as cl
from command_line import run_here


def commands_of(page: Path) -> list[list[str]]:
    (listed,) = re.findall(r'<pre class="commands">(.*?)</pre>', page.read_text(), re.DOTALL)
    return [line.split()[1:] for line in html.unescape(listed).split("\n") if line]


@pytest.mark.slow
def test_the_commands_of_a_page_make_that_very_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[Path] = []
    for name in ("first", "again"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        cl.plant("add", 1, folder="planted")
        steps = [["settle", "planted", "--quick"], ["explain", "planted", "--quick"]]
        for step in steps if name == "first" else commands_of(pages[0]):
            assert run_here(*step).returncode in (0, 1), step  # 1: a verdict that is not "runs"
        pages.append(Path("planted" if name == "first" else "analysis").absolute() / "report.html")
    assert [step[0] for step in commands_of(pages[0])] == ["test", "map", "settle", "battery", "explain"]
    assert pages[0].read_text() == pages[1].read_text()
