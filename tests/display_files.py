"""Display files: pictures of what a notebook draws, for `docs/displays.md`.

    PYTHONPATH=tests python -m display_files [NAME ...]

draws every result of the front door, or those named, in chromium and writes `docs/displays/NAME.png`.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carrylens as cl

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "displays"
ADDER, OTHER = "add_d6_l2_h3_w96_t2K_s1", "add_d6_l2_h3_w96_t2K_s2"
_WIDTH, _HEIGHT, _COLOURS = 760, 430, 48
_PAGE = "<!DOCTYPE html><meta charset=utf-8><style>body{margin:8px;background:#fff;font-family:sans-serif}</style>"


def _settled() -> Any:
    # The shipped alignment: to measure it again takes minutes.
    from carrylens.arithmetic.zoo.sources import find_source
    from carrylens.discovery.alignment.joint_rates import read_alignment
    from carrylens.front.verdict_views import Settled

    folder = find_source(ADDER).folder
    assert folder is not None
    path = folder / "alignment.json"
    return Settled(path, read_alignment(path), cl.judge(ADDER, save=False).joint)


def _outcomes() -> Any:
    from carrylens.arithmetic.battery.battery_folder import saved_outcomes
    from carrylens.arithmetic.zoo.sources import find_source
    from carrylens.front.views import BatteryOutcomes

    source = find_source(ADDER)
    assert source.folder is not None
    about = {"model": ADDER, "version": cl.__version__, "sha256": source.sha256}
    return BatteryOutcomes(ADDER, source.folder, tuple(saved_outcomes(source.folder, about)))


def _explained() -> Any:
    # What `explain` gives; it would also run the experiments.
    cl.judge(ADDER)
    return cl.report(ADDER, out="report.html")


def _trained() -> Any:
    from carrylens.arithmetic.zoo.model_facts import history
    from carrylens.arithmetic.zoo.sources import find_source
    from carrylens.front.views import Trained

    folder = find_source(ADDER).folder
    assert folder is not None
    return Trained(ADDER, Path("models") / ADDER, cl.load(ADDER), history(folder))  # where a run of one's own would be


def _leaderboard() -> Any:
    from carrylens.benchmark.leaderboard import Leaderboard
    from carrylens.front.tabular import view_of
    from carrylens.front.views import LeaderboardView

    return view_of(LeaderboardView, Leaderboard.from_json((DOCS / "leaderboard.json").read_bytes()))


DISPLAYS: dict[str, tuple[str, Callable[[], Any]]] = {
    "load": ("Transformer", lambda: cl.load(ADDER)),
    "ask": ("Asked", lambda: cl.ask(ADDER, "555555+444448", "123456+654321", "999999+1")),
    "trace": ("TraceView", lambda: cl.trace("555555+444448")),
    "test": ("Examined", lambda: cl.test(ADDER)),
    "map": ("MapView", lambda: cl.map(ADDER)),
    "judge": ("Judged", lambda: cl.judge(ADDER, save=False)),
    "settle": ("Settled", _settled),
    "battery": ("BatteryOutcomes", _outcomes),
    "attention": ("AttentionPicture", lambda: cl.attention(ADDER, "555555+444448")),
    "explain": ("Explained", _explained),
    "compare": ("Comparison", lambda: cl.compare(ADDER, OTHER)),
    "explore": ("Explorer", lambda: cl.explore(ADDER)),
    "train": ("Trained", _trained),
    "losses": ("LossCurves", lambda: cl.losses(ADDER)),
    "plant": ("PlantedView", lambda: cl.plant("add", 2)),
    "benchmark": ("LeaderboardView", _leaderboard),
    "questions": ("QuestionSet", lambda: cl.questions("mix", 6, count=100)),
    "models": ("Listing", lambda: cl.models()),
    "family": ("FamilyFindings", lambda: cl.family(ADDER, OTHER, "sub_d6_l2_h3_w96_t5K_s1")),
    "paper": ("AnsweredPaper", lambda: cl.paper()),
    "publish": ("Published", lambda: cl.publish(ADDER, "hf:owner/name", dry_run=True)),
    "to_graph": ("Graph", lambda: cl.plant("add", 2).to_graph()),
}
"""For each picture the class of the result, and how it is made."""


def png(browser: Any, html: str) -> bytes:
    """The top of a display as a picture of few colours."""
    image: Any = __import__("PIL.Image", fromlist=["Image"])
    page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
    page.set_content(_PAGE + html)
    page.wait_for_timeout(400)
    height = min(_HEIGHT, int(page.evaluate("document.body.getBoundingClientRect().height")) + 16)
    shot = page.screenshot(clip={"x": 0, "y": 0, "width": _WIDTH, "height": height})
    page.close()
    small = io.BytesIO()
    image.open(io.BytesIO(shot)).convert("RGB").quantize(_COLOURS).save(small, "PNG", optimize=True)
    return small.getvalue()


def main(names: list[str]) -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.chdir(folder)  # where the page of `report` goes
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name in names or DISPLAYS:
            found = DISPLAYS[name][1]()
            (PICTURES / f"{name}.png").write_bytes(png(browser, found._repr_html_()))
            sys.stdout.write(f"{name}: {found!r}\n")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
