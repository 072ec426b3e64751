"""The page of the Python API is fresh, and names what is offered."""

from __future__ import annotations

from pathlib import Path

import carrylens.interventions as interventions
from carrylens.report.api_page import api_page

ROOT = Path(__file__).parents[2]


def test_the_api_page_is_fresh() -> None:
    assert (ROOT / "docs" / "api.md").read_text() == api_page()


def test_every_offered_name_is_on_the_page() -> None:
    section = api_page().partition("## `carrylens.interventions`")[2].partition("\n## ")[0]
    assert all(f"**`{name}" in section for name in interventions.__all__)


def test_a_changed_signature_changes_the_page(tmp_path: Path) -> None:
    package = tmp_path / "carrylens"
    (package / "room").mkdir(parents=True)
    (package / "room" / "__init__.py").write_text(
        '"""Room: x."""\n__all__ = ["f"]\ndef f(a: int) -> str:\n    """Words."""\n'
    )
    assert "- **`f(a: int) -> str`** Words." in api_page(package)
