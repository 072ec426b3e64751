"""Interchange training: batches that ask for the counterfactual answer when sites of an alignment are interchanged.

Takes  a task, an algorithm, an alignment, and how hard to ask.
Gives  for every step questions, where each node takes its write from, and what must be put out then; and the loss.
Never  depends on where it started: step i has the same batch in every run.

For each row:
1. A few sites, or none, take what their nodes write from other rows of the batch: the slots.
2. Nodes in no site take theirs from slots, too, in a share of them that is drawn for the row: nothing may change by it.
3. Of a site with several copies all but one may write their mean: nothing may change by that, either.
4. Wanted are the algorithm's outputs once the variables of the interchanged sites have the values of those rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from carrylens.alignment import Alignment
from carrylens.model.config import ModelConfig
from carrylens.model.interchange_pass import MEAN, OWN, Sources, clean_pass, interchange_pass
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.interchanged import Taken, interchanged_outputs
from carrylens.tasks.task import Task
from carrylens.training.batches import encode_examples
from carrylens.training.losses import output_logits, token_losses

if TYPE_CHECKING:  # a plan names the interchange that it trains under
    from carrylens.training.plan import TrainingPlan

_SEED = 0x51171  # draws of interventions are other than those of questions


@dataclass(frozen=True)
class Interchange:
    """An alignment to train under: the algorithm whose variables it names, and how much is interchanged at once.

    `least_sites` to `most_sites` of a row are interchanged. `idle_shares` are the shares of idle nodes that
    are resampled, one drawn for each row. `offsets` are how far down a batch the slots lie. `means` is the share of
    rows in which all but one copy of a site that has several write their mean.
    """

    causal: CausalModel
    alignment: Alignment
    least_sites: int = 0
    most_sites: int = 4
    idle_shares: tuple[float, ...] = (0.0, 0.5, 1.0)
    offsets: tuple[int, ...] = (1, 3)
    means: float = 0.25

    def identity(self) -> dict[str, object]:
        """What a file says of it, so that a stopped run goes on under the same."""
        return {
            "aligned": self.alignment.to_json(),
            "sites_at_once": [self.least_sites, self.most_sites],
            "idle_shares": list(self.idle_shares),
            "offsets": list(self.offsets),
            "means": self.means,
        }


@dataclass(frozen=True, eq=False)
class Interchanged:
    """Questions of one batch: token ids, the algorithm's outputs, where nodes take writes from, the outputs then."""

    tokens: Int[Tensor, "batch pos"]
    wanted: Int[Tensor, "batch output"]
    slots: Int[Tensor, "batch pos layer component"]
    counterfactual: Int[Tensor, "batch output"]
    condition: Int[Tensor, " batch"]

    def to(self, device: torch.device) -> Interchanged:
        """The same on a device."""
        return Interchanged(*(each.to(device) for each in vars(self).values()))


def draw_interchanged(
    task: Task, how: Interchange, config: ModelConfig, questions: Batch, rng: np.random.Generator
) -> Interchanged:
    """A batch of questions, each with interventions of its own."""
    sites, n_rows = how.alignment.sites, len(questions)
    chosen = _chosen_sites(n_rows, len(sites), how, rng)
    slots = np.full((n_rows, config.n_ctx, config.n_layers, config.n_heads + 1), OWN, dtype=np.int8)
    _fill_idle(slots, how, rng)
    for at, site in enumerate(sites):
        for node in site.nodes:
            slots[(slice(None), *_index(node))] = chosen[:, at]
        if len(site.copies) > 1:
            _silence_copies(slots, site.copies, chosen[:, at], how.means, rng)
    values = how.causal.run(questions)
    taken = [
        Taken(variable, np.roll(values[variable], -offset), chosen[:, at] == slot, site.outputs)
        for at, site in enumerate(sites)
        for variable in site.variables
        for slot, offset in enumerate(how.offsets)
    ]
    moved = interchanged_outputs(how.causal, questions, taken)
    examples = encode_examples(task, questions)
    return Interchanged(
        examples.tokens,
        torch.from_numpy(task.output_ids(questions, values.outputs()).astype(np.int64)),
        torch.from_numpy(slots),
        torch.from_numpy(task.output_ids(questions, moved).astype(np.int64)),
        examples.condition,
    )


class InterchangeBatches:
    """Interchanged batches by step."""

    def __init__(self, plan: TrainingPlan, how: Interchange, device: torch.device) -> None:
        self._plan, self._how, self._device = plan, how, device

    def at(self, step: int) -> Interchanged:
        """The batch of `step`."""
        plan, size = self._plan, self._plan.recipe.batch
        questions = plan.population.draw(plan.seed, step * size, size)
        rng = np.random.default_rng((_SEED, plan.seed, step))
        return draw_interchanged(plan.task, self._how, plan.config, questions, rng).to(self._device)


def interchange_losses(model: Transformer, task: Task, how: Interchange, batch: Interchanged) -> tuple[Tensor, Tensor]:
    """The losses of the answers as they are, and of those under interchange: [batch, output] each."""
    logits, writes = clean_pass(model, batch.tokens)
    moved = interchange_pass(model, batch.tokens, Sources(writes, batch.slots, how.offsets))
    return (
        token_losses(output_logits(logits, task.layout), batch.wanted),
        token_losses(output_logits(moved, task.layout), batch.counterfactual),
    )


def _chosen_sites(n_rows: int, n_sites: int, how: Interchange, rng: np.random.Generator) -> NDArray[np.int8]:
    # For each row and site the slot that it is taken from, or OWN: so many as `how` says have a slot.
    least, most = (min(each, n_sites) for each in (how.least_sites, how.most_sites))
    count = rng.integers(least, most + 1, size=n_rows)
    rank = np.argsort(np.argsort(rng.random((n_rows, n_sites)), axis=1), axis=1)
    slot = rng.integers(0, len(how.offsets), size=(n_rows, n_sites))
    return np.where(rank < count[:, None], slot, OWN).astype(np.int8)


def _fill_idle(slots: NDArray[np.int8], how: Interchange, rng: np.random.Generator) -> None:
    # All nodes, though those in sites are written over.
    n_rows = len(slots)
    share = rng.choice(how.idle_shares, size=n_rows)
    resampled = rng.random(slots.shape) < share[:, None, None, None]
    slot = rng.integers(0, len(how.offsets), size=slots.shape)
    slots[:] = np.where(resampled, slot, OWN)


def _silence_copies(
    slots: NDArray[np.int8],
    copies: tuple[tuple[Node, ...], ...],
    chosen: NDArray[np.int8],
    share: float,
    rng: np.random.Generator,
) -> None:
    # In some rows whose site stays as it is, all copies but one write their mean.
    silenced = (rng.random(len(slots)) < share) & (chosen == OWN)
    kept = rng.integers(0, len(copies), size=len(slots))
    for at, copy in enumerate(copies):
        for node in copy:
            where = (silenced & (kept != at), *_index(node))
            slots[where] = MEAN


def _index(node: Node) -> tuple[int, int, int]:
    return node.position, node.layer, -1 if node.head is None else node.head


def nodes_of(config: ModelConfig) -> list[Node]:
    """Every node of a model of this shape."""
    return all_nodes(config.n_ctx, config.n_layers, config.n_heads, config.has_mlp)
