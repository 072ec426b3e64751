"""No text of a saved file becomes part of a page's markup: every field of every file, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from carrylens.report.page import chart as charts
from carrylens.report.page.comparison import comparison_page
from carrylens.report.page.elements import element
from carrylens.report.page.render import page_of
from carrylens.report.page.saved import Saved, read_saved
from carrylens.workflow.reading import page_of_saved
from torture.bench import shipped_folder
from torture.hostile_strings import PAYLOAD, Field, fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FILES = ("claims.json", "battery.json", "worked.json", "test.json", "training.jsonl", "facts.jsonl", "map.json")
FOREIGN = """() => [...document.querySelectorAll('*')].flatMap((each) => [
  ...(each.matches('img, iframe, object, embed, form, base, svg b') ? [each.outerHTML] : []),
  ...each.getAttributeNames().filter((name) => name.startsWith('on')).map((name) => each.outerHTML),
  ...(/^\\s*javascript:/i.test(each.getAttribute('href') || '') ? [each.outerHTML] : []),
])"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Field], Saved]:
    folder = shipped_folder(tmp_path_factory.mktemp("hostile"))
    (folder / "manifest.json").unlink()  # whoever writes a file can write its hash, too

    def saved() -> Saved:
        found = read_saved(PAYLOAD, folder, None)
        page_of(found)
        return found

    return fill(folder, FILES, saved), saved()


def opened(browser: Browser, page: str, path: Path, *, bypass_csp: bool) -> tuple[list[str], list[str], int]:
    """What is in the page and does not belong there, what the browser complained of, how many scripts there are."""
    path.write_text(page, encoding="utf-8")
    said: list[str] = []
    shown = browser.new_context(bypass_csp=bypass_csp).new_page()
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.goto(path.as_uri())
    foreign = [*shown.evaluate(FOREIGN), *(["it ran"] if shown.evaluate("window.hacked") else [])]
    scripts = shown.locator("script").count()
    shown.context.close()
    return foreign, said, scripts


@pytest.mark.slow
def test_no_text_of_a_file_becomes_markup(hostile: tuple[list[Field], Saved], browser: Browser, tmp_path: Path) -> None:
    fields, saved = hostile
    assert {name for name, _ in fields} >= {"claims.json", "battery.json", "training.jsonl"}
    pages = {"report": (page_of_saved(saved, tmp_path).decode(), 1), "compare": (comparison_page([saved, saved]), 0)}
    for name, (page, n_scripts) in pages.items():
        for bypass in (True, False):  # without its policy the escaping alone must hold
            foreign, said, scripts = opened(browser, page, tmp_path / f"{name}.html", bypass_csp=bypass)
            assert (foreign, said, scripts) == ([], [], n_scripts), name


@pytest.mark.slow
def test_what_is_not_escaped_is_seen_and_the_policy_stops_it(browser: Browser, tmp_path: Path) -> None:
    page = f'<!DOCTYPE html><body><p class="{PAYLOAD}">'
    assert "it ran" in opened(browser, page, tmp_path / "bare.html", bypass_csp=True)[0]
    with_policy = page.replace(
        "<body>", "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\"><body>"
    )
    foreign, said, _ = opened(browser, with_policy, tmp_path / "policy.html", bypass_csp=False)
    assert foreign
    assert "it ran" not in foreign
    assert said


def test_the_kind_of_a_series_is_an_attribute_and_no_more() -> None:
    series = {"label": PAYLOAD, "kind": PAYLOAD, "x": [0, 1], "y": [0, 1], "low": [0, 1], "high": [0, 1]}
    drawn = charts.chart({"x_label": PAYLOAD, "y_label": PAYLOAD, "series": [series]}, PAYLOAD, "name")
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert str(element("path", class_=f"curve {PAYLOAD} tone0", d="M0 0"))[:-2].count('"') == 4
