"""Published files are judged by where their tags stand, and compared with a map of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import carrylens as cl
from arithmetic.test_published_map import small_map
from carrylens.arithmetic.published_comparison import TagState, overlap_of, tagged_variables
from carrylens.arithmetic.published_map import behaviors_json, features_json, read_published
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import MB, SA, ST, SV
from carrylens.cli import app
from carrylens.errors import CarryLensError

TASK = arithmetic_task(Operation.ADD, 3)
NAME = "QuantaMaths_add_d3_l2_h3_t15K_s1"


def tagged(*nodes: tuple[int, str]) -> bytes:
    entries = [{"position": p, "layer": 0, "is_head": True, "num": 0, "tags": [tag]} for p, tag in nodes]
    return json.dumps(entries).encode()


def test_a_tag_counts_where_its_variable_can_be_known_and_is_still_read() -> None:
    at_own_place, before_its_digits = TASK.layout.position("D'1"), 0
    for position, state in ((at_own_place, TagState.VALID), (before_its_digits, TagState.ELSEWHERE)):
        found = {
            each.variable: each for each in tagged_variables(read_published(3, tagged((position, "Algo:A1.ST"))), TASK)
        }
        assert found[ST[1]].state is state
        assert found[SA[1]].state is TagState.MISSING
        assert found[SV[1]].state is TagState.UNSAYABLE


def test_our_own_files_agree_with_the_map_they_are_of() -> None:
    ours = small_map()
    nodes = read_published(10, behaviors_json(ours), features_json(ours))
    overlap = overlap_of(nodes, ours)
    assert overlap.nodes[0] == len(ours.useful)
    assert 0 < overlap.roles[0] < overlap.roles[1]  # a set's roles have no tag
    found = {each.variable: each for each in tagged_variables(nodes, ours.task, ours)}  # type: ignore[arg-type]
    assert found[MB[5]].ours == found[MB[5]].nodes


def test_the_command_judges_draws_and_compares(tmp_path: Path) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    with pytest.raises(CarryLensError):
        cl.published(folder)
    (folder / "features.json").write_bytes(tagged((TASK.layout.position("D'1"), "Algo:A1.ST")))
    assert {row["variable"]: row["published"] for row in cl.published(folder)}["ST[1]"] == TagState.VALID.value
    result = CliRunner().invoke(app, ["published", str(folder)])
    assert result.exit_code == 1
    assert TagState.VALID.value in result.output
    drawn = CliRunner().invoke(app, ["published", str(folder), "--grid"])
    assert "| L0H0 | ST[1] |" in drawn.output
    with pytest.raises(CarryLensError):
        cl.published(folder, "add_d5_l2_h3_w96_t2K_s1")
