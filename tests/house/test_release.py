"""What a release says of itself: one version, addresses that mislead nobody, every data file in the package."""

from __future__ import annotations

import re
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import carrylens as cl
from house.test_walls import tracked_files

ROOT = Path(__file__).parents[2]
PACKAGE = "src/carrylens/"


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_one_version_everywhere() -> None:
    version = project()["project"]["version"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert version == cl.__version__ == cited[1]
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert all(heading.startswith(version) for heading in headings[1:2]), "the last release is this version"


def test_addresses_are_placeholders_that_lead_nowhere() -> None:
    for name, address in project()["project"]["urls"].items():
        assert re.match(r"https://[a-z.]+\.invalid/", address), name


def test_the_classifiers_name_each_python_that_is_allowed() -> None:
    known = project()["project"]
    named = {
        each.rsplit(" ", 1)[1] for each in known["classifiers"] if each.startswith("Programming Language :: Python")
    }
    assert {"3", "3.11", "3.12", "3.13"} == named
    assert known["requires-python"] == ">=3.11"
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in named


def left_out(files: list[str], patterns: list[str]) -> list[str]:
    """Files of the package that are no code and that no pattern takes in; a `*` does not cross a folder."""
    data = [name.removeprefix(PACKAGE) for name in files if name.startswith(PACKAGE) and not name.endswith(".py")]
    return [name for name in data if not any(_fits(name, pattern) for pattern in patterns)]


def _fits(name: str, pattern: str) -> bool:
    return name.count("/") == pattern.count("/") and fnmatch(name, pattern)


def test_every_data_file_is_in_the_package() -> None:
    patterns = project()["tool"]["setuptools"]["package-data"]["carrylens"]
    assert left_out(sorted(map(str, tracked_files())), patterns) == []
    assert left_out([f"{PACKAGE}report/page/deep/new.css"], patterns) == ["report/page/deep/new.css"], (
        "one left out is seen"
    )
