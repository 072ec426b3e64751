"""The tables, the page and the picture of a leaderboard show what it says."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

from benchmark.relay import CARRIERS, N, relay_circuit
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.leaderboard import BoardCost, Leaderboard, SuiteCost, leaderboard_of, signature_of
from carrylens.benchmark.method_interface import DiscoveryMethod, Found, FoundRole
from carrylens.benchmark.method_runs import method_records
from carrylens.report.figures.leaderboard import leaderboard_figure, leaderboard_svg
from carrylens.report.terminal.leaderboard import leaderboard_page, leaderboard_tables, leaderboard_text


def found_all(_given: object) -> Found:
    wrong = FoundRole.of("P3L0H1", N[2], confidence=0.5)
    return Found([FoundRole.of(node, v, confidence=0.9) for v, node in CARRIERS.items()] + [wrong])


METHODS = [
    DiscoveryMethod("all", found_all, told=True, about="knows it"),
    DiscoveryMethod("scores", lambda given: Found(node_scores=dict.fromkeys(given.nodes, 1.0)), told=False),
]


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    run = BenchmarkRun([relay_circuit()], methods=METHODS, repeated=[relay_circuit()], n_seeds=2)
    return leaderboard_of(list(method_records(run)), METHODS, signature_of("the command", True, [0, 1], ["d"], METHODS))


def test_a_method_stands_in_the_tables_of_what_it_gives(board: Leaderboard) -> None:
    tables = {title.split(":")[0]: body for title, _, body in leaderboard_tables(board)}
    assert tables["Roles"] == [["all", "0.75", "1.00", "0.75", "1.00", "1 of 9"]]
    assert tables["Nodes and edges"] == [["all", "1.00", "-"], ["scores", "0.50", "-"]]
    assert tables["Stated confidence"][0][2:6] == ["single nodes", "4", "0.800", "0.750"]
    assert [row[1:] for row in tables["Found again"]] == [["all", "2", "1.00"], ["scores", "2", "1.00"]]
    assert "Verdicts" not in tables
    assert "0.75" in leaderboard_text(board)


def test_the_page_names_methods_models_and_how_it_was_made(board: Leaderboard) -> None:
    page = leaderboard_page(board, METHODS, "drawn.svg")
    told = [line for line in page.splitlines() if line.startswith(("| all | yes", "| scores | no"))]
    assert len(told) == 2
    for named in (
        "the command",
        "](drawn.svg)",
        board.models[0].sha256[:16],
        "knows it",
        board.signature.versions["torch"],
    ):
        assert named in page


def test_what_a_run_took_and_what_every_suite_would_take_is_shown(board: Leaderboard) -> None:
    assert not [title for title, _, _ in leaderboard_tables(board) if title.startswith("Cost of every")]
    whole = [SuiteCost("kind", 1, 2.0, 10, 4, 9, 46.0), SuiteCost("hostile", 1, 3.0, 5, 0, 0, 15.0)]
    costly = msgspec.structs.replace(board, cost=BoardCost(31, 78.4, whole))
    ((_, head, body),) = [table for table in leaderboard_tables(costly) if table[0].startswith("Cost of every")]
    assert all(len(row) == len(head) for row in body)
    assert body[0][2:] == ["2", "10", "4", "9", "46"]
    assert body[-1][-1] == "61", "all suites"
    assert "CPU seconds: 78, of 31 runs" in leaderboard_page(costly, METHODS, "drawn.svg")
    assert Leaderboard.from_json(costly.to_json()).cost == costly.cost


def points(panel: Axes) -> list[float]:
    drawn = (each.lines[0] for each in panel.containers if isinstance(each, ErrorbarContainer))
    return [float(x) for line in drawn for x, _ in np.asarray(line.get_xydata())]


def test_the_picture_has_a_point_for_each_figure(board: Leaderboard) -> None:
    precision, recall, nodes, false_runs = leaderboard_figure(board).axes
    assert (points(precision), points(recall), points(nodes)) == ([0.75], [1.0], [1.0, 0.5])
    assert points(false_runs) == []
    assert leaderboard_svg(board) == leaderboard_svg(board)
