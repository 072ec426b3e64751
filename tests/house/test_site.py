"""The documents make a site: every link leads somewhere, and a broken one fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("material")

ROOT = Path(__file__).parents[2]
PARTS = ("docs", "notebooks", ".ci", "README.md", "mkdocs.yml")


def build(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--site-dir", str(root / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment)


@pytest.mark.slow
def test_the_only_broken_link_of_the_site_is_the_one_put_in_here(tmp_path: Path) -> None:
    for name in PARTS:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    page = tmp_path / "docs" / "tutorial.md"
    page.write_text(page.read_text() + "\n[nowhere](nowhere.md)\n")
    built = build(tmp_path)
    said = built.stdout + built.stderr
    assert built.returncode != 0, "a broken link fails"
    wrong = [line for line in said.splitlines() if line.startswith(("WARNING", "ERROR"))]
    assert len(wrong) == 1, said
    assert "nowhere.md" in wrong[0]
    pages = {path.name for path in (tmp_path / "site").rglob("*.html")}
    assert {"index.html", "api.html", "1_first_steps.html", "numbers.html"} <= pages
