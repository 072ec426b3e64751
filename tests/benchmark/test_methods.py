"""Every method on small planted circuits, where it is known what each can and cannot see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Operation
from carrylens.arithmetic.pairs import Pairs, effect_pairs, swapping_pairs
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.variables import MD, NB, ST, A
from carrylens.benchmark.baselines import attribution
from carrylens.benchmark.baselines.attention import look
from carrylens.benchmark.baselines.attribution import attribute, attributions_of
from carrylens.benchmark.baselines.linear_probes import balanced, components, probe, probe_gains
from carrylens.benchmark.baselines.published_search import search_as_published
from carrylens.benchmark.carrylens_map import found_of, map_by_swaps
from carrylens.benchmark.circuits import Setting
from carrylens.benchmark.method_result import Found, Given
from carrylens.benchmark.methods import METHODS, chosen_methods
from carrylens.benchmark.node_outputs import asked_variables
from carrylens.benchmark.scores import score
from carrylens.discovery.interchange import answer_tokens
from carrylens.discovery.node_map import Role
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node

PLAIN, DECOYS = (Setting(dial, Operation.ADD, 2, 0) for dial in ("plain", "decoys"))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def plain() -> Planted:
    return plant(PLAIN.description)


@pytest.fixture(scope="module")
def decoys() -> Planted:
    return plant(DECOYS.description)


def given(planted: Planted, setting: Setting) -> Given:
    return Given(planted.model, setting.causal, setting.seed, quick=True)


@pytest.mark.slow
def test_ours_is_exact_on_the_plain_circuit(plain: Planted) -> None:
    result = score(plain.truth, PLAIN.causal, map_by_swaps(given(plain, PLAIN)))
    assert (result.wrong, result.missed, result.wrong_groups) == ((), (), ())


def test_a_role_of_a_set_is_every_members_role() -> None:
    nodes = (Node(3, 0, 0), Node(3, 0, 1))
    found = found_of([Role(nodes, ST[1], 1, Rate(9, 9), Rate(0, 9), 0.0)], [nodes])
    assert found.roles == {node: {ST[1]} for node in nodes}
    assert found.groups == {frozenset(nodes)}


def test_the_published_search_finds_heads_takes_any_change_for_a_carry_and_is_silent_about_the_rest(
    plain: Planted,
) -> None:
    result = score(plain.truth, PLAIN.causal, search_as_published(given(plain, PLAIN)))
    assert set(result.wrong) == {"P7L0H0 ST[1]", "P8L0H0 ST[0]"}, "heads that fetch a column's sum change its digit"
    heads = {f"{n} {v}" for n, some in plain.truth.roles.items() for v in some if n.is_mlp or v.name in ("SV", "A")}
    assert set(result.missed) == heads


def test_the_published_search_loses_what_has_copies() -> None:
    setting = Setting("redundancy", Operation.ADD, 2, 0)
    planted = plant(setting.description)
    assert score(planted.truth, setting.causal, search_as_published(given(planted, setting))).roles.n_both == 0


def test_attention_alone_is_fooled_by_decoys_and_cannot_tell_a_columns_variables_apart(decoys: Planted) -> None:
    result = score(decoys.truth, DECOYS.causal, look(given(decoys, DECOYS)).above(0.9))
    assert result.decoys.n_found > 0
    assert "P3L0H0 SA[1]" in result.wrong  # where ST[1] is fetched
    assert not {name for name in result.missed if "MLP" not in name and "SV" not in name}


def test_a_probe_reads_what_nobody_else_reads(decoys: Planted) -> None:
    scored = probe(given(decoys, DECOYS))
    assert score(decoys.truth, DECOYS.causal, scored.above(0.9)).decoys.n_found > 0
    assert scored.scores[Node.parse("P3L0MLP"), ST[1]] > 0.9


def test_probes_find_nothing_in_noise() -> None:
    features = torch.randn(20, 160, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(160) % 2
    gains = probe_gains(features, labels, seed=0)
    assert float(gains.abs().mean()) < 0.2
    features[:, :, 3] = labels.double() * 2 - 1
    assert float(probe_gains(features, labels, seed=0).min()) > 0.9


def test_probes_get_every_value_equally_often() -> None:
    drawn = balanced(PLAIN.causal, ST[1], seed=0)
    assert drawn is not None
    counts = np.bincount(drawn[1].numpy())
    assert len(set(counts)) == 1
    half = len(drawn[1]) // 2
    assert len(set(np.bincount(drawn[1][:half].numpy()))) == 1


def test_attribution_finds_carriers_and_leaves_decoys(decoys: Planted) -> None:
    scored = attribute(given(decoys, DECOYS)).scores
    assert scored[Node.parse("P3L0MLP"), ST[1]] > 0.3
    assert all(abs(scored[node, ST[1]]) < 0.01 for node in decoys.truth.decoys if (node, ST[1]) in scored)


def test_attributions_are_zero_where_nothing_is_read() -> None:
    """With one layer, what an MLP writes before the answer's first place reaches no logit that is asked."""
    model = Transformer(ModelConfig.of_width(2, n_layers=1, n_heads=1, width=24, seed=3)).eval().double()
    pairs = effect_pairs(PLAIN.causal, A[1], 8, seed=0)
    found = attributions_of(model, pairs, ["blocks.0.attn.hook_z", "blocks.0.hook_mlp_out"])
    assert all(bool(each.isfinite().all()) for each in found.values())
    read = found["blocks.0.hook_mlp_out"].abs().amax((0, 2))
    assert float(read[:5].max()) == 0.0
    assert float(read[5:].max()) > 0.0


def test_attribution_asks_for_digits_as_the_written_sign_has_them_and_leaves_out_what_shows_nothing() -> None:
    """A source of the other sign asks for the sign alone: its digits would be those of a question read backwards."""
    causal = Setting("plain", Operation.SUB, 2, 0).causal
    model = Transformer(ModelConfig.of_width(2, n_layers=1, n_heads=1, width=24, seed=3)).eval().double()
    pairs = effect_pairs(causal, NB[0], 64, seed=0)
    shown = (answer_tokens(pairs.base, pairs.written()) != answer_tokens(pairs.base)).any(1)
    (found,) = attributions_of(model, pairs, ["blocks.0.hook_mlp_out"]).values()
    assert len(found) == shown.sum() < len(pairs)
    other = replace(pairs, expected=causal.answers(pairs.source))
    (same,) = attributions_of(model, other, ["blocks.0.hook_mlp_out"]).values()
    assert torch.equal(found, same), "what a pair says is expected is not asked"


def test_attribution_has_the_pairs_that_our_swaps_have(monkeypatch: pytest.MonkeyPatch) -> None:
    setting, drawn = Setting("plain", Operation.SUB, 2, 0), list[Pairs]()

    def draw(model: Transformer, pairs: Pairs, points: list[str]) -> dict[str, torch.Tensor]:
        drawn.append(pairs)
        return attributions_of(model, pairs, points)

    monkeypatch.setattr(attribution, "attributions_of", draw)
    attribute(given(plant(setting.description), setting))
    digits = next(pairs for pairs in drawn if pairs.variable == MD[1])
    ours = swapping_pairs(setting.causal, MD[1], 32, 0)
    assert digits.base.text() == ours.base.text()
    assert digits.source.text() == ours.source.text()


def test_a_probe_reads_one_of_three_digits_that_are_written_beside_each_other() -> None:
    digits = torch.randint(0, 10, (3, 320), generator=torch.Generator().manual_seed(0))
    written = torch.cat([torch.nn.functional.one_hot(each, 10).double() for each in digits], -1)
    gains = probe_gains(torch.stack([components(written)]), digits[2], seed=0)
    assert float(gains[0]) > 0.95


@pytest.mark.parametrize("operation", Operation)
def test_baselines_are_asked_for_what_a_circuit_may_hold(operation: Operation) -> None:
    setting = Setting("plain", operation, 2, 0)
    truth = plant(setting.description).truth
    planted = {variable for variables in truth.roles.values() for variable in variables}
    assert planted <= set(asked_variables(setting.causal))


def test_methods_that_are_not_there_are_refused() -> None:
    assert chosen_methods([]) == METHODS
    with pytest.raises(CarryLensError, match="There is no method 'tea leaves'. Write one of ours, published, "):
        chosen_methods(["tea leaves"])


def test_a_method_that_finds_nothing_has_no_precision(plain: Planted) -> None:
    result = score(plain.truth, PLAIN.causal, Found())
    assert result.roles.precision is None
    assert result.roles.recall == 0.0
