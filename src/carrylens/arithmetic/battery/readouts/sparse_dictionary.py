"""Sparse dictionary: a small sparse autoencoder, and how well single units tell a value.

Takes  vectors, and which of them have a value.
Gives  the autoencoder's features for any vectors, and how well these rebuild them; for every value the unit that tells
       it best, scored on other vectors.
Never  picks a unit on the vectors it is scored on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

Vectors = NDArray[np.float32]
_RATE, _BATCH = 3e-3, 256
STEPS = 200
LADDER = (0.3, 1.0, 3.0)
"""The weights of sparsity, half a decade apart, from hardly sparse to clearly so. They are fixed, by how many features
they leave active and how much these rebuild, and never by what features tell: every experiment climbs all of them."""


@dataclass(frozen=True, eq=False)
class SparseDictionary:
    """Features are ReLU((x - mean) / scale @ encoder + bias); rebuilt is mean + scale * features @ decoder."""

    mean: Vectors
    scale: float
    encoder: Vectors
    bias: Vectors
    decoder: Vectors

    def features(self, vectors: Vectors) -> Vectors:
        """What each feature says of each vector."""
        return np.asarray(np.maximum((vectors - self.mean) / self.scale @ self.encoder + self.bias, 0))

    def errors(self, vectors: Vectors) -> Vectors:
        """For each vector the squared length of what its features leave out."""
        rebuilt = self.mean + self.scale * (self.features(vectors) @ self.decoder)
        return np.asarray(((vectors - rebuilt) ** 2).sum(1))


def fit_dictionary(vectors: Vectors, n_features: int, seed: int, sparsity: float) -> SparseDictionary:
    """A sparse autoencoder: features that rebuild the vectors, the fewer at a time the more `sparsity` weighs."""
    mean = vectors.mean(0)
    scale = float(np.sqrt(((vectors - mean) ** 2).mean())) or 1.0
    given, random = torch.from_numpy((vectors - mean) / scale), torch.Generator().manual_seed(seed)
    decoder = F.normalize(torch.randn(n_features, given.shape[1], generator=random), dim=1)
    encoder, bias = decoder.T.clone(), torch.zeros(n_features)
    free = [each.requires_grad_() for each in (encoder, bias, decoder)]
    optimiser = torch.optim.Adam(free, lr=_RATE)
    for _ in range(STEPS):
        rows = given[torch.randint(len(given), (_BATCH,), generator=random)]
        optimiser.zero_grad()
        _loss(rows, encoder, bias, decoder, sparsity).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        with torch.no_grad():
            decoder.div_(decoder.norm(dim=1, keepdim=True).clamp_min(1e-6))
    return SparseDictionary(mean, scale, *(each.detach().numpy() for each in free))


def random_dictionary(vectors: Vectors, n_features: int, seed: int) -> SparseDictionary:
    """As many features along random directions of the vectors' own spread, each on for about half of them."""
    mean, random = vectors.mean(0), np.random.default_rng(seed)
    mixes = random.standard_normal((n_features, len(vectors))).astype(np.float32) @ (vectors - mean)
    encoder = (mixes / np.maximum(np.linalg.norm(mixes, axis=1, keepdims=True), 1e-9)).T
    return SparseDictionary(mean, 1.0, encoder, np.zeros(n_features, dtype=np.float32), encoder.T)


def best_units(fit: Vectors, fit_labels: NDArray[np.bool_], test: Vectors) -> Vectors:
    """For every label the unit most correlated with it, turned so that it rises with it: axes question, label."""
    units, labels = _standard(fit), _standard(fit_labels.astype(np.float32))
    correlations = units.T @ labels / len(fit)
    best = np.abs(correlations).argmax(0)
    return np.asarray(test[:, best] * np.sign(correlations[best, np.arange(labels.shape[1])]))


def correlation(units: Vectors, labels: NDArray[np.bool_], rows: NDArray[np.int64]) -> float:
    """The mean correlation of each unit with its label, in these rows."""
    return float((_standard(units[rows]) * _standard(labels[rows].astype(np.float32))).mean())


def _standard(columns: Vectors) -> Vectors:
    centred = columns - columns.mean(0)
    spread = centred.std(0)
    return np.asarray(np.where(spread > 1e-6, centred / np.maximum(spread, 1e-6), 0.0), dtype=np.float32)


def _loss(rows: Tensor, encoder: Tensor, bias: Tensor, decoder: Tensor, sparsity: float) -> Tensor:
    found = F.relu(rows @ encoder + bias)
    return ((found @ decoder - rows) ** 2).mean() + sparsity * found.sum(1).mean() / rows.shape[1]
