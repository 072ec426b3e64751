"""Acceptance: does a model trained under an alignment hold what it was trained to hold, and nothing else?

Takes  a model, its task, the interchange it was trained under, and other algorithms with their alignments.
Gives  rates on held-out questions: answers, interchange, resampled idle nodes, noisy weights, other algorithms.
Never  trains, and never picks what to ask by what came out.

1. Answers: every output is the algorithm's.
2. Interchange: one site, or several at once, take their writes from other questions; counted are the rows in which the
   algorithm then puts out something else than before.
3. Idle: every node in no site takes its write from another question; counted are all rows.
4. Both at once.
5. The same of a model whose every weight was multiplied by 1 plus noise.
6. Interchange under each other algorithm's alignment, which must fall short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import torch
from torch import Tensor

from carrylens.model.interchange_pass import Sources, clean_pass, interchange_pass
from carrylens.model.transformer import Transformer
from carrylens.model.weights import model_from_weights
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task
from carrylens.training.interchange import Interchange, Interchanged, draw_interchanged
from carrylens.training.losses import answered_right, output_logits

LEAST_INTERCHANGE, LEAST_IDLE = 0.98, 0.95
"""What a model must reach to be accepted."""
NOISE = 0.01
"""The standard deviation of the noise that weights are multiplied with."""
_PIECE = 512
_SEVERAL = 4


class RowShare(msgspec.Struct, frozen=True):
    """So many of so many rows."""

    right: int
    rows: int

    @property
    def value(self) -> float:
        """The share; 0 of nothing."""
        return self.right / self.rows if self.rows else 0.0


class Acceptance(msgspec.Struct, frozen=True):
    """What came out, each on questions of its own; `others` is interchange under other algorithms, by their names."""

    answers: RowShare
    one_site: RowShare
    several_sites: RowShare
    idle: RowShare
    several_and_idle: RowShare
    noisy_answers: RowShare
    noisy_interchange: RowShare
    others: dict[str, RowShare]

    @property
    def accepted(self) -> bool:
        """Whether the model holds what it should and nothing else."""
        moved = (self.one_site, self.several_sites, self.noisy_interchange, self.answers, self.noisy_answers)
        kept = (self.idle, self.several_and_idle)
        return (
            all(each.value >= LEAST_INTERCHANGE for each in moved)
            and all(each.value >= LEAST_IDLE for each in kept)
            and all(each.value < LEAST_INTERCHANGE for each in self.others.values())
        )


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The questions to ask: a population, a seed that training did not use, and how many."""

    task: Task
    population: Sampler
    seed: int
    count: int


def measure_acceptance(
    model: Transformer, how: Interchange, held_out: HeldOut, others: Mapping[str, Interchange]
) -> Acceptance:
    """All rates of one model."""
    ask = _Asking(held_out)
    noisy = noisy_twin(model, NOISE, held_out.seed)
    return Acceptance(
        answers=ask.answers(model, how),
        one_site=ask.moved(model, how, 1),
        several_sites=ask.moved(model, how, _SEVERAL),
        idle=ask.kept(model, how, 0),
        several_and_idle=ask.kept(model, how, _SEVERAL),
        noisy_answers=ask.answers(noisy, how),
        noisy_interchange=ask.moved(noisy, how, _SEVERAL),
        others={name: ask.moved(model, other, _SEVERAL) for name, other in others.items()},
    )


def noisy_twin(model: Transformer, noise: float, seed: int) -> Transformer:
    """The model with every weight multiplied by 1 plus Gaussian noise."""
    generator = torch.Generator().manual_seed(seed)
    state = {
        name: weight * (1 + noise * torch.randn(weight.shape, generator=generator))
        for name, weight in model.state_dict().items()
    }
    twin = model_from_weights(model.config, state, "The noisy twin").eval()
    twin.task = model.task
    return twin


@dataclass(frozen=True, eq=False)
class _Asking:
    """One set of held-out questions, asked in several ways."""

    held_out: HeldOut

    def answers(self, model: Transformer, how: Interchange) -> RowShare:
        """Whole answers with nothing replaced."""
        return self._share(model, replace(how, most_sites=0, idle_shares=(0.0,), means=0.0), only_moved=False)

    def moved(self, model: Transformer, how: Interchange, n_sites: int) -> RowShare:
        """Whole answers where so many sites at once give another answer."""
        some = replace(how, least_sites=n_sites, most_sites=n_sites, idle_shares=(0.0,), means=0.0)
        return self._share(model, some, only_moved=True)

    def kept(self, model: Transformer, how: Interchange, n_sites: int) -> RowShare:
        """Whole answers with all idle nodes, and so many sites, from elsewhere."""
        some = replace(how, least_sites=n_sites, most_sites=n_sites, idle_shares=(1.0,), means=0.0)
        return self._share(model, some, only_moved=False)

    @torch.inference_mode()
    def _share(self, model: Transformer, how: Interchange, *, only_moved: bool) -> RowShare:
        asked, right, rows = self.held_out, 0, 0
        for start in range(0, asked.count, _PIECE):
            questions = asked.population.draw(asked.seed, start, min(_PIECE, asked.count - start))
            rng = np.random.default_rng((asked.seed, start, how.most_sites))
            batch = draw_interchanged(asked.task, how, model.config, questions, rng)
            whole = answered_right(output_logits(_logits(model, how, batch), asked.task.layout), batch.counterfactual)
            counted = (batch.counterfactual != batch.wanted).any(1) if only_moved else torch.ones(len(whole)).bool()
            right, rows = right + int((whole.all(1) & counted).sum()), rows + int(counted.sum())
        return RowShare(right, rows)


def _logits(model: Transformer, how: Interchange, batch: Interchanged) -> Tensor:
    _, writes = clean_pass(model, batch.tokens)
    return interchange_pass(model, batch.tokens, Sources(writes, batch.slots, how.offsets))
