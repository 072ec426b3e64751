"""Every line of the page for people who come from TransformerLens runs as it is written."""

import re
from pathlib import Path

import pytest
import torch

import carrylens as cl
from carrylens.arithmetic import Operation, Population, PopulationKind
from carrylens.interventions import Engine, interchange
from carrylens.model import Transformer

PAGE = Path(__file__).parents[1] / "docs" / "from_transformerlens.md"
HEAD = "| you write there | you write here |"


def lines() -> list[str]:
    """The code of the second column; a cell without code is none to run."""
    table = PAGE.read_text().split(HEAD)[1].split("\n\n")[0]
    cells = [line.split(" | ")[1] for line in table.splitlines()[2:]]
    return [found[0] for cell in cells if (found := re.findall(r"`(.+)`", cell))]


@pytest.fixture(scope="module")
def model() -> Transformer:
    return cl.load("add_d6_l2_h3_w96_t2K_s1")


@pytest.mark.parametrize("line", lines())
def test_a_line_of_the_table_runs(
    line: str, model: Transformer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save(model.state_dict(), "my.pt")
    drawn = Population(PopulationKind.ENRICHED, Operation.ADD, 6)
    names = {"cl": cl, "model": model, "Engine": Engine, "interchange": interchange}
    names |= {"questions": drawn.draw(1, 0, 4), "sources": drawn.draw(2, 0, 4)}
    assert eval(line, names) is not None


def test_all_but_one_line_of_the_table_has_code() -> None:
    assert len(lines()) >= 16
