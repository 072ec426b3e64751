"""The explorer in a real browser: it runs the model as Python does, and is used by mouse, keyboard and touch."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.explorer.challenge import LEVELS, challenge, truth_record
from carrylens.explorer.page import explorer_page
from carrylens.explorer.question_record import chosen_samplers, reference_of
from carrylens.interventions import Engine
from carrylens.workflow.exploring import Explorer, explore_source
from explorer.subjects import SHAPES, shipped
from explorer.test_engine_beside_python import ONE_OF_EACH_SHAPE, as_case, random_edits

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

ADD = "add_d6_l2_h3_w96_t2K_s1"
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
READY = "body[data-ready=yes]"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    source = find_source(ADD)
    path = tmp_path_factory.mktemp("explorer") / "explore.html"
    return explore_source(source, source.analysis_places(None)).save(path).as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    opened = browser.new_page(viewport=DESKTOP)
    opened.goto(address)
    opened.wait_for_selector(READY)
    yield opened
    opened.close()


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "page.html"
    path.write_text(text)
    return path.as_uri()


def sentence(page: Page) -> str:
    return page.locator(".sentence").inner_text()


def press(page: Page, name: str, inside: str = "body") -> None:
    page.locator(inside).get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_explorer_loads_alone_and_without_complaint(
    browser: Browser, address: str, size: ViewportSize, scheme: str
) -> None:
    page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector(READY)
    page.locator("#tint").select_option("breaks")  # makes a worker
    page.wait_for_selector(".cell.node.break")
    assert said == []
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [address]
    assert "Checked" in page.locator("#check").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(253, 253, 252)", "dark": "rgb(20, 23, 26)"}[scheme]
    page.close()


@pytest.mark.parametrize("name", ONE_OF_EACH_SHAPE)
def test_chromium_gives_the_logits_of_the_engine(browser: Browser, tmp_path: Path, name: str) -> None:
    explored, count = shipped(name), 100
    task, sampler = explored.task, next(iter(chosen_samplers(explored.task).values()))
    bases, sources = sampler.draw(21, 0, count), sampler.draw(22, 0, count)
    edits = random_edits(explored, count, 23)
    wanted = Engine(explored.model).run_each(edits, bases, sources, reference=reference_of(task), logits=True)
    page = browser.new_page()
    page.goto(written(tmp_path, explorer_page(explored)))
    page.wait_for_selector(READY)
    cases = [as_case(edit, bases[at], sources[at]) for at, edit in enumerate(edits)]
    found = page.evaluate(
        """(cases) => {
          const { Subject, parseNode } = carrylens, subject = new Subject(JSON.parse(data.textContent));
          const { model, task } = subject, width = model.dVocabOut;
          return cases.map(({ inputs, source, edits }) => {
            const given = edits.map(([name, fill, seed]) => ({ node: parseNode(name), fill, seed }));
            const { pass } = subject.ask(Uint8Array.from(inputs), given, Uint8Array.from(source), { reading: "right" });
            return task.readPositions.map((p) => Array.from(pass.logits.subarray(p * width, (p + 1) * width)));
          });
        }""",
        cases,
    )
    page.close()
    assert wanted.logits is not None
    assert np.abs(np.array(found) - wanted.logits).max() < 1e-3
    assert ((np.array(found).argmax(-1) == wanted.tokens) | wanted.close).all()


def test_a_question_is_asked_and_a_wrong_one_refused(page: Page) -> None:
    page.locator("#question").fill("123456+654321")
    page.keyboard.press("Enter")
    assert "+0777777" in sentence(page)
    page.locator("#question").fill("12-3")
    press(page, "Ask")
    assert page.locator("#question-error").is_visible()
    assert "+0777777" in sentence(page)
    press(page, "Draw", ".ask-draw")
    assert not page.locator("#question-error").is_visible()
    page.locator("#ladder0").focus()
    page.keyboard.press("Home")
    assert page.locator("#question").input_value() == "555555+111118"


def test_an_interchange_stands_beside_what_the_algorithm_predicts(page: Page, address: str) -> None:
    """Two routes: the page's sentence, and Python's causal model under do with Python's engine."""
    nodes = ["P12L0H2", "P12L0H0", "P12L0MLP"]
    page.goto(f"{address}#q=555555%2B444448&s=555555%2B444443&c=ST[0]")
    page.reload()
    page.wait_for_selector(READY)
    for name in nodes:
        page.locator(f"[data-node={name}]").click()
        press(page, "Interchange")
    base, source = Questions.parse(["555555+444448"], 6), Questions.parse(["555555+444443"], 6)
    predicted = algorithm(Operation.ADD, 6).answers(base, do={"ST[0]": 0}).text()[0]
    said = re.findall(r"[+-]\d{7}", sentence(page))
    assert said[0] == predicted
    assert "do(ST[0] := 0)" in sentence(page)
    page.locator(".reading input").check()
    explored = shipped(ADD)
    from carrylens.interventions.edits import Edit, Fill, Replace
    from carrylens.interventions.sites import parse_sites

    outcome = Engine(explored.model).run([Edit((Replace(parse_sites(" ".join(nodes)), Fill.SOURCE),))], base, source)
    assert re.findall(r"[+-]\d{7}", sentence(page))[1] == outcome.texts()[0, 0]


def test_a_node_that_reaches_one_output_is_predicted_to_move_that_one_alone(page: Page, address: str) -> None:
    page.goto(f"{address}#q=555555%2B444448&s=555550%2B444443&e=P16L1H1.i&c=ST[0]")
    page.reload()
    page.wait_for_selector(READY)
    said = re.findall(r"[+-]\d{7}", sentence(page))
    assert said == ["+1090003", "+1090003"], "A4 is read there, and no other output"
    assert "do(ST[0] := 0) for A4" in sentence(page)


def test_edits_stack_up_and_are_undone(page: Page) -> None:
    for name, fill in (("P12L0MLP", "zero"), ("P14L0H0", "mean"), ("P15L1MLP", "resample")):
        page.locator(f"[data-node={name}]").click()
        press(page, f"Ablate: {fill}")
    assert page.locator(".stack li").count() == 3
    broken = sentence(page)
    press(page, "Undo")
    assert page.locator(".stack li").count() == 2
    press(page, "Redo")
    assert sentence(page) == broken
    press(page, "Clear")
    assert "right" in sentence(page)
    page.keyboard.press("Control+z")
    assert page.locator(".stack li").count() == 3


def test_the_board_is_used_with_the_keyboard(page: Page) -> None:
    page.locator(".cell.node[tabindex='0']").focus()
    start = page.evaluate("document.activeElement.dataset.node")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    there = page.evaluate("document.activeElement.dataset.node")
    assert there != start
    page.keyboard.press("Enter")
    assert there in page.locator("#touch h3").first.inner_text()
    page.keyboard.press("z")
    assert page.locator(".stack li").count() == 1
    assert page.evaluate("document.activeElement.dataset.node") == there, "the focus stays where it was"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.node") == start


def test_every_cell_says_what_it_is(page: Page) -> None:
    cells = page.locator("button.cell.node")
    labels = cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")
    assert len(labels) == 116
    assert all(re.match(r"P\d+L\d(H\d|MLP) at \S+\. .", label) for label in labels)
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select")].filter((each) => {
          const isLabelled = each.closest("label") || (each.id && document.querySelector(`label[for=${each.id}]`));
          return !each.textContent.trim() && !each.getAttribute("aria-label") && !isLabelled;
        }).length"""
    )
    assert unnamed == 0


def test_evidence_of_the_map_stands_beside_a_click(page: Page) -> None:
    page.locator("[data-node=P12L0H2]").click()
    told = page.locator("#touch").inner_text()
    assert "null / N" in told
    assert "confidence" in told
    assert "ST[0]" in told


def test_two_hundred_fresh_questions_give_a_rate_with_its_interval(page: Page) -> None:
    page.locator("[data-node=P15L1MLP]").click()
    press(page, "Ablate: mean")
    assert "N = 1" in sentence(page)
    press(page, "Run on 200 fresh questions")
    page.wait_for_selector(".result", timeout=120_000)
    assert re.search(r"\d+ of 200 \(.*95% interval", page.locator(".result").inner_text())
    press(page, "Ablate: mean")
    press(page, "Interchange")
    press(page, "Run on 200 fresh questions")
    page.wait_for_selector("progress")
    press(page, "Stop", "#touch")
    assert page.locator("#touch progress, .result").count() == 0


def test_a_hunt_finds_a_question_and_can_be_stopped(page: Page) -> None:
    page.locator("[data-node=P15L1MLP]").click()
    press(page, "Ablate: zero")
    page.get_by_role("button", name="this edit breaks").click()
    page.wait_for_selector(".found", timeout=60_000)
    press(page, "Show it")
    assert page.locator(".digit.wrong").count() > 0
    page.get_by_role("button", name="gets wrong").click()
    button = page.locator("#hunt").get_by_role("button", name="Stop").element_handle()
    first = page.locator("#hunt").inner_text()
    page.wait_for_function("first => document.querySelector('#hunt').innerText !== first", arg=first)
    assert button is not None
    assert button.evaluate("each => each.isConnected"), "a click is lost if the button is redrawn under it"
    press(page, "Stop", "#hunt")
    assert "none among" in page.locator("#hunt").inner_text()


def test_an_address_holds_the_whole_state(browser: Browser, page: Page) -> None:
    page.locator("#question").fill("999999+1")
    page.keyboard.press("Enter")
    page.locator("#second").fill("5+5")
    press(page, "Set")
    page.locator("[data-node=P12L0MLP]").click()
    press(page, "Interchange")
    page.locator("#cursor").focus()
    page.keyboard.press("ArrowLeft")
    other = browser.new_page(viewport=DESKTOP)
    other.goto(page.url)
    other.wait_for_selector(READY)
    assert other.url == page.url
    for part in (".answers", ".stack", "#touch h3", "#board"):
        assert other.locator(part).first.inner_text() == page.locator(part).first.inner_text()
    other.close()


def test_the_picture_is_an_svg_of_the_present_view(page: Page, tmp_path: Path) -> None:
    page.locator("[data-node=P12L0MLP]").click()
    press(page, "Ablate: mean")
    with page.expect_download() as waiting:
        press(page, "Save picture")
    path = tmp_path / "picture.svg"
    waiting.value.save_as(path)
    texts = [element.text for element in ET.parse(path).iter() if element.tag.endswith("text")]
    assert ADD in texts
    assert any("P12L0MLP ← mean" in str(text) for text in texts)


def test_the_tour_has_six_steps_and_can_be_left(page: Page) -> None:
    press(page, "Guided tour")
    for step in range(6):
        assert f"step {step + 1} of 6" in page.locator("#tour").inner_text().lower()
        press(page, "Next" if step < 5 else "Done", "#tour")
    assert not page.locator("#tour").is_visible()
    assert "do(ST[0] := 0)" in sentence(page)
    press(page, "Guided tour")
    page.keyboard.press("Escape")
    assert not page.locator("#tour").is_visible()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_tour_hides_nothing_that_it_is_about(browser: Browser, address: str, size: ViewportSize) -> None:
    page = browser.new_page(viewport=size)
    page.goto(address)
    page.wait_for_selector(READY)
    press(page, "Guided tour")
    steps = page.evaluate("JSON.parse(data.textContent).tour.map(({ show }) => show)")
    for at, show in enumerate(steps):
        card, about = page.locator("#tour").bounding_box(), page.locator(show).first.bounding_box()
        assert card is not None
        assert about is not None
        assert about["y"] >= 0, show
        assert about["y"] + min(about["height"], 90) <= size["height"], show
        beside = about["x"] >= card["x"] + card["width"] or about["x"] + about["width"] <= card["x"]
        assert beside or about["y"] + min(about["height"], 90) <= card["y"], show
        press(page, "Next" if at + 1 < len(steps) else "Done", "#tour")
    page.close()


def test_a_phone_is_used_by_touch(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(READY)
    page.locator("[data-node=P12L0H2]").tap()
    page.get_by_role("button", name="Interchange", exact=True).tap()
    assert page.locator(".stack li").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_a_challenge_is_scored_by_its_truth(browser: Browser, tmp_path: Path) -> None:
    level = LEVELS[2]
    truth: dict[str, Any] = truth_record(plant(describe(level.operation, level.digits, level.dials)).truth)
    page = browser.new_page(viewport=DESKTOP)
    page.goto(written(tmp_path, explorer_page(challenge(2))))
    page.wait_for_selector(READY)
    decoy = next([node, name] for node, name in truth["decoys"] if [node, name] not in truth["pairs"])
    for node, name in (*truth["pairs"][:2], decoy):
        page.locator(f"[data-node={node}]").click()
        page.locator("#tag-variable").select_option(name)
    address = page.url
    page.reload()
    page.wait_for_selector(READY)
    assert page.url == address, "tags are kept in the address"
    press(page, "Finish and score")
    told = page.locator(".scored")
    told.wait_for()
    counts = re.findall(r"(\d+) of (\d+)", told.inner_text())
    assert counts[:2] == [("2", "3"), ("2", str(len(truth["pairs"])))], "of the tags, and of the true roles"
    assert "a decoy" in told.inner_text()
    told.get_by_text("the predicted answer").first.wait_for(timeout=60_000)
    page.close()


def test_a_notebook_runs_the_page_in_its_frame(browser: Browser, tmp_path: Path) -> None:
    made = Explorer("brackets", explorer_page(SHAPES["brackets"]()))
    page = browser.new_page()
    page.goto(written(tmp_path, f"<!DOCTYPE html><p>{html.escape('a notebook')}</p>{made._repr_html_()}"))
    frame = page.frame_locator("iframe")
    frame.locator(READY).wait_for()
    frame.locator("#tint").select_option("breaks")
    frame.locator(".cell.node.break").first.wait_for(timeout=20_000)
    page.close()
