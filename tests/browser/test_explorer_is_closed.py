"""The explorer in a real browser stops when its data were changed, and runs no text of a model."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from browser.test_explorer_in_browser import READY, press, written
from carrylens.explorer.packed import packed_floats
from carrylens.explorer.page import explorer_page, page_of_data
from carrylens.explorer.page_data import page_data
from explorer.subjects import SHAPES
from explorer.test_explorer_page import PAYLOADS

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def with_a_weight_changed(data: dict[str, Any]) -> dict[str, Any]:
    weights = data["model"]["weights"]
    numbers = np.frombuffer(b64decode(weights["text"]), dtype="<f4").copy()
    numbers[-1] += 0.1  # a bias of the unembedding, which every logit reads
    return {**data, "model": {**data["model"], "weights": {**weights, "text": packed_floats(numbers)}}}


@pytest.mark.parametrize("is_summed", [False, True], ids=["one letter of the file", "one weight, summed up anew"])
def test_a_page_in_which_one_weight_was_changed_stops_in_red(
    browser: Browser, tmp_path: Path, *, is_summed: bool
) -> None:
    explored = SHAPES["brackets"]()
    text = explorer_page(explored)
    at = text.index('"weights":{"kind":"f4","text":"') + 500
    spoiled = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
    if is_summed:
        spoiled = page_of_data({**with_a_weight_changed(page_data(explored)), "shape": ""}, ())
    page = browser.new_page()
    page.goto(written(tmp_path, spoiled))
    page.wait_for_selector("body[data-ready=no]")
    assert page.locator("main").count() == 0
    assert "bad" in str(page.locator("#check").get_attribute("class"))
    page.close()


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_texts_run_nothing(browser: Browser, tmp_path: Path, payload: str) -> None:
    explored = SHAPES["brackets"]()
    claims = {"hypothesis": payload, "verdict": payload, "required": {payload: 1}, payload: {"hits": 1, "n": 2}}
    text = explorer_page(replace(explored, name=payload, claims=claims, sha256=payload))
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(written(tmp_path, text) + "#q=" + payload.replace("#", ""))
    page.wait_for_selector(READY)
    page.mouse.move(200, 60)
    with page.expect_download():
        press(page, "Save picture")
    press(page, "Cite")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#name").text_content() == payload
    assert payload in str(page.locator("#verdict").text_content())
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()


def test_the_policy_stops_a_script_that_got_in(browser: Browser, tmp_path: Path) -> None:
    text = explorer_page(SHAPES["brackets"]())
    inside = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    page = browser.new_page()
    page.goto(written(tmp_path, text.replace("<footer", inside + "<footer")))
    page.wait_for_selector(READY)
    assert page.evaluate("window.hacked") is None
    page.goto(written(tmp_path, re.sub(r"<meta http-equiv[^>]*>", "", text.replace("<footer", inside + "<footer"))))
    assert page.evaluate("window.hacked") == 1, "without the policy it would have run"
    page.close()
