"""What a call gives back: arrays with named axes, and activations as hooks would see them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Operation, Population, PopulationKind, Questions, answers
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.arithmetic.tokens import VOCABULARY, encode
from carrylens.arithmetic.zoo import load
from carrylens.errors import CarryLensError
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
from carrylens.interventions.records import CLOSE
from carrylens.model import Transformer
from interventions.random_edits import random_model
from interventions.slow_interventions import Asked, hooked_cache

CONFIG = arithmetic_config(digits=2, n_layers=3, n_heads=2, d_model=7, d_head=3, d_mlp=6)
POINTS = ("hook_resid_pre", "attn.hook_z", "hook_resid_mid", "hook_mlp_out", "hook_resid_post")
NAMES = [f"blocks.{layer}.{point}" for layer in range(3) for point in POINTS]
EDITS = [
    interchange("P3L0H1 + P6L1MLP"),
    ablate("P2L1H0 + P8L2MLP + P5L2H1"),
    interchange("P4L1RESID + P7L3RESID"),
    add_direction("P5L0H0 + P6L0MLP", [0.5, -1, 0, 0, 1, 2, 0]),
    project("P5L1H0", [[1.0, 2, 0, 0, 0, 0, 1]]),
    interpolate("P3L2RESID", 0.4) + ablate("P3L2MLP", "zero"),
    interchange([f"P{position}L3RESID" for position in range(5, 9)]),
    keep_only("P5L0H0 + P5L1H1", "mean"),
    ablate("P1L2H0", "zero"),
    interchange(
        "P4L0H0 + P4L1RESID", source=0
    ),  # what layer 0 gives stays as it was, though layer 1 enters with another
]


def some(count: int, seed: int = 0, digits: int = 2) -> Questions:
    return Population(PopulationKind.ENRICHED, Operation.MIX, digits).draw(seed, 0, count)


@pytest.fixture(scope="module")
def model() -> Transformer:
    return random_model(CONFIG, 1)


@pytest.mark.parametrize("places", [1, 40, 10**6])
@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_kept_activations_are_those_of_a_pass_with_hooks(model: Transformer, edit: Edit, places: int) -> None:
    asked, sources, reference = some(3), some(3, 1), some(6, 2)
    others = [interchange("P3L0H1"), edge("P3L0H1", "P6L1H0.v")]  # rows that may share a batch
    outcome = Engine(model, places=places).run(
        [others[0], edit, others[1]], asked, sources, reference=reference, keep=NAMES
    )
    for question in range(3):
        cache = hooked_cache(Asked.of(model, question, asked, [sources], reference), edit)
        for name in NAMES:
            found = outcome.activations[name]
            expected = cache[name][0, found.positions.start : found.positions.stop].numpy()
            np.testing.assert_allclose(found.values[1, question], expected, rtol=0, atol=1e-12, err_msg=name)


def test_activations_are_kept_wherever_somebody_reads_them(model: Transformer) -> None:
    outcome = Engine(model).run([interchange("P3L0H1")], some(3), some(3, 1), keep=NAMES)
    everywhere, answer = range(9), range(5, 9)
    for name in NAMES:
        is_last = name.startswith("blocks.2.") and not name.endswith("resid_pre")
        assert outcome.activations[name].positions == (answer if is_last else everywhere), name
        own = (2, 3) if name.endswith("hook_z") else (7,)
        assert outcome.activations[name].values.shape == (1, 3, len(outcome.activations[name].positions), *own)


def test_axes_are_named_and_arrays_have_them(model: Transformer) -> None:
    table = Engine(model).run(EDITS, some(4), some(4, 1), reference=some(6, 2), logits=True)
    assert table.axes == ("edit", "question", "answer")
    assert table.tokens.shape == table.margins.shape == table.close.shape == table.correct.shape == (10, 4, 4)
    assert table.right.shape == table.clean_tokens.shape == table.clean_margins.shape == (4, 4)
    assert table.logits is not None
    assert table.logits.shape == (10, 4, 4, 15)
    assert table.failed.shape == table.texts().shape == (10, 4)
    each = Engine(model).run_each(EDITS[:4], some(4), some(4, 1), reference=some(6, 2))
    assert each.axes == ("question", "answer")
    assert each.tokens.shape == (4, 4)
    assert each.logits is None
    assert each.failed.shape == each.texts().shape == (4,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_everything_follows_from_the_logits(dtype: torch.dtype) -> None:
    model, asked = random_model(CONFIG, 1).to(dtype), some(30)
    outcome = Engine(model).run(EDITS, asked, some(30, 1), reference=some(9, 2), logits=True)
    logits = outcome.logits
    assert logits is not None
    assert logits.dtype == {torch.float32: np.float32, torch.float64: np.float64}[dtype]
    assert np.array_equal(outcome.tokens, logits.argmax(-1))
    right = encode(asked, answers(asked))[:, 6:]
    assert np.array_equal(outcome.right, right)
    ours = np.take_along_axis(logits, np.broadcast_to(right, outcome.tokens.shape)[..., None], -1)[..., 0]
    others = np.where(np.arange(15) == right[..., None], -np.inf, logits).max(-1)
    assert np.array_equal(outcome.margins, ours - others)
    assert np.array_equal(outcome.correct, outcome.margins > 0)
    assert np.array_equal(outcome.failed, ~(outcome.margins > 0).all(-1))
    ordered = np.sort(logits, -1)
    assert np.array_equal(outcome.close, ordered[..., -1] - ordered[..., -2] < CLOSE[dtype])
    assert np.array_equal(outcome.changed, outcome.tokens != outcome.clean_tokens)
    assert outcome.texts()[0, 0] == "".join(VOCABULARY[token] for token in outcome.tokens[0, 0])
    assert np.array_equal(outcome.agrees(outcome.tokens[2]), (outcome.tokens == outcome.tokens[2]).all(-1))
    assert outcome.agrees(outcome.tokens[2])[2].all()


def test_a_difference_is_one_answers_logits_less_anothers(model: Transformer) -> None:
    asked, sources = some(4), some(4, 1)
    outcome = Engine(model).run(EDITS, asked, sources, reference=some(6, 2), logits=True)
    ours, theirs = (encode(some, answers(some))[:, 6:].astype(np.int8) for some in (asked, sources))
    found = outcome.difference(ours, theirs)
    assert found.shape == (10, 4, 4)
    assert outcome.logits is not None
    for place in ((0, 0, 0), (3, 2, 1), (8, 3, 3)):
        row = outcome.logits[place]
        assert found[place] == row[ours[place[1:]]] - row[theirs[place[1:]]]
    with pytest.raises(CarryLensError, match="logits=True"):
        Engine(model).run(EDITS, asked, sources, reference=some(6, 2)).difference(ours, theirs)


@pytest.mark.parametrize(("behind", "is_close"), [(0.0, True), (0.5e-9, True), (2e-9, False)])
def test_a_tie_goes_to_the_first_token_and_is_called_close(behind: float, is_close: bool) -> None:
    model = random_model(CONFIG, 1)
    with torch.no_grad():
        model.unembed.W_U.zero_()
        model.unembed.b_U.zero_()
        model.unembed.b_U[3], model.unembed.b_U[7] = 1.0, 1.0 - behind
    outcome = Engine(model).run([interchange("P5L0H0")], some(3), some(3, 1))
    assert (outcome.tokens == 3).all()
    assert (outcome.close == is_close).all()


def test_a_trained_models_clean_answers_are_right() -> None:
    model = load("add_d5_l1_h3_w96_t5K_s1")
    asked = Population(PopulationKind.NATURAL, Operation.ADD, 5).draw(1, 0, 50)
    outcome = Engine(model).run(
        [ablate("P0L0H0", "zero"), interchange("P11L0H0 + P11L0H1 + P11L0H2 + P11L0MLP")], asked, asked
    )
    assert not outcome.failed.any()
    assert outcome.texts()[0].tolist() == answers(asked).text()
    assert (outcome.clean_margins > 0).all()
