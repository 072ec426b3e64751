"""Questions as data: every row is right, every format holds the same rows, and a card says how they were drawn."""

import csv
import json
from pathlib import Path

import pytest

from carrylens.arithmetic import Operation, Questions, algorithm, answers
from carrylens.errors import CarryLensError
from carrylens.workflow.question_data import QuestionChoice, question_set


def test_every_answer_is_that_of_plain_integers() -> None:
    for operation in ("add", "sub", "mix"):
        for row in question_set(QuestionChoice(operation, 5, 200)):
            text, value = row["question"], int(row["answer"])
            left, right = (int(part) for part in text.replace("-", "+").split("+"))
            assert value == (left - right if "-" in text else left + right)
            assert len(row["answer"]) == 7


@pytest.mark.parametrize("name", ["S0", "S3", "S5"])
def test_rows_of_a_class_or_a_depth_are_of_it(name: str) -> None:
    assert {row["class"] for row in question_set(QuestionChoice("add", 6, 50, question_class=name))} == {name}
    assert {row["cascade_depth"] for row in question_set(QuestionChoice("add", 6, 50, depth=3))} == {3}
    assert {row["class"] for row in question_set(QuestionChoice("sub", 6, 50, question_class="n2"))} == {"N2"}


def test_a_pair_has_the_answer_of_the_base_under_do() -> None:
    found = question_set(QuestionChoice("add", 3, 30, variable="ST[1]"))
    model, labels = algorithm(Operation.ADD, 3), {"0": 0, "1": 1, "U": 2}
    assert len(found) == 30
    for row in found:
        base = Questions.parse([row["base"]], 3)
        assert answers(base).text() == [row["base_answer"]]
        assert row["base_value"] != row["source_value"]
        under = model.answers(base, do={"ST[1]": labels[row["source_value"]]}).text()
        assert under == [row["counterfactual_answer"]]


def test_every_format_holds_the_same_rows(tmp_path: Path) -> None:
    found = question_set(QuestionChoice("mix", 3, 25, seed=4))
    (lines,), (cells,) = found.save(tmp_path / "q.jsonl"), found.save(tmp_path / "q.csv")
    assert [json.loads(line) for line in lines.read_text().splitlines()] == found.rows()
    with cells.open() as file:
        assert [row["question"] for row in csv.DictReader(file)] == [row["question"] for row in found]
    data, card = found.save(tmp_path / "folder")
    assert data.read_text() == lines.read_text()
    assert f"path: {data.relative_to(tmp_path / 'folder')}" in card.read_text()
    assert found.chosen.command in card.read_text()
    parquet = pytest.importorskip("pyarrow.parquet")
    (table,) = found.save(tmp_path / "q.parquet")
    assert parquet.read_table(table).to_pylist() == found.rows()


def test_the_seed_decides_and_nothing_else() -> None:
    one, same, other = (question_set(QuestionChoice("add", 4, 20, seed=seed)).rows() for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize(
    "chosen",
    [
        QuestionChoice("multiply"),
        QuestionChoice("add", sampler="easy"),
        QuestionChoice("add", question_class="N2"),
        QuestionChoice("add", question_class="S9"),
        QuestionChoice("add", question_class="S2", depth=1),
        QuestionChoice("mix", depth=1),
        QuestionChoice("add", 3, depth=9),
        QuestionChoice("add", variable="QQ[1]"),
        QuestionChoice("add", variable="ST[1]", depth=1),
        QuestionChoice("add", count=0),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(chosen: QuestionChoice) -> None:
    with pytest.raises(CarryLensError) as caught:
        question_set(chosen)
    assert "\n" not in str(caught.value)


def test_a_file_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match="jsonl"):
        question_set(QuestionChoice(count=1)).save(tmp_path / "q.xlsx")
