"""Documents name what is there, and each rule would see a lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from house.documents import broken_links, missing_hops, missing_paths, unnamed_modules
from house.test_walls import DOCUMENTS, tracked_files

ROOT = Path(__file__).parents[2]


def test_every_path_of_the_architecture_exists() -> None:
    assert missing_paths((ROOT / "ARCHITECTURE.md").read_text(), tracked_files()) == []


@pytest.mark.parametrize(
    "lie",
    [
        "see `tasks/gone.py`",
        "see `gone.py`",
        "see `attic/`",
        "see `docs/gone.md`",
        "| `tasks/` | `variables.py`, `engine.py` |",
        "| `model/` | `config.py`, and in `formats/` `gpt3.py` |",
    ],
)
def test_a_path_that_is_not_there_is_seen(lie: str) -> None:
    assert len(missing_paths(lie, tracked_files())) == 1


def test_every_module_has_its_place_in_the_architecture() -> None:
    package = ROOT / "src" / "carrylens"
    modules = [str(path.relative_to(package)) for path in package.rglob("[a-z]*.py")]
    assert unnamed_modules((ROOT / "ARCHITECTURE.md").read_text(), modules) == []


def test_a_module_without_a_place_is_seen() -> None:
    text = "`files.py`\n| `a/` | `one.py`, `inside/`, `*_rows.py` |\n| `a/b/` | `two.py` |"
    there = ["files.py", "a/one.py", "a/inside/any.py", "a/its_rows.py", "a/b/two.py"]
    assert unnamed_modules(text, there) == []
    lost = ["lines.py", "a/two.py", "a/outside/one.py", "a/b/one.py"]
    assert unnamed_modules(text, [*there, *lost]) == lost[:2] + lost[3:], "`one.py` may stand in a folder"


def test_every_function_of_the_route_is_where_the_architecture_says() -> None:
    text, package = (ROOT / "ARCHITECTURE.md").read_text(), ROOT / "src" / "carrylens"
    assert missing_hops(text, package) == []
    lie = text.replace(
        "| `explain_source` | `workflow/explaining.py` |", "| `explain_all` | `workflow/explaining.py` |"
    )
    assert missing_hops(lie, package) == ["explain_all in `workflow/explaining.py`"]
    assert missing_hops("| 1 | `find_source` | `cli/gone.py` | x |", package) != []


def test_paths_that_are_there_are_let_through() -> None:
    text = "`tasks/task.py`, `docs/`, `Makefile`\n| `model/` | `config.py`, and in `formats/` `gpt2.py` |"
    assert missing_paths(text, tracked_files()) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    assert broken_links(document, ROOT) == []


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[here](page.md), [there](gone.md), [part](page.md#part), [web](https://example.org)")
    assert broken_links(page, tmp_path) == ["gone.md"]
