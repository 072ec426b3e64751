"""Subjects: what an experiment is done on.

Takes  a model, its operation, its node map where there is one.
Gives  `Subject`: the model with its engine, its places and nodes by name, and which questions it answers.
Never  changes the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.tokens import answer_positions, encode, place_names, place_position
from carrylens.discovery.node_map import NodeMap, Nodes
from carrylens.interventions.engine import Engine
from carrylens.model.answer_pass import answer_logits
from carrylens.model.pieces import in_pieces
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes


@dataclass(frozen=True, eq=False)
class InsertedModel:
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
    inserted: InsertedModel | None = None

    @cached_property
    def engine(self) -> Engine:
        """What runs edits on the model."""
        return Engine(self.model, arithmetic_task(self.operation, self.digits))

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
        """Every node but those of the last position, which no later component reads."""
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
