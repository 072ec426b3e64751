"""The page in a real browser: it loads from disk, alone, and the map can be used by mouse and keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from carrylens.report.page.comparison import comparison_page
from carrylens.report.page.saved import read_saved

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def address(explained: tuple[Path, str]) -> str:
    return (explained[0] / "report.html").as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    opened = browser.new_page(viewport=DESKTOP)
    opened.goto(address)
    yield opened
    opened.close()


def chosen(page: Page) -> list[str]:
    """The nodes whose evidence is to be seen."""
    return [each.get_attribute("id") or "" for each in page.locator(".evidence article:visible").all()]


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('href') || document.activeElement.id"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_loads_alone_and_without_complaint(
    browser: Browser, address: str, size: ViewportSize, scheme: str
) -> None:
    page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert "left-to-right add" in page.locator("h1").inner_text()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"], "nothing but tables and pictures scrolls sideways"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 26)"}[scheme]
    page.close()


def test_a_complaint_would_be_heard(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text("<script>nothing()</script><img src='http://127.0.0.1:9/x.png'>")
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "bad.html").as_uri())
    assert said
    assert len(asked) == 2
    page.close()


def test_a_click_on_a_cell_shows_its_evidence_and_only_its(page: Page) -> None:
    assert chosen(page) == []
    cells = page.locator("table.grid a.useful")
    for at in (0, 3):
        name = (cells.nth(at).get_attribute("href") or "").removeprefix("#")
        cells.nth(at).click()
        assert chosen(page) == [name]
        assert "null" in page.locator(f"[id='{name}']").inner_text()
    page.go_back()
    assert len(chosen(page)) == 1


def test_the_map_is_used_with_the_keyboard(page: Page) -> None:
    page.locator("table.grid a[tabindex='0']").focus()
    start = focused(page)
    page.keyboard.press("ArrowRight")
    right = focused(page)
    page.keyboard.press("ArrowDown")
    down = focused(page)
    assert len({start, right, down}) == 3
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert focused(page) == start
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".evidence article:target")
    (name,) = chosen(page)
    assert focused(page) == name, "the evidence is read next"
    page.keyboard.press("Escape")
    assert focused(page) == f"#{name}", "and Escape leads back to the cell"


def test_the_map_is_one_stop_for_tab(page: Page) -> None:
    assert page.locator("table.grid a[tabindex='0']").count() == 1


def test_a_role_leads_to_the_questions_it_was_measured_on(page: Page) -> None:
    page.locator("#all-roles > summary").click()
    link = page.locator("#all-roles a.plain").first
    name = (link.get_attribute("href") or "").removeprefix("#")
    link.click()
    pairs = page.locator(f"[id='{name}'] pre").first
    pairs.wait_for(state="visible")
    assert len(pairs.inner_text().splitlines()) >= 24


def test_without_script_the_evidence_is_still_there(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.locator("table.grid a.useful").first.click()
    assert page.locator(".evidence article:visible").count() == 1
    context.close()


def test_every_figure_and_table_has_text(page: Page) -> None:
    for drawing in page.locator("svg").all():
        names = (drawing.get_attribute("aria-labelledby") or "").split()
        assert names
        assert all(page.locator(f"[id='{name}']").text_content() for name in names)
    for scroller in page.locator("div.scroll[tabindex]").all():
        assert scroller.get_attribute("aria-label")


def test_printed_it_is_light_and_shows_every_claim(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport=DESKTOP, color_scheme="dark")
    page.goto(address)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#claims li").first.is_visible()
    assert not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not page.locator("#claims li").first.is_visible()
    page.close()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_comparison_loads_alone_too(
    browser: Browser, explained: tuple[Path, str], tmp_path: Path, size: ViewportSize
) -> None:
    saved = read_saved(str(explained[0]), explained[0], None)
    (tmp_path / "comparison.html").write_text(comparison_page([saved, saved]))
    page = browser.new_page(viewport=size)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    page.goto((tmp_path / "comparison.html").as_uri())
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.locator("svg.circuit").count() == 2
    page.close()


def test_the_contents_follow_and_name_the_part_that_is_read(page: Page) -> None:
    page.locator("#claims h2").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('claims').scrollIntoView()")
    page.locator("nav a[aria-current][href='#claims']").wait_for()
    assert page.locator("nav").bounding_box()["y"] == pytest.approx(0, abs=1)  # type: ignore[index]
    page.locator("nav a").last.click()  # its section is too short to come to the top
    page.locator("nav li:last-child a[aria-current]").wait_for()
    page.locator("nav a[href='#claims']").click()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")  # the address still names the claims
    page.locator("nav li:last-child a[aria-current]").wait_for()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_link_of_the_contents_shows_the_heading_it_leads_to(
    browser: Browser, address: str, size: ViewportSize
) -> None:
    page = browser.new_page(viewport=size, reduced_motion="reduce")
    page.goto(address)
    for part in ("circuit", "claims"):
        page.locator(f"nav a[href='#{part}']").click()
        link = page.locator(f"nav a[aria-current][href='#{part}']")
        link.wait_for()
        contents, heading, named = (
            each.bounding_box() for each in (page.locator("nav"), page.locator(f"#{part} h2"), link)
        )
        assert contents is not None
        assert heading is not None
        assert named is not None
        assert contents["y"] + contents["height"] <= heading["y"], "the contents do not cover it"
        assert contents["height"] < size["height"] / 7
        assert 0 <= named["x"] <= named["x"] + named["width"] <= size["width"], "nor is the part's name out of sight"
    page.close()


def test_a_search_leaves_the_claims_and_marks_the_nodes_that_fit(page: Page) -> None:
    every = page.locator("#claims li[id]").count()
    page.fill("#find", "ST")
    shown = page.locator("#claims li[id]:visible").count()
    assert 0 < shown < every
    assert page.locator("table.grid a.found").count() > 0
    page.fill("#find", "")
    assert page.locator("table.grid a.found").count() == 0
    assert page.locator("#claims li[id][hidden]").count() == 0


def test_a_claim_has_a_link_of_its_own_which_opens_its_group(page: Page, address: str) -> None:
    link = page.locator("#claims li[id] > .permalink").first.get_attribute("href")
    assert link is not None
    page.goto("about:blank")
    page.goto(address + link)
    page.wait_for_selector("#claims li[id]:visible")


def test_a_table_is_downloaded_from_the_page_itself(page: Page) -> None:
    with page.expect_download() as waiting:
        page.locator("button[data-name=roles]").click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert len(lines) == page.locator("#all-roles tbody tr").count() + 1


def test_a_box_of_the_circuit_leads_to_its_evidence(page: Page) -> None:
    page.locator("svg.circuit a").first.click(force=True)
    assert len(chosen(page)) == 1
