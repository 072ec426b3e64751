"""Damaged files: one clear line from every reader and from every command, never a traceback, a hang or a belief.

A few of each kind; `make torture` runs hundreds.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from carrylens.arithmetic.battery.battery_file import read_battery
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.published_map import behaviors_json, read_published
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.exam_record import read_test
from carrylens.arithmetic.zoo.sources import SHIPPED
from carrylens.claims.records import read_claims
from carrylens.discovery.node_map import NodeMap
from carrylens.discovery.worked_example_record import read_worked
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import FACT_SCHEMA
from carrylens.model.config import read_config
from carrylens.training.history import read_history
from carrylens.workflow.judging import judge_usual
from torture.bench import Bench
from torture.corruption import FORGOTTEN, READERS, Tally, attack, corrupt
from torture.damage import crafted, drawn

FOLDER = SHIPPED / "add_d5_l1_h3_w96_t5K_s1"
MAP = NodeMap.from_json((FOLDER / "map.json").read_bytes(), find_task)
FACTS = b'{"about": {"nodes": "P9L0H1"}, "effect": {"hits": 1, "n": 2}, "kind": "swap", "null": {"hits": 0, "n": 2}}\n'
WORKED = (
    b'{"model": "m", "sha256": null, "questions": [{"question": "1+1=", "given": "1+1", "answer": "+02", '
    b'"right": "+02", "tokens": [{"place": "A1", "token": "0", "p": 0.5}], "swaps": []}]}'
)


def history_lines(count: int) -> bytes:
    return b"".join((FOLDER / "training.jsonl").read_bytes().splitlines(keepends=True)[:count])


Read = Callable[[bytes], object]
KINDS: dict[str, tuple[Callable[[], bytes], Read]] = {
    "map": (lambda: (FOLDER / "map.json").read_bytes(), lambda content: NodeMap.from_json(content, find_task)),
    "claims": (lambda: judge_usual(MAP).to_json().encode(), lambda content: read_claims(content, "it")),
    "test": (lambda: (FOLDER / "test.json").read_bytes(), lambda content: read_test(content, "it")),
    "history": (lambda: history_lines(20), lambda content: read_history(content, "it")),
    "battery": (lambda: (FOLDER / "battery.json").read_bytes(), lambda content: read_battery(content, "it")),
    "config": (lambda: (FOLDER / "config.json").read_bytes(), lambda content: read_config(content, "it")),
    "facts": (lambda: FACTS, lambda content: FACT_SCHEMA.decode_lines(content, "it")),
    "worked": (lambda: WORKED, lambda content: read_worked(content, "it")),
    "truth": (lambda: plant(describe(Operation.ADD, 2)).truth.to_json().encode(), Truth.from_json),
    "published": (lambda: behaviors_json(MAP).encode(), lambda content: read_published(5, content)),
}


def refusal(read: Read, content: bytes) -> str:
    try:
        read(content)
    except CarryLensError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_as_it_is_or_refused_with_one_line(kind: str) -> None:
    make, read = KINDS[kind]
    content, random_ = make(), random.Random(kind)
    read(content)
    refused = 0
    for what, damaged in [*crafted(content, random_, 60), *drawn(content, random_, 20)]:
        said = refusal(read, damaged)
        refused += bool(said)
        assert "\n" not in said, what
        assert len(said) < 1500, what
    assert refused > 40, "most damage is seen"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("torture"))


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_commands_refuse_damaged_files(bench: Bench, name: str) -> None:
    tally = corrupt(bench, [name], n_random=15, n_crafted=35)[name]
    assert tally.wrong == []
    assert tally.refused > 20 or name in FORGOTTEN


@pytest.mark.slow
def test_a_changed_file_is_believed_by_nobody(bench: Bench) -> None:
    content = bench.whole[bench.path_of("test.json")]
    edited = content.replace(b'"meets_bar": false', b'"meets_bar": true')
    assert edited != content
    for resealed in (False, True):  # with a seal that fits, the counts still tell
        tally = Tally()
        assert attack(bench, "test.json", ("meets the bar", edited), resealed=resealed, tally=tally)
        assert tally.wrong == []


def test_damage_is_damage() -> None:
    content = (FOLDER / "config.json").read_bytes()
    forms = [damaged for _, damaged in [*crafted(content, random.Random(0), 60), *drawn(content, random.Random(0), 60)]]
    assert len(set(forms)) > 90


def test_a_traceback_would_be_seen(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr("carrylens.workflow.judging.read_map", broken)
    tally, whole = Tally(), ("nothing", bench.whole[bench.path_of("map.json")])
    attack(bench, "map.json", whole, resealed=True, tally=tally)
    assert any("planted" in each for each in tally.wrong)
    tally = Tally()
    attack(bench, "map.json", whole, resealed=False, tally=tally)
    assert any("believed" in each for each in tally.wrong), "as a reader that does not look at seals would do"
