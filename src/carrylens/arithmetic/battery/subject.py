"""Subjects: what an experiment is done on, and with how much evidence.

Takes  a model, its operation, its node map where there is one.
Gives  `Subject`, and `Settings`: counts and seeds for every experiment.
Never  changes the model.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property, partial

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import answer_positions, encode, place_names, place_position
from carrylens.discovery.node_map import NodeMap, Nodes
from carrylens.interventions.engine import Engine
from carrylens.model.answer_pass import answer_logits
from carrylens.model.pieces import in_pieces
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes

Watch = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""


@dataclass(frozen=True)
class Settings:
    """How much evidence is gathered: `n_pairs` for each cell of an experiment, `n_questions` where whole questions are
    asked, `n_reference` for means, `n_draws` random sets or shuffles, `n_train` for what is fitted.
    """

    quick: bool = False
    n_pairs: int = 128
    n_questions: int = 512
    n_reference: int = 512
    n_draws: int = 40
    n_train: int = 1024
    seed: int = 0

    @classmethod
    def chosen(cls, seed: int = 0, *, quick: bool = False) -> Settings:
        """The full form, or the quick one."""
        return cls(True, 40, 192, 256, 10, 512, seed) if quick else cls(seed=seed)

    def seed_of(self, *words: object) -> int:
        """A seed of its own for every use, the same each time.

        >>> Settings().seed_of("probes", "train") == Settings().seed_of("probes", "test")
        False
        """
        return zlib.crc32(" ".join(map(str, (*words, self.seed))).encode())

    def plain(self) -> dict[str, object]:
        """The settings as plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Inserted:
    """The addition model that a mixed one began as; `late` if it took the last layers and heads, not the first.

    `scratch` is a mixed model of the same shape that was trained from scratch, where one is known.
    """

    name: str
    model: Transformer
    late: bool = False
    scratch: Subject | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """A model and what is known about it. `map` is None where it has not been mapped, `inserted` where none was."""

    name: str
    model: Transformer
    operation: Operation
    map: NodeMap | None = None
    inserted: Inserted | None = None

    @cached_property
    def engine(self) -> Engine:
        """What runs edits on the model."""
        return Engine(self.model)

    @property
    def digits(self) -> int:
        """How many digits the operands have."""
        return digits_of(self.model.config)

    @property
    def last_layer(self) -> int:
        """The number of the last layer."""
        return self.model.config.n_layers - 1

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node but those of the last position, which nobody reads."""
        config = self.model.config
        return tuple(all_nodes(config.n_ctx - 1, config.n_layers, config.n_heads))

    def nodes_at(self, *positions: int) -> Nodes:
        """All nodes at some positions."""
        return tuple(node for node in self.nodes if node.position in positions)

    def position(self, place: str) -> int:
        """The position of a place, such as D'3."""
        return place_position(place, self.digits)

    def place(self, position: int) -> str:
        """The name of a position."""
        return place_names(self.digits)[position]

    def predicting(self, digit: int) -> int:
        """The position at which digit `digit` of the answer is predicted."""
        return self.position(f"A{digit}") - 1

    def token(self, digit: int) -> int:
        """The place of digit `digit` among the answer's tokens, the sign being 0."""
        return self.digits + 1 - digit

    def right(self, questions: Questions) -> NDArray[np.bool_]:
        """Which questions the model answers right, untouched."""
        tokens = torch.from_numpy(encode(questions, answers(questions))).to(self.model.unembed.W_U.device)
        with torch.inference_mode():
            given = in_pieces(partial(answer_logits, self.model), tokens).argmax(-1)
        first = answer_positions(self.digits).start + 1
        return (given == tokens[:, first:]).all(1).cpu().numpy()
