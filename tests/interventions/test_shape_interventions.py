"""Edits of models of any shape: no MLP, no norm, GELU, two vocabularies, outputs read anywhere."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carrylens.arithmetic import Operation, Population, PopulationKind
from carrylens.arithmetic.model_shapes import arithmetic_config
from carrylens.errors import CarryLensError
from carrylens.interventions import Edit, Engine, ablate, edge, interchange, keep_only
from carrylens.interventions.clean import clean_book, sequence_bytes
from carrylens.interventions.edits import Edge
from carrylens.interventions.parts import Parts
from carrylens.model import ModelConfig
from carrylens.model.config import ACT_FNS, NORMALIZATIONS
from interventions.array_runs import ArrayCase
from interventions.random_edits import RandomEdits, random_model
from interventions.slow_interventions import Asked, hooked_cache, hooked_logits, looped_logits
from model.shapes import SHAPES

SLOWLY = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def configs(draw: st.DrawFn) -> ModelConfig:
    n_ctx = draw(st.integers(2, 7))
    start = draw(st.integers(0, n_ctx - 1))
    return ModelConfig(
        n_layers=draw(st.integers(1, 3)),
        n_heads=draw(st.integers(1, 3)),
        d_model=draw(st.integers(3, 9)),
        d_head=draw(st.integers(1, 4)),
        d_mlp=draw(st.sampled_from([0, 0, 1, 5, 9])),
        n_ctx=n_ctx,
        d_vocab=draw(st.integers(2, 6)),
        d_vocab_out=draw(st.integers(2, 6)),
        reads=range(start, draw(st.integers(start + 1, n_ctx))),
        act_fn=draw(st.sampled_from(ACT_FNS)),
        normalization=draw(st.sampled_from(NORMALIZATIONS)),
    )


def a_case(config: ModelConfig, seed: int) -> ArrayCase:
    generator = torch.Generator().manual_seed(seed)

    def some(count: int) -> torch.Tensor:
        return torch.randint(config.d_vocab, (count, config.n_ctx), generator=generator)

    tokens, slots, reference = some(3), [some(3), some(3)], some(6)
    reference[:, 0] = torch.arange(6) % 2  # both classes are there
    slots[0][0] = tokens[0]  # one sequence is its own source
    return ArrayCase(random_model(config, seed), tokens, slots, reference)


@settings(SLOWLY, max_examples=30)
@given(config=configs(), seed=st.integers(0, 2**20))
def test_every_edit_agrees_with_the_slow_routes_whatever_the_shape(config: ModelConfig, seed: int) -> None:
    case, make = a_case(config, seed), RandomEdits(config, np.random.default_rng(seed))
    edits = [make.draw() for _ in range(4)]
    double, single = case.run(edits), case.run(edits, copy.deepcopy(case.model).float())
    for edit, fast, rough in zip(edits, double, single, strict=True):
        for row in range(len(case.tokens)):
            asked = case.asked(row)
            slow = looped_logits(asked, edit)
            scale = max(1.0, float(slow.abs().max()))
            assert float((fast[row] - slow).abs().max()) <= 1e-9 * scale, str(edit)
            assert float((rough[row] - slow).abs().max()) <= 2e-4 * scale, str(edit)
            if not any(isinstance(change, Edge) for change in edit.changes):
                assert float((hooked_logits(asked, edit) - slow).abs().max()) <= 1e-9 * scale, str(edit)


@settings(SLOWLY, max_examples=10)
@given(
    d_mlp=st.sampled_from([0, 5]),
    act_fn=st.sampled_from(ACT_FNS),
    norm=st.sampled_from(NORMALIZATIONS),
    seed=st.integers(0, 2**20),
)
def test_the_engine_serves_the_arithmetic_layout_in_any_shape(d_mlp: int, act_fn: str, norm: str, seed: int) -> None:
    config = replace(arithmetic_config(2, 2, 2, 6, 2, d_mlp), act_fn=act_fn, normalization=norm)
    model, make = random_model(config, seed), RandomEdits(config, np.random.default_rng(seed))
    edits = [make.draw(("zero", "interchange", "part", "add", "difference", "edge", "frozen")) for _ in range(4)]
    asked, *slots = (Population(PopulationKind.NATURAL, Operation.ADD, 2).draw(seed + at, 0, 2) for at in range(3))
    points = ["hook_resid_pre", "attn.hook_z", "hook_resid_post"] + (["hook_mlp_out"] if d_mlp else [])
    keep = [f"blocks.1.{point}" for point in points]
    found = Engine(model).run(edits, asked, slots, logits=True, keep=keep)
    assert found.logits is not None
    for row in range(2):
        one = Asked.of(model, row, asked, slots)
        for at, edit in enumerate(edits):
            gap = np.abs(found.logits[at, row] - looped_logits(one, edit).numpy()).max()
            assert gap <= 1e-9, str(edit)
            if any(isinstance(change, Edge) for change in edit.changes):
                continue
            slow = hooked_cache(one, edit)
            for name, kept in found.activations.items():
                gap = np.abs(kept.values[at, row] - slow[name][0, list(kept.positions)].numpy()).max()
                assert gap <= 1e-9, (name, str(edit))


@pytest.mark.parametrize("name", SHAPES)
def test_the_clean_logits_are_those_of_the_model_and_take_as_much_room_as_is_said(name: str) -> None:
    case = a_case(SHAPES[name], 3)
    parts = Parts(case.model)
    with torch.inference_mode():
        book = clean_book(parts, case.tokens)
        whole = case.model(case.tokens)[:, list(parts.config.reads)]
    torch.testing.assert_close(book.logits, whole, rtol=0, atol=1e-11)
    tensors = [value for layer in book.layers for value in vars(layer).values() if isinstance(value, torch.Tensor)]
    size = sum(tensor.numel() * tensor.element_size() for tensor in (*tensors, book.last, book.logits))
    assert size == 3 * sequence_bytes(parts)


def test_the_last_position_counts_where_it_is_read() -> None:
    case = a_case(SHAPES["query tokens, fewer tokens out"], 3)
    clean, edited = case.run([interchange("P8L1H0"), ablate("P8L1H0", "zero")])
    own = case.model(case.tokens)[:, list(case.model.config.reads)].detach()
    assert float((clean[0] - own[0]).abs().max()) <= 1e-12  # its own source
    assert float((edited[:, -1] - own[:, -1]).abs().max()) > 1e-3
    assert torch.equal(edited[:, :-1], clean[:, :-1])


@pytest.mark.parametrize(
    "edit",
    [interchange("P4L0MLP"), keep_only("P4L0MLP"), edge("P4L0MLP", "P4.logits"), edge("P4L0H0", "P4L1MLP")],
    ids=str,
)
def test_an_mlp_that_is_not_there_is_refused_in_one_clear_line(edit: Edit) -> None:
    case = a_case(SHAPES["attention only"], 3)
    with pytest.raises(CarryLensError, match="MLP.*head") as caught:
        case.run([edit])
    assert "\n" not in str(caught.value)


def test_activations_of_an_mlp_that_is_not_there_cannot_be_kept() -> None:
    model = random_model(arithmetic_config(1, 1, 1, 4, 2, 0), 1)
    asked = Population(PopulationKind.NATURAL, Operation.ADD, 1).draw(1, 0, 1)
    for point in ("hook_mlp_out", "hook_resid_mid"):
        with pytest.raises(CarryLensError, match=point):
            Engine(model).run([ablate("P3L0H0", "zero")], asked, keep=[f"blocks.0.{point}"])
