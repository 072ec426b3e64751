"""Files that came with models keep loading, count as fresh, and lose nothing when they are written again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from arithmetic.battery.plants import untrained_subject
from carrylens.arithmetic.battery.battery_file import BATTERY, battery_bytes, battery_record
from carrylens.arithmetic.battery.battery_folder import saved_battery
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.fresh_outcomes import is_current, is_fresh
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import EXPERIMENTS, experiments_called
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.task import ArithmeticTask, find_task
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.discovery.node_map import MAP, NodeMap

WITH_BATTERY = [name for name in shipped_names() if (find_model(name) / BATTERY).exists()]
SMALLEST = min(WITH_BATTERY, key=lambda name: (find_model(name) / BATTERY).stat().st_size)


def folder() -> Path:
    return find_model(SMALLEST)


@pytest.mark.parametrize("name", WITH_BATTERY)
def test_every_shipped_outcome_is_of_the_present_form(name: str) -> None:
    given = msgspec.json.decode((find_model(name) / BATTERY).read_bytes())
    names = [each["card"]["name"] for each in given["outcomes"]]
    assert names
    for each in given["outcomes"]:
        (experiment,) = experiments_called(each["card"]["name"])
        assert is_current(Outcome.from_record({**each, "facts": []}), experiment)


def test_a_shipped_file_is_fresh_for_its_map_and_settings_and_for_no_others() -> None:
    _, outcomes = saved_battery(folder())
    found = NodeMap.from_json((folder() / MAP).read_bytes(), find_task)
    assert isinstance(found.task, ArithmeticTask)
    subject = replace(untrained_subject(found.task.operation), map=found)
    for outcome in outcomes:
        (experiment,) = experiments_called(outcome.card.name)
        fields = {key: value for key, value in outcome.settings.items() if key != "map"}
        settings = msgspec.convert(fields, BatterySettings)
        assert is_fresh(outcome, experiment, ExperimentContext(subject, settings)), experiment.name
        assert not is_fresh(outcome, experiment, ExperimentContext(subject, replace(settings, seed=99)))
        assert not is_fresh(replace(outcome, form=2), experiment, ExperimentContext(subject, settings))


def test_a_shipped_file_loses_nothing_when_it_is_written_again() -> None:
    text = (folder() / BATTERY).read_bytes()
    record = battery_record(text)
    outcomes = [Outcome.from_record(each) for each in record["outcomes"]]
    again = battery_record(battery_bytes(record["about"], outcomes))
    assert again == {"about": record["about"], "outcomes": [{**each, "form": 1} for each in record["outcomes"]]}


def test_a_card_comes_from_the_code_whatever_the_file_says() -> None:
    _, outcomes = saved_battery(folder())
    cards = {each.name: each.card for each in EXPERIMENTS}
    assert all(outcome.card == cards[outcome.card.name] for outcome in outcomes)


def test_every_shipped_outcome_answers_every_question_of_its_experiment() -> None:
    _, outcomes = saved_battery(folder())
    for outcome in outcomes:
        (experiment,) = experiments_called(outcome.card.name)
        assert tuple(each.question for each in experiment.findings_of(outcome)) == experiment.questions
