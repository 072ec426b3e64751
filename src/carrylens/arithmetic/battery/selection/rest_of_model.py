"""The rest of the model: what it makes of any state put at one place and level.

Takes  a subject, questions, the place where a digit is predicted, a level of the stream.
Gives  the states there; `RestOfModel`, which reads tokens off any states while all places before stay as they are.
Never  changes what the places before it hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.arithmetic.battery.measures.residual_states import read_hooks
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.tokens import encode
from carrylens.interventions.parts import LayerParts, Parts, by_head

StateMatrix = NDArray[np.float64]
WantedTokens = NDArray[np.int64]
_ROWS = 256


def entering(layer: int) -> str:
    """The level of the stream that enters a layer."""
    return f"blocks.{layer}.hook_resid_pre"


def behind_heads(layer: int) -> str:
    """The level of the stream behind a layer's heads."""
    return f"blocks.{layer}.hook_resid_mid"


def read_level(subject: Subject, questions: Questions, given: Answers, place: int, level: str) -> StateMatrix:
    """The stream at one place and level: axes question, d_model. Questions are read with the answers given."""
    model, found = subject.model, []
    tokens = torch.from_numpy(encode(questions, given))[:, : place + 1].to(model.unembed.W_U.device)
    narrow = level == behind_heads(subject.last_layer)  # the last layer is computed at the place alone
    for chunk in torch.split(tokens, _ROWS):
        with torch.inference_mode():
            _, cache = model.run_with_cache(chunk, [level], positions=[place])
        found.append(cache[level][:, 0 if narrow else place])
    return torch.cat(found).double().cpu().numpy()


@dataclass(frozen=True, eq=False)
class RestOfModel:
    """What a model makes of states at one place from one level on; `past` has for each layer from there on the keys and
    values of all places before, one row for every question.
    """

    parts: Parts
    level: str
    past: tuple[tuple[Tensor, Tensor], ...]

    @classmethod
    def of(cls, subject: Subject, questions: Questions, place: int, level: str) -> RestOfModel:
        """With the places before as they are for the questions, read with their right answers."""
        parts, first = Parts(subject.model), _reading_from(level)
        layers = range(first, subject.last_layer + 1)
        streams = read_hooks(subject.model, questions, range(place), [entering(layer) for layer in layers])
        past = []
        for layer, stream in zip(layers, streams, strict=True):
            part = parts.layers[layer]
            read = part.norm_in(torch.from_numpy(stream).to(parts.device, parts.dtype))
            past.append((by_head(part.keys(read)).detach(), by_head(part.values(read)).detach()))
        return cls(parts, level, tuple(past))

    def tokens(self, states: StateMatrix, rows: NDArray[np.int64] | None = None) -> WantedTokens:
        """The token predicted from each state; `rows` says whose past each has, where not one after the other."""
        given = torch.from_numpy(states).to(self.parts.device, self.parts.dtype)
        with torch.inference_mode():
            rest = self if rows is None else self[torch.from_numpy(rows)]
            return rest.logits(given).argmax(-1).cpu().numpy()

    def __getitem__(self, rows: Tensor) -> RestOfModel:
        return RestOfModel(self.parts, self.level, tuple((keys[rows], values[rows]) for keys, values in self.past))

    def logits(self, states: Tensor) -> Tensor:
        """The scores of each token: axes question, vocab."""
        stream, layers = states[:, None], self.parts.layers
        if self.level.endswith("mid"):
            part = layers[_reading_from(self.level) - 1]
            stream = stream + part.think(part.norm_mid(stream))
        for part, past in zip(layers[len(layers) - len(self.past) :], self.past, strict=True):
            stream = stream + part.write(_attend(part, part.norm_in(stream), *past))
            stream = stream + part.think(part.norm_mid(stream))
        return self.parts.logits(stream)[:, 0]


def _attend(part: LayerParts, read: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    # What the heads bring home to one place from those before it and from itself; the former are never copied.
    query, own, value = part.queries(read)[:, 0], part.keys(read)[:, 0], part.values(read)[:, 0]
    before = (keys @ query[..., None])[..., 0]
    pattern = (torch.cat([before, (query * own).sum(-1, keepdim=True)], -1) * query.shape[-1] ** -0.5).softmax(-1)
    return ((pattern[:, :, None, :-1] @ values)[:, :, 0] + pattern[..., -1:] * value)[:, None]


def _reading_from(level: str) -> int:
    # The first layer whose heads still read after this level.
    _, layer, hook = level.split(".")
    return int(layer) + hook.endswith("mid")
