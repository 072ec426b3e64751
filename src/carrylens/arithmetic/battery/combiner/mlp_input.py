"""MLP input: what an MLP makes of its input when that is moved a share of the way along some direction.

Takes  a subject, a place, the MLP's layer, questions; one direction of the stream for each.
Gives  for every share the logits and what the MLP writes, no other component having read the moved input.
Never  moves what the logits, or later layers, read but through the MLP.

The engine's edges do the same for the writes of a source. Here any direction will do, so that the carry's can be held
against one that has its length and nothing else of it; a test holds the two to one answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.battery.measures.residual_states import States, levels_of, read_states
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.tokens import encode
from carrylens.interventions.parts import Parts

_TOKENS = "blocks.0.hook_resid_pre"


@dataclass(frozen=True, eq=False)
class MlpInput:
    """What the MLP of a place and layer reads for some questions, and how much of it was written there by nodes."""

    place: int
    layer: int
    questions: Questions
    stream: States
    written: States


@dataclass(frozen=True, eq=False)
class MlpOutput:
    """The logits, [share, question, vocab], and what the MLP writes, [share, question, d_model]."""

    logits: NDArray[np.float64]
    output: States


def read_input(subject: Subject, place: int, layer: int, questions: Questions) -> MlpInput:
    """What the MLP of the layer reads at the place, for questions read with their right answers."""
    levels = [_TOKENS, levels_of(layer + 1)[-2]]
    states = read_states(subject.model, questions, [place], levels)[:, 0]
    return MlpInput(place, layer, questions, states[:, 1], states[:, 1] - states[:, 0])


def move_input(subject: Subject, base: MlpInput, directions: States, shares: NDArray[np.float64]) -> MlpOutput:
    """The MLP alone reads each question's stream that share of the way along its direction."""
    parts = Parts(subject.model)
    mine = parts.layers[base.layer]
    logits, output = [], []
    with torch.inference_mode():
        stream, along = (_tensor(each, parts) for each in (base.stream, directions))
        for share in shares:
            written = mine.think(mine.norm_mid(stream + float(share) * along))
            last = base.layer == subject.last_layer
            logits.append(_array(parts.logits(stream + written) if last else _later_logits(subject, base, written)))
            output.append(_array(written))
    return MlpOutput(np.stack(logits), np.stack(output))


def _later_logits(subject: Subject, base: MlpInput, written: Tensor) -> Tensor:
    # The logits of the place when its MLP writes something else and the layers above it are computed anew.
    tokens = torch.from_numpy(encode(base.questions, answers(base.questions))).to(written.device)[:, : base.place + 1]

    def put(value: Tensor, hook: object) -> Tensor:  # noqa: ARG001
        moved = value.clone()
        moved[:, base.place] = written
        return moved

    found = subject.model.run_with_hooks(tokens, [(f"blocks.{base.layer}.hook_mlp_out", put)], positions=[base.place])
    return found[:, 0]


def permuted(directions: States, random: np.random.Generator) -> States:
    """Each direction with its coordinates in another order: of the same length and the same mean."""
    return np.asarray(random.permuted(directions, axis=1))


def _tensor(values: States, parts: Parts) -> Tensor:
    return torch.from_numpy(values).to(parts.device, parts.dtype)


def _array(values: Tensor) -> NDArray[np.float64]:
    return values.double().cpu().numpy()
