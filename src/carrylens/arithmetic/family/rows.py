"""Rows: a file that lists the models of a family, how each is made, and how far each is to be taken.

Takes  a file in TOML.
Gives  `ModelRow`s, one for each model, with what each waits for.
Never  trains, measures, or looks whether anything is there.

    [defaults]                       # what every row has unless it says otherwise
    steps = ["train", "test", "map", "judge", "battery", "page"]

    [[rows]]
    model = "add_d6_l2_h3_w96_t2K"   # with `seeds`, the name without its seed
    seeds = [1, 2, 3]

    [[rows]]
    model = "ins1_mix_d6_l3_h4_w96_t6K_s1"
    insert = "add_d6_l2_h3_w96_t2K_s1"     # another row, a shipped model, or a folder
    paper = "ins1_mix_d6_l3_h4_t40K_s372001"
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from carrylens.arithmetic.exam_counts import parse_counts
from carrylens.arithmetic.layouts import PAPER_LAYOUT, layout_called
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.populations import PopulationKind
from carrylens.errors import CarryLensError, quote, reason_of
from carrylens.files import read_whole
from carrylens.json_records import Count, Schema

STEP_NAMES = ("train", "test", "map", "settle", "judge", "battery", "page")
"""The steps of the route, in its order."""
PAPER_ROWS = "paper"
"""What is written for the rows of the paper's tables, which come with the package."""
_HERE = Path(__file__).parent
_SHIPPED = {PAPER_ROWS: "paper_rows.toml", "variants": "variant_rows.toml"}
_MOST_ROWS = 10_000
_POPULATIONS = tuple(kind.value for kind in PopulationKind)
_MOST_DOTS = 3_000


class ModelRow(Struct, frozen=True, kw_only=True):
    """One model: how it is made, what it is inserted with, and which steps it is taken through.

    `paper` is the paper's model it stands beside. `folder` is what its folder is called, if not as the model: two rows
    may share a name and differ in where the addition model is put, in how questions are written (`layout`), or in which
    they are (`population`, if not the recipe's). `seed` draws the questions of its map and its experiments. With
    `accurate` a model that surely misses the bar goes no further than its test. With `anew` a shipped model is trained
    again instead of taken as it is.
    """

    model: str
    insert: str | None = None
    paper: str | None = None
    folder: str = ""
    recipe: str = "compact"
    placement: str = "early"
    layout: str = PAPER_LAYOUT
    population: str | None = None
    steps: tuple[str, ...] = STEP_NAMES
    quick: bool = False
    seed: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)] = 0
    questions: Count = 100_000
    per_class: Count = 2_000
    of: tuple[str, ...] = ("natural=400000", "enriched=400000")
    accurate: bool = True
    anew: bool = False

    @property
    def name(self) -> ModelName:
        """Its parsed name."""
        return ModelName.parse(self.model)


class _Defaults(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    recipe: str | None = None
    placement: str | None = None
    layout: str | None = None
    population: str | None = None
    steps: list[str] | None = None
    quick: bool | None = None
    seed: int | None = None
    questions: int | None = None
    per_class: int | None = None
    of: list[str] | None = None
    accurate: bool | None = None
    anew: bool | None = None


class _WrittenRow(_Defaults, frozen=True, forbid_unknown_fields=True, kw_only=True):
    # As people write it: all but the model may be left to the defaults.
    model: str
    seeds: list[int] | None = None
    insert: str | None = None
    paper: str | None = None
    folder: str | None = None


class _WrittenFile(Struct, frozen=True, forbid_unknown_fields=True):
    rows: list[_WrittenRow]
    defaults: _Defaults = _Defaults()


_ADVICE = "See docs/family_run.md for how rows are written."
_WRITTEN = Schema(_WrittenFile, "list of rows", _ADVICE)
_ROW = Schema(ModelRow, "row", _ADVICE)


def read_rows(given: str) -> list[ModelRow]:
    """The rows of a file, of the paper's tables for `paper`, or of what it tried besides for `variants`.

    >>> [row.model for row in read_rows("paper") if row.name.digits == 7]
    ['add_d7_l2_h3_w96_t3K_s1', 'mix_d7_l3_h4_w96_t5K_s1', 'ins1_mix_d7_l3_h4_w96_t6K_s1']
    """
    path = _HERE / _SHIPPED[given] if given in _SHIPPED else Path(given)
    if not path.is_file():
        some = " or ".join(_SHIPPED)
        raise CarryLensError(f"{quote(given)} is not a file of rows. Write one (docs/family_run.md), or {some}.")
    return parse_rows(read_whole(path), str(path))


def parse_rows(content: bytes, source: str) -> list[ModelRow]:
    """The rows that the text of a file holds; an error calls it `source`."""
    if (
        sum(line.count(b".") ** 2 for line in content.splitlines()) > _MOST_DOTS**2
    ):  # a key of n parts takes n * n steps
        raise CarryLensError(f"{source} has lines with more dots than any row needs. {_ADVICE}")
    try:
        plain = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CarryLensError(f"{source} is not valid TOML: {reason_of(error)}. {_ADVICE}") from error
    written = _WRITTEN.convert(plain, source)
    usual = {name: value for name, value in asdict(written.defaults).items() if value is not None}
    rows = [row for each in written.rows for row in _expanded(each, usual, source)]
    _check(rows, source)
    return rows


def rows_called(rows: Sequence[ModelRow], texts: Sequence[str]) -> list[ModelRow]:
    """The rows whose folder contains one of the texts, with those they wait for; all of them without a text."""
    called = [row for row in rows if not texts or any(text in row.folder for text in texts)]
    if not called:
        raise CarryLensError(f"No row has {quote(texts[0])} in its name. Write --only with a part of one.")
    needed = [other for row in called if (other := waits_for(row, rows)) is not None]
    wanted = {row.folder for row in (*called, *needed)}
    return [row for row in rows if row.folder in wanted]


def waits_for(row: ModelRow, rows: Sequence[ModelRow]) -> ModelRow | None:
    """The row whose model is put into this one, if it is among the rows."""
    if row.insert is None:
        return None
    return next((other for other in rows if row.insert == other.folder), None)


def _expanded(written: _WrittenRow, usual: dict[str, object], source: str) -> Iterator[ModelRow]:
    said = {name: value for name, value in asdict(written).items() if value is not None}
    seeds = said.pop("seeds", None)
    if seeds is not None and len(seeds) > _MOST_ROWS:
        raise CarryLensError(f"{source} has {len(seeds)} seeds of {quote(written.model)}. Write fewer. {_ADVICE}")
    names = [written.model] if seeds is None else [f"{written.model}_s{seed}" for seed in seeds]
    if written.folder is not None and len(names) > 1:
        raise CarryLensError(f"{source} gives {len(names)} seeds one folder. Write a row for each. {_ADVICE}")
    for name in names:
        row = _ROW.convert({**usual, **said, "model": name}, f"{source}, the row of {name}")
        yield row if row.folder else replace(row, folder=row.model)


def _check(rows: Sequence[ModelRow], source: str) -> None:
    if not 1 <= len(rows) <= _MOST_ROWS:
        raise CarryLensError(f"{source} has {len(rows)} rows. Write 1 to {_MOST_ROWS:,}. {_ADVICE}")
    seen: set[str] = set()
    for row in rows:
        if row.folder in seen:
            raise CarryLensError(f"{source} has two rows of {row.folder}. Give one of them another `folder`.")
        seen.add(row.folder)
        _check_row(row, rows, source)


def _check_row(row: ModelRow, rows: Sequence[ModelRow], source: str) -> None:
    name, about = row.name, f"{source}, the row of {row.folder},"
    if Path(row.folder).name != row.folder or row.folder.startswith("."):
        raise CarryLensError(f"{about} has the folder {quote(row.folder)}. Write a name without / or a leading point.")
    if bool(name.insertion) != (row.insert is not None):
        raise CarryLensError(f"{about} has `insert` without an ins name, or the other way round. Change one.")
    if unknown := [step for step in row.steps if step not in STEP_NAMES]:
        raise CarryLensError(f"{about} has no such step: {quote(unknown[0])}. Write {', '.join(STEP_NAMES)}.")
    if list(row.steps) != [step for step in STEP_NAMES if step in row.steps] or not row.steps:
        raise CarryLensError(f"{about} has its steps in another order than the route's: {', '.join(STEP_NAMES)}.")
    layout_called(row.layout, name.digits)
    if row.population is not None and row.population not in _POPULATIONS:
        raise CarryLensError(
            f"{about} has the population {quote(row.population)}. Write one of {', '.join(_POPULATIONS)}."
        )
    if row.paper is not None:
        ModelName.parse(row.paper)
    try:
        parse_counts(row.of)
    except CarryLensError as error:
        raise CarryLensError(f"{about} has a wrong count in `of`. {error}") from error
    inserted = waits_for(row, rows)
    if inserted is not None and inserted.name.operation.value != "add":
        raise CarryLensError(f"{about} inserts {inserted.folder}, which is not an addition model. Insert one that is.")
