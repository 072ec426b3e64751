"""Config: the shape of one model, and nothing else about it.

Takes  the sizes of a transformer, what it reads where, and a seed; or the text of a `config.json`.
Gives  `ModelConfig`, a frozen record that becomes JSON and comes back equal.
Never  holds a weight, a path or a training setting, and never knows what the tokens mean.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from carrylens.errors import CarryLensError

ACT_FNS = ("relu", "gelu", "gelu_new", "gelu_fast")
"""TransformerLens's names: GELU is exact, the other two are its tanh form."""
NORMALIZATIONS = ("LN", "LNPre", "none")
"""LayerNorm; LayerNorm without gain and bias, as TransformerLens leaves it when it folds them away; none at all."""

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
    def init_range(self) -> float:
        """The standard deviation of the weights before training, as published."""
        return 0.8 / float(self.d_model) ** 0.5

    def to_json(self) -> str:
        """The text of a `config.json`: all fields, and for the reader's comfort what follows from them.

        >>> config = ModelConfig(1, 1, 4, 4, 0, n_ctx=3, d_vocab=5, d_vocab_out=2, reads=range(2, 3))
        >>> ModelConfig.from_json(config.to_json()) == config
        True
        """
        plain = asdict(self) | {"reads": [self.reads.start, self.reads.stop]}
        return json.dumps(plain | {"init_range": self.init_range}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "config.json") -> Self:
        """The config that `text` states; `source` is what an error calls it."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise CarryLensError(f"{source} is not JSON ({error}). Restore the file that was saved.") from error
        if not isinstance(given, dict):
            raise CarryLensError(f'{source} holds no fields. Give a JSON object such as {{"n_layers": 2, ...}}.')
        try:
            return cls._from_first_version(given) if "digits" in given else cls._from_fields(given)
        except _UnfitError as error:
            raise CarryLensError(f"{source} {error}") from error
        except CarryLensError as error:
            raise CarryLensError(f"In {source}, {error}") from error

    @classmethod
    def _from_fields(cls, given: Mapping[str, Any]) -> Self:
        wanted = [field.name for field in fields(cls)]
        _check_names(given, wanted, {"init_range"})
        config = cls(**{name: _range(given[name]) if name == "reads" else given[name] for name in wanted})
        _check_agrees(given, {"init_range": config.init_range})
        return config

    @classmethod
    def _from_first_version(cls, given: Mapping[str, Any]) -> Self:
        # Version one knew one layout only and saved the number of digits, from which all of this follows.
        wanted = ["digits", "n_layers", "n_heads", "d_model", "d_head", "d_mlp", "seed"]
        _check_names(given, wanted, {"d_vocab", "n_ctx", "eps", "act_fn", "init_range"})
        digits = given["digits"]
        if type(digits) is not int or digits < 1:
            raise CarryLensError(f"digits is {digits!r}. Give a whole number of at least 1.")
        sizes = {name: given[name] for name in wanted[1:]}
        n_ctx, reads = first_layout(digits)
        config = cls(**sizes, n_ctx=n_ctx, d_vocab=15, d_vocab_out=15, reads=reads)
        if not config.has_mlp:
            raise CarryLensError("d_mlp is 0. Give a whole number of at least 1.")
        _check_agrees(given, {"init_range": config.init_range, **asdict(config)})
        return config


def first_layout(digits: int) -> tuple[int, range]:
    """How many positions the published models and those of version one have for so many digits, and which are read.

    >>> first_layout(6)
    (22, range(13, 21))
    """
    return 3 * digits + 4, range(2 * digits + 1, 3 * digits + 3)


class _UnfitError(CarryLensError):
    """Names or values of a file that fit no config; the message goes on from the file's name."""


_SIZES = ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "n_ctx", "d_vocab", "d_vocab_out", "seed")


def _range(given: object) -> Any:
    is_pair = isinstance(given, list) and len(given) == 2 and all(type(end) is int for end in given)
    return range(*given) if is_pair else given  # type: ignore[misc]


def _check_names(given: Mapping[str, Any], wanted: list[str], derived: set[str]) -> None:
    if missing := set(wanted) - given.keys():
        raise _UnfitError(f"lacks {', '.join(sorted(missing))}. Add what is missing.")
    if unknown := given.keys() - derived - set(wanted):
        raise _UnfitError(f"has {', '.join(sorted(unknown))}, which no model config has. Remove it.")


def _check_agrees(given: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
    # A derived field may be left out, but one that disagrees would describe another model than the one loaded.
    for name in given.keys() & derived.keys():
        if given[name] != derived[name]:
            raise _UnfitError(f"says {name} is {given[name]!r}. For this shape it is {derived[name]!r}.")
