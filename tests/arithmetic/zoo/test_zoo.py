"""Models by name, their cards, and their exams."""

import json
import re
from pathlib import Path

import pytest
import torch

import carrylens as cl
from carrylens.arithmetic import Operation
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width, digits_of
from carrylens.arithmetic.training_plans import plan_for
from carrylens.arithmetic.zoo.cards import model_card
from carrylens.arithmetic.zoo.exam_record import meets_bar
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.model_facts import model_name, saved_test
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.errors import CarryLensError
from carrylens.folders import check_sealed
from carrylens.model import Transformer, save_model
from carrylens.model.weights import hash_of
from carrylens.training.exam_results import PartResult
from carrylens.training.run import start, train
from command_line import run_here

NAME = "mix_d2_l1_h3_w24_t40_s1"


class Quiet:
    def note(self, *_: object) -> None:
        pass

    def stop_wanted(self) -> bool:
        return False


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "anything"
    train(start(plan_for(ModelName.parse(NAME)), place, torch.device("cpu")), Quiet(), 1e9)
    return place


def test_a_folder_loads_by_its_path(folder: Path) -> None:
    assert digits_of(cl.load(str(folder)).config) == 2


def test_a_trained_folder_knows_its_name_whatever_it_is_called(folder: Path) -> None:
    assert str(model_name(folder)) == NAME


def test_a_folder_without_history_goes_by_its_own_name(tmp_path: Path) -> None:
    place = tmp_path / "sub_d3_l1_h3_w24_t1K_s1"
    save_model(Transformer(config_of_width(3, 1, 3, width=24)), place)
    assert model_name(place).operation is Operation.SUB
    place.rename(tmp_path / "mine")
    with pytest.raises(CarryLensError, match="mine.*add_"):
        model_name(tmp_path / "mine")


def test_a_published_repository_goes_by_the_name_in_it() -> None:
    assert model_name("hf:PhilipQuirke/QuantaMaths_add_d6_l2_h3_t15K_s372001").digits == 6


def test_an_unknown_name_says_what_to_write() -> None:
    with pytest.raises(CarryLensError, match="'nonesuch'.*hf:owner/name"):
        find_model("nonesuch")


def test_an_exam_can_be_stopped_and_gone_on_with(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrylens.training.exam.CHUNK", 200)
    straight = Exam.start(str(folder), 500, 0, "cpu")
    list(straight.sit())
    stopped = Exam.start(str(folder), 500, 0, "cpu")
    next(stopped.sit())
    assert 0 < stopped.asked < stopped.total
    stopped.keep()
    again = Exam.start(str(folder), 500, 0, "cpu")
    assert again.asked == stopped.asked
    list(again.sit())
    assert again.done
    assert again.record() == straight.record()
    other = Exam.start(str(folder), 501, 0, "cpu")
    assert other.asked == 0, "another exam starts at its beginning"
    again.forget()
    assert Exam.start(str(folder), 500, 0, "cpu").asked == 0


def test_a_saved_exam_is_sealed_with_the_model_and_shown_on_its_card(folder: Path) -> None:
    before = hash_of(cl.load(str(folder)))
    exam = Exam.start(str(folder), 200, 20, "cpu")
    list(exam.sit())
    exam.save()
    assert set(check_sealed(folder)) == {"README.md", "config.json", "model.safetensors", "test.json", "training.jsonl"}
    assert saved_test(folder) == json.loads(json.dumps(exam.record()))
    card = (folder / "README.md").read_text()
    assert f"carrylens train {NAME}" in card
    natural = next(result for result in exam.results if result.name == "natural" and result.label == "sub")
    assert f"| natural | sub | 200 | {natural.failed} |" in card
    assert hash_of(cl.load(str(folder))) == before


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([("natural", 10**6, 9), ("enriched", 10**6, 9)], True),
        ([("natural", 10**6, 10), ("enriched", 10**6, 0)], False),
        ([("natural", 10**6, 0), ("enriched", 10**6, 10)], False),
        ([("natural", 10**6, 0), ("enriched", 10**6, 0), ("paper", 10**6, 500), ("class S5", 10**4, 9)], True),
        ([("class S5", 10**4, 0)], None),
        ([("natural", 10**5, 0), ("enriched", 10**5, 0)], None),
        ([("natural", 10**5, 0), ("enriched", 10**5, 12)], False),
        ([("natural", 10**5, 1), ("enriched", 10**5, 1)], None),
        ([("natural", 10**7, 99), ("enriched", 10**7, 99)], True),
        ([("natural", 4 * 10**5, 0), ("enriched", 4 * 10**5, 0)], True),  # at most 9.2 per million
        ([("natural", 4 * 10**5, 0), ("enriched", 4 * 10**5, 1)], None),  # at most 13.9
    ],
)
def test_the_bar_is_fewer_than_ten_per_million_natural_and_enriched(
    results: list[tuple[str, int, int]], verdict: bool | None
) -> None:
    assert meets_bar([PartResult(name, "add", asked, failed) for name, asked, failed in results]) is verdict


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_model_is_whole_and_answers(name: str) -> None:
    model = cl.load(name)
    parsed = ModelName.parse(name)
    assert (digits_of(model.config), model.config.n_layers, model.config.d_model) == (
        parsed.digits,
        parsed.n_layers,
        parsed.width,
    )
    test = saved_test(find_model(name))
    assert test is not None
    assert test["sha256"] == hash_of(model)
    assert check_sealed(find_model(name))


@pytest.mark.slow
def test_the_models_command_lists_what_is_shipped() -> None:
    result = run_here("models", "--json")
    assert [json.loads(line)["model"] for line in result.stdout.splitlines()] == shipped_names()


@pytest.mark.slow
def test_test_and_ask_tell_by_their_status_whether_the_model_is_right(folder: Path) -> None:
    test = run_here("test", folder, "--questions", "100", "--per-class", "0", "--json")
    assert test.returncode == 1
    assert json.loads(test.stdout)["meets_bar"] is False
    ask = run_here("ask", folder, "12+34", "--json")
    record = json.loads(ask.stdout)
    assert record["answer"] == cl.load(str(folder)).answer("12+34")
    assert ask.returncode == (0 if record["correct"] else 1)
    assert record["class"] == "S0"


def test_a_question_too_long_for_a_model_is_told_what_the_model_takes(folder: Path) -> None:
    result = run_here("ask", folder, "123+4")
    assert result.returncode == 2
    assert re.fullmatch(r"carrylens: '123\+4' .*\b3\b.*\b2\b.*\n", result.stderr)


def test_a_card_says_when_its_command_no_longer_makes_the_model() -> None:
    old, new = (find_model(name) for name in ("add_d6_l2_h3_w96_t3K_s1", "sub_d6_l2_h3_w96_t5K_s1"))
    assert "batch: 64, now 128" in (Path(str(old)) / "README.md").read_text()
    assert ", now " not in (Path(str(new)) / "README.md").read_text()


@pytest.mark.parametrize("name", shipped_names())
def test_every_card_is_what_its_folder_and_the_recipe_make(name: str) -> None:
    folder = Path(str(find_model(name)))
    made = model_card(ModelName.parse(name), folder, json.loads((folder / "test.json").read_text()))
    assert (folder / "README.md").read_text() == made
