"""Config: the shape of one model, and nothing else about it.

Takes  the sizes of a transformer, what it reads where, and a seed; or the text of a `config.json`.
Gives  `ModelConfig`, a frozen record that becomes JSON and comes back equal.
Never  holds a weight, a path or a training setting, and never knows what the tokens mean.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from carrylens.errors import CarryLensError
from carrylens.json_records import Count, PositiveCount, Schema, to_text

ACT_FNS = ("relu", "gelu", "gelu_new", "gelu_fast")
"""TransformerLens's names: GELU is exact, the other two are its tanh form."""
NORMALIZATIONS = ("LN", "LNPre", "none")
"""LayerNorm; LayerNorm without gain and bias, as TransformerLens leaves it when it folds them away; none at all."""

LONGEST = 1000
"""Digits: more than any layout has."""
_MOST_LAYERS = 100_000
_LEAST = {"d_mlp": 0, "seed": 0, "d_vocab_out": 2}  # of every other size 1


@dataclass(frozen=True)
class ModelConfig:
    """The shape of a model. `d_mlp` is 0 where it has attention only; `reads` are the positions whose logits are read.

    >>> config = ModelConfig(2, 3, 48, 16, 192, n_ctx=14, d_vocab=12, d_vocab_out=12, reads=range(9, 13))
    >>> config.has_mlp, len(config.reads)
    (True, 4)
    """

    n_layers: int
    n_heads: int
    d_model: int
    d_head: int
    d_mlp: int
    n_ctx: int
    d_vocab: int
    d_vocab_out: int
    reads: range
    act_fn: str = "relu"
    normalization: str = "LN"
    eps: float = 1e-5
    seed: int = 0

    def __post_init__(self) -> None:
        for name in _SIZES:
            value, least = getattr(self, name), _LEAST.get(name, 1)
            if type(value) is not int or value < least:
                raise CarryLensError(f"{name} is {value!r}. Give a whole number of at least {least}.")
        reads = self.reads
        if not isinstance(reads, range) or reads.step != 1 or not 0 <= reads.start < reads.stop <= self.n_ctx:
            raise CarryLensError(
                f"reads is {reads!r}. Give a range of neighbouring positions among 0 to {self.n_ctx - 1}."
            )
        for name, value, known in (
            ("act_fn", self.act_fn, ACT_FNS),
            ("normalization", self.normalization, NORMALIZATIONS),
        ):
            if value not in known:
                raise CarryLensError(f"{name} is {value!r}. Give one of {', '.join(known)}.")
        if type(self.eps) is not float or not 0 < self.eps < math.inf:
            raise CarryLensError(f"eps is {self.eps!r}. Give a number above 0, such as 1e-5.")

    @property
    def has_mlp(self) -> bool:
        """Whether a layer has an MLP after its heads."""
        return self.d_mlp > 0

    @property
    def normalization_type(self) -> str | None:
        """The name that TransformerLens has for it: LN, LNPre or None."""
        return None if self.normalization == "none" else self.normalization

    @property
    def init_range(self) -> float:
        """The standard deviation of the weights before training, as published."""
        return 0.8 / float(self.d_model) ** 0.5

    def to_json(self) -> str:
        """The text of a `config.json`: all fields, and for the reader's comfort what follows from them.

        >>> config = ModelConfig(1, 1, 4, 4, 0, n_ctx=3, d_vocab=5, d_vocab_out=2, reads=range(2, 3))
        >>> ModelConfig.from_json(config.to_json()) == config
        True
        """
        return to_text(ConfigRecord.of(self), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "config.json") -> ModelConfig:
        """The config that `text` states; `source` is what an error calls it."""
        return read_config(text, source)[0]


def check_memory(config: ModelConfig) -> None:
    """Raise a clear error if the weights of such a model are more than this machine's memory."""
    heads, width = config.n_heads * config.d_head, config.d_model
    layer = 4 * width * heads + 2 * width * config.d_mlp
    n_weights = config.n_layers * layer + width * (config.d_vocab + config.n_ctx + config.d_vocab_out)
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # a system that does not say
        return
    if 4 * n_weights > memory or config.n_layers > _MOST_LAYERS:
        raise CarryLensError(
            f"A model of {config.n_layers:,} layers, {config.n_heads:,} heads and width {width:,} has {n_weights:,} "
            f"weights, more than the memory of this machine ({memory >> 20:,} MiB) holds. Give a smaller one."
        )


class ConfigRecord(Struct, kw_only=True):
    """The whole of `config.json`: the shape, what follows from it for the reader's comfort, and the model's task."""

    n_layers: PositiveCount
    n_heads: PositiveCount
    d_model: PositiveCount
    d_head: PositiveCount
    d_mlp: Count
    n_ctx: PositiveCount
    d_vocab: PositiveCount
    d_vocab_out: PositiveCount
    reads: tuple[Count, Count]
    act_fn: str
    normalization: str
    eps: float
    seed: Count
    init_range: float | UnsetType = UNSET
    task: dict[str, Any] | UnsetType = UNSET

    @classmethod
    def of(cls, config: ModelConfig, task: Mapping[str, Any] | None = None) -> ConfigRecord:
        """The record of a config, and of a task where it says something."""
        sizes = {name: getattr(config, name) for name in _NAMES if name != "reads"}
        reads = (config.reads.start, config.reads.stop)
        return cls(**sizes, reads=reads, init_range=config.init_range, task=dict(task) if task else UNSET)

    def config(self) -> ModelConfig:
        """The config that it states."""
        config = ModelConfig(
            **{name: getattr(self, name) for name in _NAMES if name != "reads"}, reads=range(*self.reads)
        )
        _check_agrees(self, {"init_range": config.init_range})
        return config


class FirstConfigRecord(Struct, kw_only=True):
    """A `config.json` of version one, which knew one layout only: all else follows from the number of digits."""

    digits: Annotated[int, Meta(ge=1, le=LONGEST)]
    n_layers: PositiveCount
    n_heads: PositiveCount
    d_model: PositiveCount
    d_head: PositiveCount
    d_mlp: PositiveCount
    seed: Count
    d_vocab: int | UnsetType = UNSET
    n_ctx: int | UnsetType = UNSET
    eps: float | UnsetType = UNSET
    act_fn: str | UnsetType = UNSET
    init_range: float | UnsetType = UNSET

    def config(self) -> ModelConfig:
        """The config that it states."""
        sizes = {name: getattr(self, name) for name in ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "seed")}
        n_ctx, reads = first_layout(self.digits)
        config = ModelConfig(**sizes, n_ctx=n_ctx, d_vocab=15, d_vocab_out=15, reads=reads)
        _check_agrees(
            self, {name: getattr(config, name) for name in ("d_vocab", "n_ctx", "eps", "act_fn", "init_range")}
        )
        return config


_ADVICE = "Restore the file that was saved."
_PLAIN = Schema(dict[str, Any], "model config", _ADVICE)
_FORMS = (Schema(ConfigRecord, "model config", _ADVICE), Schema(FirstConfigRecord, "model config", _ADVICE))
_NAMES = tuple(field.name for field in fields(ModelConfig))


def read_config(text: str | bytes, source: str) -> tuple[ModelConfig, ConfigRecord | FirstConfigRecord]:
    """The config in a file, and all that the file says."""
    given = _PLAIN.decode(text, source)
    form = _FORMS["digits" in given]
    record = form.convert(given, source)
    with form.refusing(source):
        return record.config(), record


def first_layout(digits: int) -> tuple[int, range]:
    """How many positions the published models and those of version one have for so many digits, and which are read.

    >>> first_layout(6)
    (22, range(13, 21))
    """
    return 3 * digits + 4, range(2 * digits + 1, 3 * digits + 3)


_SIZES = ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "n_ctx", "d_vocab", "d_vocab_out", "seed")


def _check_agrees(given: ConfigRecord | FirstConfigRecord, derived: Mapping[str, Any]) -> None:
    # A derived field may be left out, but one that disagrees would describe another model than the one loaded.
    for name, value in derived.items():
        if (said := getattr(given, name)) is not UNSET and said != value:
            raise CarryLensError(f"{name} is {said!r}, but for this shape it is {value!r}")
