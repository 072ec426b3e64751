"""Clean passes: what every node writes when nothing is replaced, and means of that.

Takes  a model's parts and sequences that reach to the last position whose logits are read.
Gives  `Book`, every value an edited pass may start from or take over, and `Means` over reference questions.
Never  keeps what no component reads: positions after those, and in the last layer all but those.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carrylens.interventions.parts import Parts, by_head
from carrylens.interventions.plan import computed_positions

ROWS = 64
"""Sequences a forward pass, small enough to stay in the cache."""


@dataclass(frozen=True)
class LayerBook:
    """One layer of the clean passes. `z`, `q`, `mid` and `mlp` begin at position `first`, the rest at 0.

    Keys and values have axes [sequence, head, pos, d_head], all others [sequence, pos, ...]. Where there is no MLP,
    `mlp` has no positions.
    """

    first: int
    stream: Tensor
    q: Tensor
    k: Tensor
    v: Tensor
    z: Tensor
    mid: Tensor
    mlp: Tensor


@dataclass(frozen=True)
class Book:
    """The clean passes of some sequences, axis 0. `last` and `logits` begin at position `first_answer`."""

    layers: tuple[LayerBook, ...]
    first_answer: int
    last: Tensor
    logits: Tensor


@dataclass(frozen=True)
class LayerMeans:
    """Means over questions, axes [class, pos, ...]: row 0 is over all, row 1 + c over class c."""

    stream: Tensor
    z: Tensor
    mlp: Tensor


@dataclass(frozen=True)
class Means:
    """Means of what is written in each layer, and of the last stream. A class without questions has NaN."""

    layers: tuple[LayerMeans, ...]
    last: Tensor


def sequence_bytes(parts: Parts) -> int:
    """How much memory one sequence takes in a book."""
    config = parts.config
    heads, width, written = config.n_heads * config.d_head, config.d_model, 2 if config.has_mlp else 1
    numbers = sum(
        config.reads.stop * (width + 2 * heads) + len(computed_positions(config, layer)) * (2 * heads + written * width)
        for layer in range(config.n_layers)
    )
    numbers += len(config.reads) * (width + config.d_vocab_out)
    return numbers * torch.finfo(parts.dtype).bits // 8


def clean_book(parts: Parts, tokens: Tensor) -> Book:
    """The clean passes of these sequences."""
    first, *others = torch.split(tokens[:, : parts.config.reads.stop].to(parts.device), ROWS)
    page = _page(parts, first)
    if not others:
        return page
    # Room for all is made at once: to keep the pages and put them together would take the memory twice.
    book = blank_book(page, len(tokens))
    for at, chunk in enumerate([first, *others]):
        page = _page(parts, chunk) if at else page
        for whole, part in zip(book_tensors(book), book_tensors(page), strict=True):
            whole[at * ROWS : at * ROWS + len(chunk)] = part
    return book


def reference_means(parts: Parts, tokens: Tensor, classes: Tensor | None, n_classes: int) -> Means:
    """Means over the sequences, and, where `classes` are given, over those of each of them, added up in float64."""
    groups = torch.zeros(1 + n_classes, len(tokens), dtype=torch.float64, device=parts.device)
    groups[0] = 1
    if classes is not None:
        groups[1 + classes.to(parts.device), torch.arange(len(tokens))] = 1
    counts = groups.sum(1)
    sums: list[list[Tensor]] = []
    read = tokens[:, : parts.config.reads.stop].to(parts.device)
    for at, chunk in enumerate(torch.split(read, ROWS)):
        page, member = (
            _page(parts, chunk),
            groups[:, at * ROWS : at * ROWS + len(chunk)],
        )
        found = [[layer.stream, layer.z, layer.mlp] for layer in page.layers] + [[page.last]]
        added = [[torch.tensordot(member, value.double(), 1) for value in values] for values in found]
        sums = [[a + b for a, b in zip(*both, strict=True)] for both in zip(sums, added, strict=True)] if at else added
    means = [[_divided(value, counts).to(parts.dtype) for value in values] for values in sums]
    return Means(tuple(LayerMeans(*values) for values in means[:-1]), means[-1][0])


def _page(parts: Parts, tokens: Tensor) -> Book:
    config, stream, layers = parts.config, parts.enter(tokens), []
    for number, layer in enumerate(parts.layers):
        first = computed_positions(config, number).start
        read = layer.norm_in(stream)
        q, k, v = layer.queries(read[:, first:]), by_head(layer.keys(read)), by_head(layer.values(read))
        z = layer.attend(q, k, v, parts.mask[first:]).contiguous()
        mid = stream[:, first:] + layer.write(z)
        mlp = layer.think(layer.norm_mid(mid)) if config.has_mlp else mid[:, :0]
        layers.append(LayerBook(first, stream, q, k, v, z, mid, mlp))
        stream = mid + mlp if config.has_mlp else mid
    return Book(tuple(layers), computed_positions(config, config.n_layers).start, stream, parts.logits(stream))


def blank_book(page: Book, count: int) -> Book:
    """Room for the clean passes of so many sequences, in the shape of those in `page`."""

    def room(tensor: Tensor) -> Tensor:
        return tensor.new_empty(count, *tensor.shape[1:])

    layers = tuple(LayerBook(layer.first, *map(room, _layer_tensors(layer))) for layer in page.layers)
    return Book(layers, page.first_answer, room(page.last), room(page.logits))


def book_tensors(book: Book) -> list[Tensor]:
    """All that a book holds, always in the same order."""
    return [tensor for layer in book.layers for tensor in _layer_tensors(layer)] + [book.last, book.logits]


def _layer_tensors(layer: LayerBook) -> tuple[Tensor, ...]:
    return (layer.stream, layer.q, layer.k, layer.v, layer.z, layer.mid, layer.mlp)


def _divided(total: Tensor, counts: Tensor) -> Tensor:
    return total / counts.view(-1, *[1] * (total.dim() - 1))
