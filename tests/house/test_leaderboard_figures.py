"""The shipped leaderboard is whole: its page and picture show its JSON, and the README states its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from carrylens.arithmetic.planted.benchmark.methods import ARITHMETIC_METHODS
from carrylens.benchmark.averages import Averaged
from carrylens.benchmark.leaderboard import Leaderboard
from carrylens.report.figures.leaderboard import leaderboard_svg
from carrylens.report.terminal.leaderboard import leaderboard_page

ROOT = Path(__file__).parents[2]
DOCS, README = ROOT / "docs", ROOT / "README.md"


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return Leaderboard.from_json((DOCS / "leaderboard.json").read_bytes())


def test_the_page_and_the_picture_are_those_of_the_signed_file(board: Leaderboard) -> None:
    assert leaderboard_page(board, ARITHMETIC_METHODS, "leaderboard.svg") == (DOCS / "leaderboard.md").read_text()
    assert leaderboard_svg(board) == (DOCS / "leaderboard.svg").read_text()


def shown(figure: Averaged | None) -> str:
    return "-" if figure is None else f"{figure.value:.2f}"


@pytest.mark.parametrize(("words", "suite"), [("standard planted circuits", "kind"), ("hostile circuits", "hostile")])
def test_the_readme_states_the_figures_of_the_leaderboard(board: Leaderboard, words: str, suite: str) -> None:
    (line,) = (each for each in README.read_text().splitlines() if re.search(rf"^\|.*\d {words} \|", each))
    stated, compared = (cell.strip() for cell in line.split("|")[2:4])
    ours = board.of("ours", suite)
    assert stated == shown(ours.precision)
    assert f" {ours.n_circuits} {words}" in line
    if "interchange" in compared:
        assert compared == f"{shown(board.of('interchange', suite).precision)}, exhaustive interchange"
