"""Measurements: what the paper's claims need and no experiment has, as records that are kept.

Takes  counts.
Gives  `Measurement`; the file in which they come with the package, read and written.
Never  imports torch, and never gives what was made from other weights, or in another form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from carrylens.arithmetic.paper.saved_models import ModelRecord
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.files import read_whole
from carrylens.json_records import Count, PositiveCount, Schema, to_text

MEASURED = Path(__file__).parent / "measured.json"
"""What comes with the package, made by `carrylens paper --measure`."""


class LabelledRate(Struct, frozen=True):
    """A count of hits among different stimuli, and that of its matched null where there is one."""

    label: str
    hit: Rate
    null: Rate = Rate(0, 0)


class Measurement(Struct, frozen=True):
    """What one measurement found about one model; `form` counts how often what it measures has changed."""

    name: str
    model: str
    sha256: str
    form: PositiveCount
    settings: dict[str, Count]
    rates: tuple[LabelledRate, ...]

    def __post_init__(self) -> None:
        labels = [each.label for each in self.rates]
        if len(set(labels)) != len(labels):
            raise CarryLensError(f"{self.name} of {self.model} has two rates of one name")

    def rate(self, label: str) -> LabelledRate | None:
        """The rate of that name."""
        return next((each for each in self.rates if each.label == label), None)

    def beginning(self, start: str) -> Iterator[LabelledRate]:
        """The rates whose names begin so."""
        return (each for each in self.rates if each.label.startswith(start))


class PaperFile(Struct, frozen=True):
    """The whole of the file: measurements, and models whose weights do not ship."""

    measurements: tuple[Measurement, ...] = ()
    models: tuple[ModelRecord, ...] = ()

    def of_weights(self, weights: Mapping[str, str]) -> list[Measurement]:
        """The measurements that were made from these weights, given by the model's name."""
        return [each for each in self.measurements if weights.get(each.model) == each.sha256]

    def to_bytes(self) -> bytes:
        """The file's content, a line for each record."""
        parts = {"measurements": self.measurements, "models": self.models}
        lines = [f'"{name}": [\n' + ",\n".join(map(to_text, some)) + "\n]" for name, some in parts.items()]
        return ("{" + ",\n".join(lines) + "}\n").encode()


_SCHEMA = Schema(PaperFile, "file of measurements", "Make it again: carrylens paper --measure FILE.")


def read_paper_file(path: Path = MEASURED) -> PaperFile:
    """What the file holds; nothing if it is not there."""
    return _SCHEMA.decode(read_whole(path), str(path)) if path.is_file() else PaperFile()
