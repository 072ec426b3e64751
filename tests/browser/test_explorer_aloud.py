"""The explorer as a screen reader gets it: chromium's own accessibility tree, and the order in which Tab goes.

The tree is what chromium hands to screen readers. What one of them says aloud is not tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from browser.test_explorer_in_browser import DESKTOP, READY, written
from carrylens.explorer.page import explorer_page
from explorer.subjects import SHAPES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CONTROLS = {"button", "textbox", "combobox", "slider", "checkbox", "link", "grid", "table", "region", "dialog"}


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    opened = browser.new_page(viewport=DESKTOP)
    opened.goto(written(tmp_path_factory.mktemp("aloud"), explorer_page(SHAPES["planted"]())))
    opened.wait_for_selector(READY)
    yield opened
    opened.close()


def tree(page: Page) -> list[dict[str, Any]]:
    """What is not hidden: role, name and properties of each element."""
    inside = page.context.new_cdp_session(page)
    inside.send("Accessibility.enable")
    nodes = inside.send("Accessibility.getFullAXTree")["nodes"]
    return [
        {
            "role": node["role"]["value"],
            "name": node.get("name", {}).get("value", ""),
            **{each["name"]: each["value"].get("value") for each in node.get("properties", [])},
        }
        for node in nodes
        if not node.get("ignored")
    ]


def unnamed(page: Page) -> list[dict[str, Any]]:
    return [each for each in tree(page) if each["role"] in CONTROLS and not each["name"].strip()]


def test_every_control_has_a_role_and_a_name(page: Page) -> None:
    page.locator("[data-node]").nth(3).click()
    page.get_by_role("button", name="Ablate: mean", exact=True).click()
    assert unnamed(page) == []
    roles = {each["role"] for each in tree(page)}
    assert roles >= {"main", "heading", "grid", "row", "gridcell", "rowheader", "columnheader", "table", "status"}
    page.evaluate("document.querySelector('#question').labels[0].remove()")
    assert [each["role"] for each in unnamed(page)] == ["textbox"], "a control that lost its name is seen"
    page.reload()
    page.wait_for_selector(READY)


def test_what_changes_is_announced(page: Page) -> None:
    live = [each for each in tree(page) if each.get("live") in ("polite", "assertive")]
    assert "status" in {each["role"] for each in live}
    assert page.locator(".sentence").get_attribute("aria-live") == "polite"
    page.locator("#question").fill("?")
    page.keyboard.press("Enter")
    alerts = [each for each in tree(page) if each["role"] == "alert"]
    assert alerts, "what is wrong with a question is announced at once"
    assert page.locator("#question").get_attribute("aria-describedby") == "question-error"


def test_tab_goes_down_the_page_and_the_board_is_one_stop(page: Page) -> None:
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.closest('section')?.id ?? ''"))
        if stops[-1] == "hunt":
            break
    sections = list(dict.fromkeys(stop for stop in stops if stop in ("ask", "watch", "touch", "hunt")))
    assert sections == ["ask", "watch", "touch", "hunt"]
    assert page.locator("[data-node][tabindex='0']").count() == 1
