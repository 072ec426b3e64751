"""Assembling: from a sketch to the weights of an ordinary transformer.

Takes  a `Sketch`, the number of digits, a basis for the residual stream and how much noise to add.
Gives  a `Transformer` in float32 that does what the sketch says.
Never  trains, and never knows what a direction means.

1. Every direction gets a coordinate. A balancing coordinate takes minus the sum of all others, so that every vector
   has mean 0 and LayerNorm's centring changes nothing.
2. A large constant vector makes every vector about equally long, so that LayerNorm's scale hardly varies; what is left
   of it cancels wherever a threshold is compared.
3. A rotation that leaves the mean alone may turn the whole basis.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carrylens.arithmetic.model_shapes import HEADS_PER_WIDTH, MLP_RATIO, config_of_width
from carrylens.arithmetic.planted.sketch import DIGIT, MINUS, ONE, HeadSketch, Neuron, Reading, Sketch, out, pos
from carrylens.arithmetic.tokens import VOCABULARY
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer
from carrylens.model.weights import model_from_weights

CONFIDENCE = 20.0
"""A vote's weight in the logits."""

EVEN = "even"
_TOKEN = (DIGIT, MINUS, EVEN)
_USUAL = 6.0  # the squared length of what a token and a position write besides the constant vector
_ANCHORS = 2  # the constant vector's coordinates
_SPARE = _ANCHORS + 1  # and the balancing one
_LEAN = 0.7  # how long what a superposed direction shares with others is, beside its own 1
_NOISE_DIRECTIONS = 6
_EPS = ModelConfig.eps


@dataclass(frozen=True)
class Finish:
    """How the weights are finished: which heads only make noise, whether the basis is turned, and the seed of both.

    `superposed` directions are not orthogonal to one another; each is read by what is orthogonal to all the others.
    """

    noise_heads: tuple[int, ...] = ()
    rotated: bool = False
    superposed: bool = False
    seed: int = 0
    width: int | None = None


class Basis:
    """Coordinates for directions: how each is written into the residual stream and read from it."""

    def __init__(
        self, names: list[str], width: int, rotation: Tensor | None, anchor: float, mixing: Tensor | None = None
    ) -> None:
        self.width, self.anchor = width, anchor
        self._index = {name: place for place, name in enumerate(names)}
        self._rotation = rotation
        self._written = torch.eye(len(names), dtype=torch.float64) if mixing is None else mixing
        self._read = torch.linalg.inv(self._written).T

    def write(self, reading: Reading) -> Tensor:
        """The vector that writes these directions."""
        vector = torch.zeros(self.width, dtype=torch.float64)
        for name, weight in reading.items():
            if name == ONE:
                vector[-1] += self.anchor * weight
                vector[-2] -= self.anchor * weight
            else:
                own = weight * self._written[:, self._index[name]]
                vector[: len(own)] += own
                vector[-3] -= own.sum()
        return vector if self._rotation is None else self._rotation @ vector

    def read(self, reading: Reading) -> Tensor:
        """The vector whose product with a normalised residual reads these directions."""
        vector = torch.zeros(self.width, dtype=torch.float64)
        for name, weight in reading.items():
            if name == ONE:
                vector[-1] += weight / self.anchor
            else:
                vector[: len(self._index)] += weight * self._read[:, self._index[name]]
        vector -= vector.mean()  # the stream has mean 0 but for rounding, which this does not read
        turned = vector if self._rotation is None else self._rotation @ vector
        return turned * ((2.0 * self.anchor**2 + _USUAL) / self.width + _EPS) ** 0.5


def assemble(sketch: Sketch, digits: int, finish: Finish) -> Transformer:
    """The model that the sketch describes."""
    noise = [f"noise {i}" for i in range(_NOISE_DIRECTIONS)] if finish.noise_heads else []
    config = _config(sketch, digits, finish, len(noise))
    names = dict.fromkeys([*_TOKEN, *map(pos, range(config.n_ctx)), *map(out, range(12)), *sketch.directions()])
    generator = torch.Generator().manual_seed(finish.seed)
    n_kept = _ANCHORS if sketch.fine or finish.superposed else 0  # the constant vector's rounding would be read, too
    rotation = _rotation(config.d_model, generator, n_kept) if finish.rotated else None
    mixing = _mixing(list(names), noise, generator) if finish.superposed else None
    basis = Basis([*names, *noise], config.d_model, rotation, sketch.anchor, mixing)
    state = {
        name: torch.zeros_like(value, dtype=torch.float64) for name, value in Transformer(config).state_dict().items()
    }
    for name in state:
        if name.endswith((".w",)):
            state[name].fill_(1.0)
    _embed(state, basis, sketch, config)
    for (layer, number), head in sketch.heads.items():
        _head(state, basis, layer, number, head, config)
    for layer, neurons in enumerate(sketch.neurons):
        _mlp(state, basis, layer, neurons)
    for token in range(12):
        state["unembed.W_U"][:, token] = CONFIDENCE * basis.read({out(token): 1.0})
    if noise:
        _add_noise(state, basis, noise, finish, sketch, generator)
    float32 = {name: value.float() for name, value in state.items()}
    return model_from_weights(config, float32, "The planted model").eval()


def needed_width(sketch: Sketch, n_positions: int, n_noise: int) -> int:
    """The smallest width in which the directions, the heads and the neurons have room."""
    named = dict.fromkeys([*_TOKEN, *map(pos, range(n_positions)), *map(out, range(12)), *sketch.directions()])
    head = max((head.size for head in sketch.heads.values()), default=1)
    neurons = max(len(layer) for layer in sketch.neurons) + n_noise
    return max(len(named) + n_noise + _SPARE, HEADS_PER_WIDTH * head, -(-neurons // MLP_RATIO))


def _config(sketch: Sketch, digits: int, finish: Finish, n_noise: int) -> ModelConfig:
    config = config_of_width(digits, sketch.n_layers, sketch.n_heads, HEADS_PER_WIDTH, finish.seed)
    width = finish.width or needed_width(sketch, config.n_ctx, n_noise)
    return config_of_width(digits, sketch.n_layers, sketch.n_heads, width, finish.seed)


def _embed(state: dict[str, Tensor], basis: Basis, sketch: Sketch, config: ModelConfig) -> None:
    for position in range(config.n_ctx):
        written = {ONE: 1.0, pos(position): 1.0} | sketch.places.get(position, {})
        state["pos_embed.W_pos"][position] = basis.write(written)
    for token, letter in enumerate(VOCABULARY):
        digit, minus = int(letter) / 9 if letter.isdigit() else 0.0, float(letter == "-")
        state["embed.W_E"][token] = basis.write({DIGIT: digit, MINUS: minus, EVEN: _even(digit + minus)})


def _even(value: float) -> float:
    # How much of a direction that no component reads makes a token as long as the longest, so that LayerNorm treats all
    # alike: with a position's 1 and the balancing coordinate, value**2 + x**2 + (1 + value + x)**2 is to be 5.
    half = (1.0 + value) / 2.0
    return float((half**2 - (value**2 + (1.0 + value) ** 2 - 5.0) / 2.0) ** 0.5 - half)


def _head(
    state: dict[str, Tensor], basis: Basis, layer: int, number: int, head: HeadSketch, config: ModelConfig
) -> None:
    attn = f"blocks.{layer}.attn"
    names = list(dict.fromkeys(dimension for _, dimension in (*head.queries, *head.keys)))
    for side, weights, scale in (("Q", head.queries, config.d_head**0.5), ("K", head.keys, 1.0)):
        for dimension, name in enumerate(names):
            reading = {direction: weight * scale for (direction, wanted), weight in weights.items() if wanted == name}
            state[f"{attn}.W_{side}"][number, :, dimension] = basis.read(reading)
    for dimension, source in enumerate(dict.fromkeys(source for source, _ in head.moves)):
        targets = {target: weight for (origin, target), weight in head.moves.items() if origin == source}
        state[f"{attn}.W_V"][number, :, dimension] = basis.read({source: 1.0})
        state[f"{attn}.W_O"][number, dimension] = basis.write(targets)


def _mlp(state: dict[str, Tensor], basis: Basis, layer: int, neurons: list[Neuron]) -> None:
    for place, neuron in enumerate(neurons):
        state[f"blocks.{layer}.mlp.W_in"][:, place] = basis.read(neuron.reads)
        state[f"blocks.{layer}.mlp.W_out"][place] = basis.write(neuron.writes)


def _mixing(names: list[str], noise: list[str], generator: torch.Generator) -> Tensor:
    # Column i is what direction i writes: itself, and a random mixture of all directions. What tokens and places write
    # stays as it is, so that all of them are equally long before the first layer.
    size, n_noise = len(names) + len(noise), len(noise)
    shared = torch.randn(size, size, generator=generator, dtype=torch.float64)
    places = {pos(position) for position in range(size)}
    shared[:, [i for i, name in enumerate(names) if name in _TOKEN or name in places]] = 0.0
    shared[len(names) :, :] = 0.0
    shared[:, size - n_noise :] = 0.0
    shared.fill_diagonal_(0.0)
    return torch.eye(size, dtype=torch.float64) + _LEAN * torch.nn.functional.normalize(shared, dim=0)


def _rotation(width: int, generator: torch.Generator, n_kept: int = 0) -> Tensor:
    # A random rotation that leaves the mean alone, and the last coordinates.
    whole = torch.eye(width, dtype=torch.float64)
    whole[: width - n_kept, : width - n_kept] = _mean_kept(width - n_kept, generator)
    return whole


def _mean_kept(width: int, generator: torch.Generator) -> Tensor:
    # Turn the mean onto the last axis, rotate the others, turn back.
    random = torch.randn(width - 1, width - 1, generator=generator, dtype=torch.float64)
    q, r = torch.linalg.qr(random)
    inner = torch.eye(width, dtype=torch.float64)
    inner[:-1, :-1] = q * r.diagonal().sign()
    axis = torch.full((width,), width**-0.5, dtype=torch.float64)
    axis[-1] -= 1.0
    mirror = torch.eye(width, dtype=torch.float64) - 2.0 * torch.outer(axis, axis) / (axis @ axis)
    return mirror @ inner @ mirror


def _add_noise(
    state: dict[str, Tensor],
    basis: Basis,
    noise: list[str],
    finish: Finish,
    sketch: Sketch,
    generator: torch.Generator,
) -> None:
    # Heads and neurons with random weights, and tokens and places with random parts unless they must be equally long,
    # all in unread directions.
    written = torch.stack([basis.write({name: 1.0}) for name in noise])

    def random(*shape: int) -> Tensor:
        return 0.5 * torch.randn(*shape, generator=generator, dtype=torch.float64)

    for name in () if sketch.fine else ("embed.W_E", "pos_embed.W_pos"):
        state[name] += random(len(state[name]), len(noise)) @ written
    for layer, used in enumerate(map(len, sketch.neurons)):
        block = f"blocks.{layer}"
        for number in finish.noise_heads:
            width, d_head = state[f"{block}.attn.W_Q"].shape[1:]
            for side in "QKV":
                state[f"{block}.attn.W_{side}"][number] = random(width, d_head) / width**0.5
            state[f"{block}.attn.W_O"][number] = random(d_head, len(noise)) @ written / d_head**0.5
        spare = slice(used, used + len(noise))
        w_in, w_out = state[f"{block}.mlp.W_in"], state[f"{block}.mlp.W_out"]
        w_in[:, spare] = random(len(w_in), len(noise)) / len(w_in) ** 0.5
        w_out[spare] = random(len(noise), len(noise)) @ written
