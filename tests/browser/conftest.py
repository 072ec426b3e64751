"""A real browser for every test of this folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium, driven by Playwright; the test is skipped where one of them is missing."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="No Playwright, so no page was opened. Write pip install playwright."
    )
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("No chromium, so no page was opened. Write apt-get install chromium.")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
