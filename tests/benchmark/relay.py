"""A task without arithmetic, and a model of it whose weights are worked out by hand, so that the truth is known.

The model reads three letters and writes, for each, the letter that follows it in `abcd`: `cab=dbc`. Head 0 brings the
letter that is due to where it is read. Head 1 always looks at the first letter and writes it where no component reads.
"""

from __future__ import annotations

import numpy as np
import torch

from carrylens.benchmark.known_models import BenchmarkModel, KnownModel
from carrylens.benchmark.known_truth import KnownTruth, TrueGroup
from carrylens.benchmark.method_interface import Given
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.samplers import Uniform
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Family

LETTERS = tuple("abcd")
X, N, Z = (Family(name, (0, 1, 2, 3), name, labels=LETTERS) for name in "XNZ")
INDICES = (2, 1, 0)
N_POSITIONS = 7  # three letters, =, three letters
CARRIERS = {N[2]: Node(3, 0, 0), N[1]: Node(4, 0, 0), N[0]: Node(5, 0, 0)}


def follow(letter: Column) -> Column:
    return np.asarray((letter + 1) % 4, dtype=np.int8)


def same(letter: Column) -> Column:
    return letter


def relay_task() -> Task:
    inputs = tuple(X[k] for k in INDICES)
    mechanisms = [Mechanism(N[k], (X[k],), follow) for k in INDICES]
    mechanisms += [Mechanism(Z[k], (N[k],), same) for k in INDICES]
    causal = CausalModel("relay", (X, N, Z), inputs, tuple(Z[k] for k in INDICES), tuple(mechanisms))
    slots = [Slot(f"X{k}", input=X[k]) for k in INDICES]
    slots += [Slot("=", token="="), *(Slot(f"Z{k}", output=Z[k]) for k in INDICES)]
    layout = Layout((*LETTERS, "="), tuple(slots), (X, Z))
    return Task("relay", causal, layout, {"uniform": Uniform(tuple((each, (0, 1, 2, 3)) for each in inputs))})


def relay_model() -> Transformer:
    """Dimensions: 5 for the token, 7 for the position, 4 that head 0 writes for the logits, 4 that head 1 writes."""
    config = ModelConfig(1, 2, 20, 12, 0, n_ctx=7, d_vocab=5, d_vocab_out=5, reads=range(3, 6), normalization="none")
    state = {name: torch.zeros_like(weight) for name, weight in Transformer(config).state_dict().items()}
    state["embed.W_E"][:, :5] = torch.eye(5)
    state["pos_embed.W_pos"][:, 5:12] = torch.eye(N_POSITIONS)
    for position in range(N_POSITIONS):
        due = max(0, position - 3) if position < 6 else 0
        state["blocks.0.attn.W_Q"][0, 5 + position, due] = 100.0
        state["blocks.0.attn.W_Q"][1, 5 + position, 0] = 100.0
        state["blocks.0.attn.W_K"][:, 5 + position, position] = 1.0
    for letter in range(4):
        state["blocks.0.attn.W_V"][:, letter, letter] = 1.0
        state["blocks.0.attn.W_O"][0, letter, 12 + letter] = 1.0
        state["blocks.0.attn.W_O"][1, letter, 16 + letter] = 1.0
        state["unembed.W_U"][12 + letter, (letter + 1) % 4] = 10.0
    model = Transformer(config)
    model.load_state_dict(state)
    return model.eval()


def relay_truth() -> KnownTruth:
    groups = tuple(TrueGroup.of(each, str(node), outputs=[Z[each.index or 0]]) for each, node in CARRIERS.items())
    unread = [Node(at, 0, 1) for at in range(6)] + [Node(at, 0, 0) for at in range(3)]
    return KnownTruth(groups, decoys={node: frozenset({N[2]}) for node in unread})


def relay_circuit(name: str = "relay", seed: int = 0) -> BenchmarkModel:
    task = relay_task()
    return BenchmarkModel(name, lambda: KnownModel(relay_model(), task, task.causal, relay_truth()), seed=seed)


def relay_input(quick: bool = True) -> Given:
    task = relay_task()
    return Given(relay_model(), task, task.causal, quick=quick)
