"""The page shows the verdict of a measured alignment, if it is of these weights."""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.zoo.sources import find_source
from carrylens.claims.run_verdict import run_judgement
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.workflow.exploring import explore_source
from explorer.test_explorer_page import ADD, data_of


def test_the_verdict_of_a_measured_alignment_is_on_the_page() -> None:
    source = find_source(ADD)
    assert source.folder is not None
    judged = run_judgement(MeasuredAlignment.from_json((source.folder / ALIGNMENT).read_bytes()))
    verdict = data_of(explore_source(source, [source.folder]).page)["verdict"]
    assert (verdict["hypothesis"], verdict["verdict"]) == (judged.hypothesis, judged.verdict.value)
    assert judged.joint_interchange is not None
    (_, hits, n), *_ = verdict["rates"]
    assert round(hits / n, 4) == judged.joint_interchange.value
    assert len(verdict["carriers"]) == judged.carriers.required
    assert [name for name, _ in verdict["rivals"]] == [each.name for each in judged.rivals]


def test_an_alignment_of_other_weights_is_not_on_the_page(tmp_path: Path) -> None:
    source = find_source(ADD)
    other = find_source(f"{ADD[:-1]}2")
    assert other.folder is not None
    (tmp_path / ALIGNMENT).write_bytes((other.folder / ALIGNMENT).read_bytes())
    assert data_of(explore_source(source, [tmp_path]).page)["verdict"] is None
