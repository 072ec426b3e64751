"""States and probes: a few places read as in a full pass; a direction is found, noise is not."""

from __future__ import annotations

import numpy as np
import torch

from arithmetic.battery.plants import untrained_subject
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.battery.measures.linear_probe import fit_probe
from carrylens.arithmetic.battery.measures.residual_states import levels_of, read_hooks
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.tokens import encode


def test_reading_a_few_places_agrees_with_a_full_pass() -> None:
    subject, places = untrained_subject(Operation.MIX), [9, 4]
    asked = Population(PopulationKind.NATURAL, Operation.MIX, 3).draw(1, 0, 9)
    hooks = [*levels_of(2), "blocks.0.hook_resid_pre", "blocks.1.hook_resid_pre", "blocks.1.mlp.hook_post"]
    read = read_hooks(subject.model, asked, places, hooks)
    _, cache = subject.model.run_with_cache(torch.from_numpy(encode(asked, answers(asked))))
    for hook, mine in zip(hooks, read, strict=True):
        assert np.allclose(mine, cache[hook][:, places].detach().numpy(), atol=1e-5)


def test_a_probe_finds_a_direction_and_not_noise() -> None:
    random = np.random.default_rng(1)
    labels = random.choice((-1.0, 1.0), 400)
    states = random.standard_normal((400, 12))
    states[:, 3] += 4 * labels
    probe = fit_probe(states[:200], labels[:200])
    assert probe.right(states[200:], labels[200:]).mean() > 0.97
    noise = random.standard_normal((400, 12))
    assert abs(fit_probe(noise[:200], labels[:200]).right(noise[200:], labels[200:]).mean() - 0.5) < 0.15
