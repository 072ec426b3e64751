"""Config: the shape of one model, and nothing else about it.

Takes  digits, layers, heads, a width and a seed, or the text of a `config.json`.
Gives  `ModelConfig`, a frozen record that becomes JSON and comes back equal.
Never  holds a weight, a path or a training setting.
"""

import json
from dataclasses import asdict, dataclass, fields
from typing import ClassVar, Self

from carrylens.arithmetic.layout import sequence_length
from carrylens.arithmetic.model_names import PUBLISHED_WIDTH
from carrylens.errors import CarryLensError

HEADS_PER_WIDTH = 3
MLP_RATIO = 4


@dataclass(frozen=True)
class ModelConfig:
    """The shape of a model: seven whole numbers, from which everything else follows.

    >>> config = ModelConfig.of_width(digits=6, n_layers=2, n_heads=3, width=96)
    >>> config.d_head, config.d_mlp, config.n_ctx
    (32, 384, 22)
    """

    digits: int
    n_layers: int
    n_heads: int
    d_model: int
    d_head: int
    d_mlp: int
    seed: int = 0

    d_vocab: ClassVar[int] = 15
    eps: ClassVar[float] = 1e-5
    act_fn: ClassVar[str] = "relu"

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name == "seed" else 1
            if type(value) is not int or value < least:
                raise CarryLensError(f"{field.name} is {value!r}. Give a whole number of at least {least}.")

    @property
    def n_ctx(self) -> int:
        """The number of tokens in a question and its answer: two operands, operator, `=`, sign and n+1 digits."""
        return sequence_length(self.digits)

    @property
    def init_range(self) -> float:
        """The standard deviation of the weights before training, as published."""
        return 0.8 / float(self.d_model) ** 0.5

    @classmethod
    def of_width(cls, digits: int, n_layers: int, n_heads: int, width: int = PUBLISHED_WIDTH, seed: int = 0) -> Self:
        """The published proportions at any width: heads a third as wide as the model, however many there are.

        So four heads are together wider than the model, and a head fits into every model of its width.

        >>> ModelConfig.of_width(6, 3, 4).d_head * 4
        680
        """
        if type(width) is not int or width < HEADS_PER_WIDTH:
            raise CarryLensError(f"A width of {width!r} leaves no room for a head. Give {HEADS_PER_WIDTH} or more.")
        return cls(digits, n_layers, n_heads, width, width // HEADS_PER_WIDTH, MLP_RATIO * width, seed)

    def to_json(self) -> str:
        """The text of a `config.json`: the seven numbers, and for the reader's comfort what follows from them.

        >>> config = ModelConfig.of_width(6, 2, 3, width=96)
        >>> ModelConfig.from_json(config.to_json()) == config
        True
        """
        return json.dumps(asdict(self) | self._derived(), indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "config.json") -> Self:
        """The config that `text` states; `source` is what an error calls it."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise CarryLensError(f"{source} is not JSON ({error}). Restore the file that was saved.") from error
        if not isinstance(given, dict):
            raise CarryLensError(f'{source} holds no fields. Give a JSON object such as {{"digits": 6, ...}}.')
        wanted = {field.name for field in fields(cls)}
        if missing := wanted - given.keys():
            raise CarryLensError(f"{source} lacks {_listed(missing)}. Add what is missing.")
        try:
            config = cls(**{name: given[name] for name in wanted})
        except CarryLensError as error:
            raise CarryLensError(f"In {source}, {error}") from error
        config._check_rest({name: value for name, value in given.items() if name not in wanted}, source)
        return config

    def _derived(self) -> dict[str, object]:
        names = ("d_vocab", "n_ctx", "eps", "act_fn", "init_range")
        return {name: getattr(self, name) for name in names}

    def _check_rest(self, given: dict[str, object], source: str) -> None:
        # A derived field may be left out, but one that disagrees would describe another model than the one loaded.
        derived = self._derived()
        if unknown := given.keys() - derived.keys():
            raise CarryLensError(f"{source} has {_listed(unknown)}, which no model config has. Remove it.")
        for name, value in given.items():
            if value != derived[name]:
                raise CarryLensError(f"{source} says {name} is {value!r}. For this shape it is {derived[name]!r}.")


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))
