"""Battery folder: where outcomes are kept, whole or not at all, and what need not be done again.

Takes  a folder and outcomes.
Gives  `battery.json` and their facts in `facts.jsonl`, sealed; the outcomes that are there already.
Never  drops a fact that another command wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from carrylens.arithmetic.battery.battery_file import BATTERY, battery_bytes, read_battery
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import card_called
from carrylens.arithmetic.task import find_task
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.evidence.facts import FACT_SCHEMA, FACTS, Fact
from carrylens.folders import add_sealed, is_sealed, read_sealed

_KIND = "battery "


def saved_outcomes(folder: Path, about: Mapping[str, object]) -> list[Outcome]:
    """The outcomes in the folder, if they are of this very model; none if there are none."""
    found, outcomes = saved_battery(folder)
    return outcomes if found == dict(about) else []


def saved_battery(folder: Path) -> tuple[Mapping[str, object], list[Outcome]]:
    """What the outcomes in the folder are of, and they themselves; nothing if there are none."""
    if not is_sealed(folder, BATTERY):
        return {}, []
    about, outcomes = read_battery(read_sealed(folder, BATTERY), str(folder / BATTERY))
    return about, [_with_card(outcome) for outcome in outcomes]


def save_outcomes(folder: Path, about: Mapping[str, object], outcomes: Sequence[Outcome]) -> None:
    """Put the outcomes and their facts into the folder, and seal them with what was sealed there."""
    others = [fact for fact in _facts(folder) if not fact.kind.startswith(_KIND)]
    facts = [*others, *(fact for outcome in outcomes for fact in outcome.facts)]
    contents = {
        BATTERY: battery_bytes(about, outcomes),
        FACTS: "".join(fact.to_json() + "\n" for fact in facts).encode(),
    }
    add_sealed(folder, contents, zipped=(FACTS,))


def saved_map_of_weights(folder: Path, sha256: str) -> NodeMap | None:
    """The node map in the folder, if it is of a model with these weights."""
    if not is_sealed(folder, MAP):
        return None
    found = NodeMap.from_json(read_sealed(folder, MAP), find_task, source=str(folder / MAP))
    return found if found.stimuli.get("sha256") == sha256 else None


def _with_card(outcome: Outcome) -> Outcome:
    # What people read of an experiment is what the code says of it now.
    card = card_called(outcome.card.name)
    return outcome if card is None else replace(outcome, card=card)


def _facts(folder: Path) -> list[Fact]:
    if not is_sealed(folder, FACTS):
        return []
    return FACT_SCHEMA.decode_lines(read_sealed(folder, FACTS), str(folder / FACTS))
