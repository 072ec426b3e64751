"""Edits: what is replaced by what, as values.

Takes  names of nodes, residual states and receivers, numbers.
Gives  `Edit`: frozen, hashable, printable, JSON in and out; edits are put together with `+`.
Never  holds a tensor, and never knows a model or a question.

An edit is one or more changes. Where a change takes a value from another question, it names a slot: the questions for
slot 0, 1, ... are given when the edit is run, so one edit serves any number of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct

from carrylens.errors import CarryLensError, quote
from carrylens.interventions.sites import Receiver, Site, parse_receivers, parse_sites, print_sites
from carrylens.json_records import Schema, to_text

Sites = str | Iterable[str | Site]
Vector = tuple[float, ...]
SlotNumber = Annotated[int, Meta(ge=0)]
_Choice = TypeVar("_Choice", bound=Enum)


class Fill(Enum):
    """What an ablated node writes instead."""

    ZERO = "zero"
    MEAN = "mean"
    """Its mean over the reference questions, at its own layer and position."""
    CLASS_MEAN = "class-mean"
    """The same over the reference questions of the question's own class."""
    RESAMPLE = "resample"
    """What it writes for one of the reference questions, another than its own, drawn by the seed."""
    SOURCE = "source"
    """What it writes for the source question in a slot."""


class Norm(Enum):
    """How a receiver's LayerNorm treats a write that reaches it alone."""

    RECOMPUTED = "recomputed"
    FROZEN = "frozen"
    """The scale stays that of the clean pass: an approximation, linear in the write."""


@dataclass(frozen=True)
class Replace:
    """Each site's write goes the `share` of the way to the fill's, within `basis` where one is given."""

    sites: tuple[Site, ...]
    fill: Fill
    source: int = 0
    seed: int = 0
    share: float = 1.0
    basis: tuple[Vector, ...] = ()

    def __str__(self) -> str:
        """What is done where, in a few words."""
        of = {Fill.SOURCE: f"source {self.source}", Fill.RESAMPLE: f"resample {self.seed}"}
        way = "" if self.share == 1 else f"{self.share:g} of the way to "
        within = f" in {len(self.basis)} dimensions" if self.basis else ""
        return f"{print_sites(self.sites)} <- {way}{of.get(self.fill, self.fill.value)}{within}"


@dataclass(frozen=True)
class KeepOnly:
    """Every node but these is ablated."""

    nodes: tuple[Site, ...]
    fill: Fill
    seed: int = 0

    def __str__(self) -> str:
        """What is kept, in a few words."""
        whom = f"all but {print_sites(self.nodes)}" if self.nodes else "all"
        return f"{whom} <- {self.fill.value}" + (f" {self.seed}" if self.fill is Fill.RESAMPLE else "")


@dataclass(frozen=True)
class Add:
    """`amount` times a direction of the residual stream is added to each site's write."""

    sites: tuple[Site, ...]
    direction: Vector
    amount: float

    def __str__(self) -> str:
        """What is added where, in a few words."""
        return f"{print_sites(self.sites)} += {self.amount:g} of a direction"


@dataclass(frozen=True)
class DifferencePatch:
    """Each site moves by what it holds for the question in slot `source` less what it holds for that in `less`."""

    sites: tuple[Site, ...]
    source: int = 0
    less: int = 1

    def __str__(self) -> str:
        """What is moved and how far, in a few words."""
        return f"{print_sites(self.sites)} += source {self.source} less source {self.less}"


@dataclass(frozen=True)
class Edge:
    """The receivers alone read the senders' writes as they are for the source question, or go a share of the way."""

    senders: tuple[Site, ...]
    receivers: tuple[Receiver, ...]
    source: int = 0
    share: float = 1.0
    norm: Norm = Norm.RECOMPUTED

    def __str__(self) -> str:
        """Who sends what to whom, in a few words."""
        way = "" if self.share == 1 else f"{self.share:g} of "
        frozen = ", norm frozen" if self.norm is Norm.FROZEN else ""
        return f"{way}{print_sites(self.senders)} of source {self.source} -> {print_sites(self.receivers)}{frozen}"


Change = Replace | KeepOnly | Add | DifferencePatch | Edge


def slots_of(change: Change) -> tuple[int, ...]:
    """The slots the change takes values from."""
    if isinstance(change, DifferencePatch):
        return (change.source, change.less)
    if isinstance(change, Edge) or (isinstance(change, Replace) and change.fill is Fill.SOURCE):
        return (change.source,)
    return ()


@dataclass(frozen=True)
class Edit:
    """One or more changes made together.

    >>> edit = interchange("P9L0H1 + P9L0MLP") + ablate("P10L0H1", "mean")
    >>> print(edit)
    P9L0H1 + P9L0MLP <- source 0; P10L0H1 <- mean
    >>> Edit.from_json(edit.to_json()) == edit
    True
    """

    changes: tuple[Change, ...]

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Edit], tuple[tuple[Change, ...]]]:
        return Edit, (self.changes,)  # another process has other hashes

    @cached_property
    def _hash(self) -> int:
        return hash(self.changes)

    def __add__(self, other: Edit) -> Edit:
        return Edit(self.changes + other.changes)

    def __str__(self) -> str:
        """The changes in a few words."""
        return "; ".join(map(str, self.changes))

    def to_json(self) -> str:
        """The edit as JSON, the same text for equal edits."""
        return to_text([_record(change) for change in self.changes])

    @classmethod
    def from_json(cls, text: str | bytes) -> Edit:
        """The edit that `to_json` wrote."""
        records = _SCHEMA.decode(text, "This")
        with _SCHEMA.refusing("This"):
            return cls(tuple(record.change() for record in records))


def ablate(sites: Sites, fill: Fill | str = Fill.MEAN, seed: int = 0) -> Edit:
    """The sites write zero, their mean, the mean of the question's class, or what they write for another question."""
    return Edit((Replace(parse_sites(sites), _ablation(fill), seed=_slot(seed)),))


def keep_only(nodes: Sites, fill: Fill | str = Fill.MEAN, seed: int = 0) -> Edit:
    """Every node outside the set is ablated."""
    return Edit((KeepOnly(parse_sites(nodes), _ablation(fill), _slot(seed)),))


def interchange(sites: Sites, source: int = 0) -> Edit:
    """The sites take what they hold for the source question: nodes their writes, residual states the whole stream."""
    return Edit((Replace(parse_sites(sites), Fill.SOURCE, _slot(source)),))


def patch_difference(sites: Sites, source: int = 0, less: int = 1) -> Edit:
    """The sites move as far as they do from one other question, in slot `less`, to another, in slot `source`."""
    return Edit((DifferencePatch(parse_sites(sites), _slot(source), _slot(less)),))


def interpolate(sites: Sites, share: float, source: int = 0) -> Edit:
    """The sites go a share of the way, 0 to 1 or beyond, to what they hold for the source question."""
    return Edit((Replace(parse_sites(sites), Fill.SOURCE, _slot(source), share=_number(share)),))


def project(sites: Sites, basis: Iterable[Iterable[float]], source: int = 0) -> Edit:
    """Within the span of the basis the sites take what they write for the source question; the rest stays."""
    vectors = tuple(tuple(map(_number, vector)) for vector in basis)
    if not vectors:
        raise CarryLensError("The basis has no vectors. Give at least one vector of the model's width.")
    return Edit((Replace(parse_sites(sites), Fill.SOURCE, _slot(source), basis=vectors),))


def add_direction(sites: Sites, direction: Iterable[float], amount: float = 1.0) -> Edit:
    """`amount` times the direction is added to what the sites write."""
    return Edit((Add(parse_sites(sites), tuple(map(_number, direction)), _number(amount)),))


def edge(
    senders: Sites,
    receivers: str | Iterable[str | Receiver],
    source: int = 0,
    share: float = 1.0,
    norm: Norm | str = Norm.RECOMPUTED,
) -> Edit:
    """The receivers alone read the senders as they are for the source question; all other readers are as before.

    What a receiver then writes goes on to everything after it.
    """
    way = (_slot(source), _number(share), _choice(Norm, norm))
    return Edit((Edge(parse_sites(senders), parse_receivers(receivers), *way),))


def _ablation(fill: Fill | str) -> Fill:
    chosen = _choice(Fill, fill)
    if chosen is Fill.SOURCE:
        raise CarryLensError(
            "An ablation has no source question. Write interchange, or fill with zero, mean or resample."
        )
    return chosen


def _choice(choices: type[_Choice], given: _Choice | str) -> _Choice:
    try:
        return choices(given)
    except ValueError:
        names = ", ".join(str(choice.value) for choice in choices)
        raise CarryLensError(f"{quote(str(given))} is no {choices.__name__.lower()}. Write one of {names}.") from None


def _number(given: object) -> float:
    # Real takes NumPy's numbers in too. Adding 0.0 turns -0.0 into 0.0: equal numbers are to make equal texts.
    try:
        number = float(given) + 0.0 if isinstance(given, Real) and not isinstance(given, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise CarryLensError(f"{quote(str(given))} is not a number that an edit can use. Give a finite one.")
    return number


def _slot(given: object) -> int:
    if type(given) is not int or not 0 <= given < 2**63:
        raise CarryLensError(
            f"{quote(str(given))} is neither a slot nor a seed. Give a whole number from 0 to 2^63 - 1."
        )
    return given


class _ChangeText(Struct, tag_field="change"):
    # A change as text has it. Its fields are those of the change; places stand by their names.
    def change(self) -> Change:
        return _CHANGES[type(self)](**{name: _read(name, getattr(self, name)) for name in self.__struct_fields__})


class _ReplaceText(_ChangeText, tag="replace"):
    sites: list[str]
    fill: Fill
    source: SlotNumber = 0
    seed: SlotNumber = 0
    share: float = 1.0
    basis: list[list[float]] = []


class _KeepOnlyText(_ChangeText, tag="keep-only"):
    nodes: list[str]
    fill: Fill
    seed: SlotNumber = 0


class _AddText(_ChangeText, tag="add"):
    sites: list[str]
    direction: list[float]
    amount: float


class _DifferencePatchText(_ChangeText, tag="shift"):
    sites: list[str]
    source: SlotNumber = 0
    less: SlotNumber = 1


class _EdgeText(_ChangeText, tag="edge"):
    senders: list[str]
    receivers: list[str]
    source: SlotNumber = 0
    share: float = 1.0
    norm: Norm = Norm.RECOMPUTED


_CHANGES: dict[type[_ChangeText], type[Change]] = {
    _ReplaceText: Replace,
    _KeepOnlyText: KeepOnly,
    _AddText: Add,
    _DifferencePatchText: DifferencePatch,
    _EdgeText: Edge,
}
_TEXTS = {change: text for text, change in _CHANGES.items()}
_SCHEMA = Schema(
    list[_ReplaceText | _KeepOnlyText | _AddText | _DifferencePatchText | _EdgeText],
    "edit",
    "Write what Edit.to_json writes.",
)


def _record(change: Change) -> _ChangeText:
    places = {"sites", "nodes", "senders", "receivers"}
    given = {field.name: getattr(change, field.name) for field in fields(change)}
    return _TEXTS[type(change)](**{name: list(map(str, v)) if name in places else v for name, v in given.items()})


def _read(name: str, given: Any) -> Any:
    if name in ("sites", "nodes", "senders"):
        return parse_sites(given)
    if name == "receivers":
        return parse_receivers(given)
    if name == "basis":
        return tuple(tuple(map(_number, vector)) for vector in given)
    if name == "direction":
        return tuple(map(_number, given))
    return _number(given) if isinstance(given, float) else given
