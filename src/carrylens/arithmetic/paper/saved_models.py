"""Saved models: what is known of a trained model whether it ships or not.

Takes  its test, how it was trained, the last line of its history.
Gives  `SavedModel`, and its record for models whose weights do not ship.
Never  holds weights: their hash says which they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from carrylens.arithmetic.layouts import PAPER_LAYOUT
from carrylens.arithmetic.model_names import ModelName
from carrylens.json_records import Count

_EARLY = "early"
_USUAL_POPULATION = {"compact": "enriched", "paper": "paper"}  # by recipe


@dataclass(frozen=True)
class SavedModel:
    """What is known of one trained model: its test, how it was trained, the last line of its history."""

    name: ModelName
    test: Mapping[str, Any] | None
    meets_bar: bool | None
    run: Mapping[str, Any]
    last: Mapping[str, Any]
    sha256: str = ""

    def parts(self, name: str) -> list[Mapping[str, Any]]:
        """The parts of its test of that name, one for each operation."""
        return [] if self.test is None else [part for part in self.test["parts"] if part["name"] == name]

    @property
    def is_variant(self) -> bool:
        """Whether it was trained otherwise than its name says: another layout, placement or population."""
        usual = self.run.get("layout", PAPER_LAYOUT) == PAPER_LAYOUT and self.run.get("placement", _EARLY) == _EARLY
        return not usual or self.run.get("stream") != _USUAL_POPULATION.get(str(self.run.get("kind")))


class _Part(Struct, frozen=True):
    name: str
    operation: str
    asked: Count
    failed: Count


class ModelRecord(Struct, frozen=True):
    """A model whose weights do not ship: what its folder said, without the questions that failed."""

    name: str
    sha256: str
    meets_bar: bool | None
    parts: tuple[_Part, ...]
    run: dict[str, Any]
    last: dict[str, Any]

    @classmethod
    def of(cls, model: SavedModel) -> ModelRecord:
        """The record of a model."""
        tested = [] if model.test is None else model.test["parts"]
        parts = tuple(_Part(each["name"], each["operation"], each["asked"], each["failed"]) for each in tested)
        return cls(str(model.name), model.sha256, model.meets_bar, parts, dict(model.run), dict(model.last))

    def model(self) -> SavedModel:
        """The model that it states."""
        parts = [{name: getattr(each, name) for name in _Part.__struct_fields__} for each in self.parts]
        test = {"sha256": self.sha256, "parts": parts} if parts else None
        return SavedModel(ModelName.parse(self.name), test, self.meets_bar, self.run, self.last, self.sha256)
