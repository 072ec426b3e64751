"""Subspaces: the best few directions of the combiner's input for a purpose, found by descent.

Takes  a model, states of bases and of sources behind the last layer's heads, and the tokens the bases must become.
Gives  what the rest of the model makes of such states, and an orthonormal basis within which going to any source's
       state makes most of the wanted tokens.
Never  sees the questions it is scored on.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from carrylens.battery.subject import Subject
from carrylens.interventions.parts import Parts

Matrix = NDArray[np.float64]
Wanted = NDArray[np.int64]
_RATE = 0.03
_STEPS = 60


def combined(subject: Subject, states: Matrix) -> Wanted:
    """The token that the last MLP and the unembedding make of the stream behind the last layer's heads."""
    parts = Parts(subject.model)
    with torch.inference_mode():
        found = _logits(parts, torch.from_numpy(states).to(parts.device, parts.dtype)).argmax(-1)
    return found.cpu().numpy()


def best_subspace(subject: Subject, start: Matrix, bases: Matrix, sources: Matrix, wanted: Wanted, seed: int) -> Matrix:
    """An orthonormal basis with as many rows as `start`, from which the descent sets out.

    At every step each base is given another of the sources, so that nothing of a source can help but what all of them
    share.
    """
    parts = Parts(subject.model)
    base, source, goal, rows = (torch.from_numpy(each).to(parts.device) for each in (bases, sources, wanted, start))
    base, source = base.to(parts.dtype), source.to(parts.dtype)
    free = rows.to(parts.dtype).T.clone().requires_grad_()
    optimiser = torch.optim.Adam([free], lr=_RATE)
    random = torch.Generator().manual_seed(seed)
    for _ in range(_STEPS):
        basis = torch.linalg.qr(free)[0]
        way = source[torch.randint(len(source), (len(base),), generator=random)] - base
        loss = F.cross_entropy(_logits(parts, base + way @ basis @ basis.T), goal)
        (free.grad,) = torch.autograd.grad(loss, [free])
        optimiser.step()
    return torch.linalg.qr(free.detach().double())[0].T.cpu().numpy()


def _logits(parts: Parts, states: Tensor) -> Tensor:
    stream, layer = states[:, None], parts.layers[-1]
    return parts.logits(stream + layer.think(layer.norm_mid(stream)))[:, 0]
