"""A planted two-digit model that was explained once, for every test that looks at its page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.battery.readouts import feature_units
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.cli import app
from carrylens.discovery.groups import GroupSettings
from carrylens.discovery.node_search import MapSettings
from carrylens.discovery.search import RoleSettings
from carrylens.discovery.stimulus_texts import evaluation_texts, pair_texts
from carrylens.report.page.render import page_of
from carrylens.report.page.saved import Saved

SMALL = MapSettings(
    *(48, 48, 16, 16, 99),
    roles=RoleSettings(n_find=16, n_confirm=24, n_compete=8, level=0.01),
    group_search=GroupSettings(n_find=12, n_orders=2),
)


def small(cls: type[MapSettings], seed: int = 0, *, quick: bool = False) -> MapSettings:
    return SMALL


def whole_page(saved: Saved) -> str:
    """The page with the questions behind its facts, drawn again, and a link to the explorer beside it."""
    questions = pair_texts(saved.map, saved.facts), evaluation_texts(saved.map, saved.facts)
    return page_of(saved, *questions, explorer="explore.html")


def explain_plant(folder: Path) -> str:
    """Plant a model in the folder and explain it; what the command printed."""
    plant(describe(Operation.ADD, 2)).save(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MapSettings, "chosen", classmethod(small))
        patch.setattr(
            feature_units, "FIT_SEEDS", {True: 1}
        )  # Most of the time went into fitting every dictionary three times.
        patch.setitem(os.environ, "XDG_CACHE_HOME", str(folder.parent))
        result = CliRunner().invoke(app, ["explain", str(folder), "--quick"])
    assert result.exit_code == 0, result.output
    return result.stdout
