"""A model small enough to work out by hand what each kind of edit makes it answer.

The stream has four numbers, and everything in it is a sum of two patterns, U = (1, -1, 0, 0) and W = (0, 0, 1, -1).
So a stream is a pair (a, b), for a U + b W; its mean is 0, its variance (a^2 + b^2) / 2, and a LayerNorm divides by
`size(a, b)`. A digit d enters as (d, 1), `+` as (1, 1), `-` as (2, 1), `=` as (0, 1). `s(d)` is what a reader of U sees
of (d, 1). Logit 0 is how much of U the last norm leaves, logit 1 how much of W; the others are 0.

Positions of 3+4=+07: 3 is 0, + is 1, 4 is 2, = is 3, the sign is 4. Position 3 predicts the sign, 4 the digit after it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Operation, Questions
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.arithmetic.task import arithmetic_task
from carrylens.interventions import (
    Edit,
    Engine,
    ablate,
    add_direction,
    edge,
    interchange,
    interpolate,
    keep_only,
    project,
)
from carrylens.model import Transformer

U, W = torch.tensor([1.0, -1.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 1.0, -1.0])
BASE, SOURCE = Questions.parse(["3+4"]), Questions.parse(["5-1"])
REFERENCE = Questions.parse(["3+4", "2+2", "5-1"])  # two additions without a carry, one subtraction without a borrow


def size(a: float, b: float) -> float:
    return math.sqrt((a * a + b * b) / 2 + 1e-5)


def s(digit: float, other: float = 1.0) -> float:
    return digit / size(digit, other)


def micro(n_layers: int) -> Transformer:
    """No weight but those set here; norms are born 1 and 0."""
    model = Transformer(
        arithmetic_config(digits=1, n_layers=n_layers, n_heads=1, d_model=4, d_head=1, d_mlp=1)
    ).double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "W_" in name:
                parameter.zero_()
        for token, amount in enumerate([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 0, 0, 0]):
            model.embed.W_E[token] = amount * U
        model.pos_embed.W_pos[:] = W
        model.unembed.W_U[:, 0], model.unembed.W_U[:, 1] = U / 2, W / 2
    model.task = arithmetic_task(Operation.MIX, 1)
    return model


@pytest.fixture(scope="module")
def one_layer() -> Transformer:
    """The head looks at all places alike and, at position 3, writes the sum of what it sees of U there; the MLP reads
    U and writes W."""
    model = micro(1)
    block: Any = model.blocks[0]
    with torch.no_grad():
        block.attn.W_V[0, :, 0], block.attn.W_O[0, 0] = U / 2, 4 * U  # 4: position 3 has four places to look at
        block.mlp.W_in[:, 0], block.mlp.W_out[0] = U / 2, W
    return model


@pytest.fixture(scope="module")
def two_layers() -> Transformer:
    """Layer 0 has an MLP alone, which reads U and writes W. Layer 1 has a head alone: its queries and keys read W, its
    values read U, and it writes U."""
    model = micro(2)
    first: Any = model.blocks[0]
    second: Any = model.blocks[1]
    with torch.no_grad():
        first.mlp.W_in[:, 0], first.mlp.W_out[0] = U / 2, W
        second.attn.W_Q[0, :, 0], second.attn.W_K[0, :, 0], second.attn.W_V[0, :, 0] = W / 2, W / 2, U / 2
        second.attn.W_O[0, 0] = U
    return model


# What the head of the one-layer model writes at `=`: it sees the digits, the operator, and itself, which is nothing.
H = s(3) + s(1) + s(4)
H_SOURCE = s(5) + s(2) + s(1)
H_ALIKE = s(2) + s(1) + s(2)  # the other addition of the reference


def mlp_of(a: float, b: float = 1.0) -> float:
    """What the MLP then writes: all that reaches it is positive."""
    return a / size(a, b)


def read(a: float, b: float, norm: tuple[float, float] | None = None) -> tuple[float, float]:
    """The two logits of a last stream, or of one read with the norm of another."""
    by = size(a, b) if norm is None else size(*norm)
    return a / by, b / by


M, M_SOURCE = mlp_of(H), mlp_of(H_SOURCE)
H_MEAN, H_CLASS, HALFWAY = (H + H_ALIKE + H_SOURCE) / 3, (H + H_ALIKE) / 2, (H + H_SOURCE) / 2
STEP = H_SOURCE - H
HEAD, MLP = "P3L0H0", "P3L0MLP"

BY_HAND: dict[str, tuple[Edit, tuple[float, float]]] = {
    # Without the head nothing of U reaches `=`, and the MLP stays silent.
    "zero head": (ablate(HEAD, "zero"), read(0, 1)),
    "zero MLP": (ablate(MLP, "zero"), read(H, 1)),
    "zero both": (ablate([HEAD, MLP], "zero"), read(0, 1)),
    "mean head": (ablate(HEAD, "mean"), read(H_MEAN, 1 + mlp_of(H_MEAN))),
    "mean MLP": (ablate(MLP, "mean"), read(H, 1 + (M + mlp_of(H_ALIKE) + M_SOURCE) / 3)),
    "class mean": (ablate(HEAD, "class-mean"), read(H_CLASS, 1 + mlp_of(H_CLASS))),
    "interchange head": (interchange(HEAD), read(H_SOURCE, 1 + M_SOURCE)),
    "interchange MLP": (interchange(MLP), read(H, 1 + M_SOURCE)),
    "halfway": (interpolate(HEAD, 0.5), read(HALFWAY, 1 + mlp_of(HALFWAY))),
    "beyond": (interpolate(MLP, 2.0), read(H, 1 + 2 * M_SOURCE - M)),
    # Two of W are in what the MLP reads, too, and quieten what it sees of U.
    "steer head": (add_direction(HEAD, W.tolist(), 2.0), read(H, 3 + mlp_of(H, 3))),
    "steer MLP": (add_direction(MLP, W.tolist(), 2.0), read(H, 3 + M)),
    "steer stream": (add_direction("P3L1RESID", W.tolist(), -1.0), read(H, M)),
    # The head's step lies along U: within U it is taken whole, within U + W half of it, and that half lies on both.
    "project on U": (project(HEAD, [U.tolist()]), read(H_SOURCE, 1 + M_SOURCE)),
    "project on U + W": (
        project(HEAD, [(U + W).tolist()]),
        read(H + STEP / 2, 1 + STEP / 2 + mlp_of(H + STEP / 2, 1 + STEP / 2)),
    ),
    "project MLP on both": (project(MLP, [(U + W).tolist(), U.tolist()]), read(H, 1 + M_SOURCE)),
    "keep head": (keep_only(HEAD, "zero"), read(H, 1)),
    "keep nothing": (keep_only("", "zero"), read(0, 1)),
    # The source has a 1 where the base has a 4.
    "residual before": (interchange("P2L0RESID"), read(s(3) + 2 * s(1), 1 + mlp_of(s(3) + 2 * s(1)))),
    "residual after": (interchange("P3L1RESID"), read(H_SOURCE, 1 + M_SOURCE)),
    # Edges: the MLP alone, or the logits alone, read the head of the source.
    "head to MLP": (edge(HEAD, "P3L0MLP"), read(H, 1 + M_SOURCE)),
    "head to logits": (edge(HEAD, "P3.logits"), read(H_SOURCE, 1 + M)),
    "head to both": (edge(HEAD, "P3L0MLP + P3.logits"), read(H_SOURCE, 1 + M_SOURCE)),
    "MLP to logits": (edge(MLP, "P3.logits"), read(H, 1 + M_SOURCE)),
    "half an edge": (edge(HEAD, "P3.logits", share=0.5), read(HALFWAY, 1 + M)),
    "frozen to logits": (edge(HEAD, "P3.logits", norm="frozen"), read(H_SOURCE, 1 + M, norm=(H, 1 + M))),
    "frozen to MLP": (edge(HEAD, "P3L0MLP", norm="frozen"), read(H, 1 + H_SOURCE / size(H, 1))),
    # The sender is ablated for everyone, and sent from the source to the logits alone.
    "ablate and send": (ablate(HEAD, "zero") + edge(HEAD, "P3.logits"), read(H_SOURCE, 1)),
    "steer and send": (
        add_direction(HEAD, W.tolist(), 2.0) + edge(HEAD, "P3.logits"),
        read(H_SOURCE, 1 + mlp_of(H, 3)),
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_each_kind_of_edit_gives_what_was_worked_out_by_hand(one_layer: Transformer, name: str) -> None:
    edit, expected = BY_HAND[name]
    outcome = Engine(one_layer).run([edit], BASE, SOURCE, reference=REFERENCE, logits=True)
    assert outcome.logits is not None
    np.testing.assert_allclose(outcome.logits[0, 0, 0], [*expected, *[0] * 13], rtol=0, atol=1e-12)


def test_a_resampled_head_writes_what_it_writes_for_the_only_other_question(one_layer: Transformer) -> None:
    outcome = Engine(one_layer).run(
        [ablate(HEAD, "resample")], BASE, reference=Questions.parse(["3+4", "5-1"]), logits=True
    )
    assert outcome.logits is not None
    np.testing.assert_allclose(outcome.logits[0, 0, 0, :2], read(H_SOURCE, 1 + M_SOURCE), rtol=0, atol=1e-12)


def test_answers_and_margins_are_read_off_the_logits(one_layer: Transformer) -> None:
    """The right sign is `+`, token 10, whose logit is 0; the model says 0 or 1, whichever of U and W is more."""
    outcome = Engine(one_layer).run([ablate(HEAD, "zero"), interpolate(HEAD, 9.0)], BASE, SOURCE)
    loud = H + 9 * STEP
    high = read(loud, 1 + mlp_of(loud))
    assert high[0] > high[1]
    assert outcome.tokens[:, 0, 0].tolist() == [1, 0]
    np.testing.assert_allclose(outcome.margins[:, 0, 0], [-read(0, 1)[1], -high[0]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(outcome.clean_margins[0, 0], -max(read(H, 1 + M)), rtol=0, atol=1e-12)


def look(query: float, keys: list[float], values: list[float]) -> float:
    """What a head of width 1 brings home."""
    weights = [math.exp(query * key) for key in keys]
    return sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)


def pairs(*amounts: float) -> list[tuple[float, float]]:
    """The streams after layer 0 of the two-layer model: its MLP has written s(d) of W."""
    return [(amount, 1 + s(amount)) for amount in amounts]


def share_of_w(pair: tuple[float, float]) -> float:
    return pair[1] / size(*pair)


def share_of_u(pair: tuple[float, float]) -> float:
    return pair[0] / size(*pair)


# 3+4=+ enters as 3, 1, 4, 0, 1 and 1-5=- as 1, 2, 5, 0, 2.
OWN, OTHER = pairs(3, 1, 4, 0, 1), pairs(1, 2, 5, 0, 2)
CROSSED = [(own[0], other[1]) for own, other in zip(OWN, OTHER, strict=True)]  # the base's U, the source's MLP
LAST = (1.0, 1 + s(1))  # the stream at position 4, to which the head of layer 1 adds U


def answer_of(query: tuple[float, float], keys: list[tuple[float, float]], values: list[tuple[float, float]]) -> Any:
    found = look(share_of_w(query), list(map(share_of_w, keys)), list(map(share_of_u, values)))
    return read(LAST[0] + found, LAST[1])


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (edge("P4L0MLP", "P4L1H0.q"), answer_of(CROSSED[4], OWN, OWN)),
        (edge("P2L0MLP", "P4L1H0.k"), answer_of(OWN[4], [*OWN[:2], CROSSED[2], *OWN[3:]], OWN)),
        (edge("P2L0MLP", "P4L1H0.v"), answer_of(OWN[4], OWN, [*OWN[:2], CROSSED[2], *OWN[3:]])),
        (edge("P0L0MLP + P2L0MLP", "P4L1H0.k"), answer_of(OWN[4], [CROSSED[0], OWN[1], CROSSED[2], *OWN[3:]], OWN)),
        (edge("P4L0MLP", "P4L1H0.q + P4L1H0.k"), answer_of(CROSSED[4], [*OWN[:4], CROSSED[4]], OWN)),
        # The value reads U alone, so with a frozen norm nothing of the MLP's W reaches it.
        (edge("P2L0MLP", "P4L1H0.v", norm="frozen"), answer_of(OWN[4], OWN, OWN)),
    ],
    ids=str,
)  # fmt: skip
def test_queries_keys_and_values_receive_what_was_worked_out_by_hand(
    two_layers: Transformer, edit: Edit, expected: tuple[float, float]
) -> None:
    outcome = Engine(two_layers).run([edit], BASE, Questions.parse(["1-5"]), logits=True)
    assert outcome.logits is not None
    np.testing.assert_allclose(outcome.logits[0, 0, 1, :2], expected, rtol=0, atol=1e-12)


def test_the_hand_was_not_led_by_the_machine(two_layers: Transformer, one_layer: Transformer) -> None:
    """The clean answers by hand, and by the model itself."""
    for model, position, expected in (
        (one_layer, 3, read(H, 1 + M)),
        (two_layers, 4, answer_of(OWN[4], OWN, OWN)),
    ):
        logits = model(torch.tensor([[3, 10, 4, 12, 10, 0, 7]]))[0, position, :2]
        np.testing.assert_allclose(logits.detach().numpy(), expected, rtol=0, atol=1e-12)
    assert len({expected for _, expected in BY_HAND.values()}) > 15  # the cases are not all alike
