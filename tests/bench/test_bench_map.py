"""The map benchmark times a whole map by stage, and the interchanges of some claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.bench.mapping import MapBench, bench_map, map_lines, timed_interchanges, timed_map
from carrylens.discovery.node_search import MapSettings
from carrylens.errors import CarryLensError


def test_a_map_is_timed_by_stage_and_interchanges_one_by_one() -> None:
    task, planted = arithmetic_task(Operation.ADD, 1), plant(describe(Operation.ADD, 1, Dials()))
    ours = timed_map(planted.model, task, "one digit", MapSettings.chosen(quick=True))
    assert ours.roles > 0
    assert {"ablating nodes", "finding roles", "looking for groups"} <= set(ours.stages)
    assert 0 < sum(ours.stages.values()) <= ours.work
    many = timed_interchanges(planted.model, task, 3)
    assert many.n_rows > 0
    assert many.ours > 0
    lines = list(map_lines(MapBench("one digit", 1, True, ours, ours, many)))
    assert len(lines) == 3 + len(ours.stages)


def test_a_folder_without_an_earlier_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match=str(tmp_path)):
        bench_map(find_source("add_d5_l2_h3_w96_t2K_s1"), quick=True, earlier=tmp_path)
