"""Every method on small planted circuits, where it is known what each can and cannot see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from carrylens.arithmetic import Operation
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.planted.benchmark.circuits import PlantedSetting
from carrylens.arithmetic.planted.benchmark.methods import ARITHMETIC_METHODS, search_as_published
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import MD, NB, ST, A
from carrylens.benchmark.baselines import attribution
from carrylens.benchmark.baselines.attention import score_attention
from carrylens.benchmark.baselines.attribution import attributions_of, score_attribution
from carrylens.benchmark.baselines.linear_probes import balanced, score_probes
from carrylens.benchmark.candidates import candidate_variables
from carrylens.benchmark.carrylens_map import map_by_interchange
from carrylens.benchmark.known_models import KnownModel
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.scores import CircuitScore, score_roles
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.pairs import Pairs, effect_pairs, interchange_pairs

PLAIN, DECOYS = (PlantedSetting(dial, Operation.ADD, 2, 0) for dial in ("plain", "decoys"))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def plain() -> KnownModel:
    return PLAIN.build()


@pytest.fixture(scope="module")
def decoys() -> KnownModel:
    return DECOYS.build()


def given(known: KnownModel) -> Given:
    return Given(known.model, known.task, known.causal, quick=True)


def scored(known: KnownModel, report: Found) -> CircuitScore:
    return score_roles(known.truth, known.causal, report)


def untrained(operation: Operation) -> Given:
    task = arithmetic_task(operation, 2)
    model = Transformer(config_of_width(2, n_layers=1, n_heads=1, width=24, seed=3)).eval().double()
    return Given(model, task, task.causal)


def test_ours_is_exact_on_the_plain_circuit(plain: KnownModel) -> None:
    result = scored(plain, map_by_interchange(given(plain)))
    assert (result.wrong, result.missed, result.wrong_groups) == ((), (), ())


def test_the_published_search_finds_heads_takes_any_change_for_a_carry_and_is_silent_about_the_rest(
    plain: KnownModel,
) -> None:
    result = scored(plain, search_as_published(given(plain)))
    assert set(result.wrong) == {"P7L0H0 ST[1]", "P8L0H0 ST[0]"}, "heads that fetch a column's sum change its digit"
    heads = {f"{n} {v}" for n, some in plain.truth.roles.items() for v in some if n.is_mlp or v.name in ("SV", "A")}
    assert set(result.missed) == heads


def test_the_published_search_loses_what_has_copies() -> None:
    known = PlantedSetting("redundancy", Operation.ADD, 2, 0).build()
    assert scored(known, search_as_published(given(known))).roles.n_both == 0


def test_attention_alone_is_fooled_by_decoys_and_cannot_tell_a_columns_variables_apart(decoys: KnownModel) -> None:
    result = scored(decoys, score_attention(given(decoys)).above(0.9))
    assert result.decoys.n_found > 0
    assert "P3L0H0 SA[1]" in result.wrong  # where ST[1] is fetched
    assert not {name for name in result.missed if "MLP" not in name and "SV" not in name}


def test_attention_scores_variables_whose_rule_reads_the_second_operand_first() -> None:
    """ND and NB are made from D' and D, in that order; heads look at both whatever the order."""
    known = PlantedSetting("plain", Operation.SUB, 2, 0).build()
    scores = score_attention(given(known)).role_scores
    fetched = [(node, v) for node, v in known.truth.input_roles if v.name in ("ND", "NB") and not node.is_mlp]
    assert {v.name for _, v in fetched} == {"ND", "NB"}
    assert all(scores[each] > 0.9 for each in fetched)


def test_a_probe_reads_what_no_component_reads(decoys: KnownModel) -> None:
    found = score_probes(given(decoys))
    assert scored(decoys, found.above(0.9)).decoys.n_found > 0
    assert found.role_scores[Node.parse("P3L0MLP"), ST[1]] > 0.9


def test_probes_get_every_value_equally_often() -> None:
    drawn = balanced(PLAIN.causal, ST[1], seed=0)
    assert drawn is not None
    counts = np.bincount(drawn[1].numpy())
    assert len(set(counts)) == 1
    half = len(drawn[1]) // 2
    assert len(set(np.bincount(drawn[1][:half].numpy()))) == 1


def test_attribution_finds_carriers_and_leaves_decoys(decoys: KnownModel) -> None:
    found = score_attribution(given(decoys)).role_scores
    assert found[Node.parse("P3L0MLP"), ST[1]] > 0.3
    assert all(abs(found[node, ST[1]]) < 0.01 for node in decoys.truth.decoys if (node, ST[1]) in found)


def test_attributions_are_zero_where_nothing_is_read() -> None:
    """With one layer, what an MLP writes before the answer's first place reaches no logit that is read."""
    pairs = effect_pairs(PLAIN.causal, A[1], 8, seed=0)
    found = attributions_of(untrained(Operation.ADD), pairs, ["blocks.0.attn.hook_z", "blocks.0.hook_mlp_out"])
    assert all(bool(each.isfinite().all()) for each in found.values())
    read = found["blocks.0.hook_mlp_out"].abs().amax((0, 2))
    assert float(read[:5].max()) == 0.0
    assert float(read[5:].max()) > 0.0


def test_attribution_wants_digits_as_the_written_sign_has_them_and_leaves_out_what_shows_nothing() -> None:
    """A source of the other sign shows in the sign alone: its digits would be those of a question read backwards."""
    subtraction = untrained(Operation.SUB)
    causal, task = PlantedSetting("plain", Operation.SUB, 2, 0).causal, subtraction.task
    pairs = effect_pairs(causal, NB[0], 64, seed=0)
    shown = (task.output_ids(pairs.base, pairs.counterfactual()) != task.output_ids(pairs.base)).any(1)
    (found,) = attributions_of(subtraction, pairs, ["blocks.0.hook_mlp_out"]).values()
    assert len(found) == shown.sum() < len(pairs)
    other = replace(pairs, expected=causal.output_values(pairs.source))
    (same,) = attributions_of(subtraction, other, ["blocks.0.hook_mlp_out"]).values()
    assert torch.equal(found, same), "what a pair says is expected is not used"


def test_attribution_has_the_pairs_that_our_interchange_has(monkeypatch: pytest.MonkeyPatch) -> None:
    known, drawn = PlantedSetting("plain", Operation.SUB, 2, 0).build(), list[Pairs]()

    def draw(given: Given, pairs: Pairs, points: list[str]) -> dict[str, torch.Tensor]:
        drawn.append(pairs)
        return attributions_of(given, pairs, points)

    monkeypatch.setattr(attribution, "attributions_of", draw)
    score_attribution(given(known))
    digits = next(pairs for pairs in drawn if pairs.variable == MD[1])
    ours = interchange_pairs(known.causal, MD[1], 32, 0)
    assert digits.base == ours.base
    assert digits.source == ours.source


@pytest.mark.parametrize("operation", Operation)
def test_baselines_are_evaluated_on_what_a_circuit_may_hold(operation: Operation) -> None:
    known = PlantedSetting("plain", operation, 2, 0).build()
    assert {variable for _, variable in known.truth.held} <= set(candidate_variables(known.causal))


def test_the_papers_search_stands_beside_the_general_methods() -> None:
    names = [method.name for method in ARITHMETIC_METHODS]
    assert names[0] == "ours"
    assert "published" in names
    assert {method.name for method in ARITHMETIC_METHODS if not method.told} == {"patching", "eap", "eap-ig", "acdc"}


def test_a_method_that_finds_nothing_has_no_precision(plain: KnownModel) -> None:
    result = scored(plain, Found())
    assert result.roles.precision is None
    assert result.roles.recall == 0.0
