"""Every method on a model of a task without arithmetic, whose truth is worked out by hand; and methods of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmark.relay import CARRIERS, N, Z, relay_circuit, relay_input, relay_task, relay_truth
from carrylens.benchmark.baselines.attention import score_attention
from carrylens.benchmark.baselines.attribution import score_attribution
from carrylens.benchmark.baselines.linear_probes import components, probe_gains, score_probes
from carrylens.benchmark.baselines.published_search import PublishedSearch
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.candidates import candidate_variables, input_positions, is_useful_at, token_position
from carrylens.benchmark.carrylens_map import as_found, map_by_interchange
from carrylens.benchmark.empty_models import empty_records, empty_summary, twin_of
from carrylens.benchmark.false_roles import false_role_records, false_role_summary
from carrylens.benchmark.known_models import permuted_twin
from carrylens.benchmark.method_interface import DiscoveryMethod, Found, Given
from carrylens.benchmark.method_registry import GENERAL_METHODS, OURS, chosen_methods
from carrylens.benchmark.method_runs import method_records
from carrylens.benchmark.saved_results import SavedResults
from carrylens.benchmark.scores import CircuitScore, score_roles
from carrylens.discovery.node_map import Role
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

FULL = {(node, variable) for variable, node in CARRIERS.items()}


def scored(report: Found) -> CircuitScore:
    return score_roles(relay_truth(), relay_task().causal, report)


def test_the_model_made_by_hand_answers_right() -> None:
    given = relay_input()
    questions = given.task.samplers["uniform"].draw(0, 0, 64)
    logits = given.model(torch.from_numpy(given.task.token_ids(questions)))
    told = logits[:, list(given.task.layout.read_positions)].argmax(-1).numpy()
    assert (told == given.task.output_ids(questions)).all()


def test_candidates_and_their_places_come_from_the_task() -> None:
    given = relay_input()
    assert candidate_variables(given.causal) == [*(N[k] for k in (2, 1, 0)), *(Z[k] for k in (2, 1, 0))]
    assert [input_positions(given, each) for each in (N[2], N[0], Z[2])] == [[0], [2], []]
    assert token_position(given, Z[2]) is None
    assert [is_useful_at(given, Node(at, 0, 0), N[1]) for at in (0, 1, 4, 5)] == [False, True, True, False]


def test_our_map_is_exact() -> None:
    result = scored(map_by_interchange(relay_input()))
    assert (result.wrong, result.missed, result.wrong_groups) == ((), (), ())
    assert result.decoys.n_found == 0


def test_attention_takes_a_decoy_for_a_carrier() -> None:
    scores = score_attention(relay_input()).role_scores
    assert all(scores[each] > 0.99 for each in FULL)
    assert scores[Node(3, 0, 1), N[2]] > 0.99
    assert scored(Found(role_scores=scores).above(0.9)).decoys.n_found > 0


def test_a_probe_reads_what_no_component_reads() -> None:
    scores = score_probes(relay_input()).role_scores
    assert all(scores[each] > 0.95 for each in FULL)
    assert scores[Node(5, 0, 1), N[2]] > 0.95
    assert abs(scores[Node(5, 0, 1), N[0]]) < 0.3


def test_attribution_finds_carriers_and_leaves_decoys() -> None:
    scores = score_attribution(relay_input()).role_scores
    assert all(scores[each] > 0.5 for each in FULL)
    assert all(abs(score) < 0.01 for (node, _), score in scores.items() if node.head == 1)


def test_the_published_search_tests_the_families_it_is_given() -> None:
    own = scored(PublishedSearch(own_output=("N",), any_output=())(relay_input()))
    assert (own.wrong, own.missed) == ((), ())
    assert PublishedSearch((), ())(relay_input()) == Found()


def test_a_role_of_a_set_is_every_members_role() -> None:
    nodes = (Node(3, 0, 0), Node(3, 0, 1))
    found = as_found([Role(nodes, N[1], 1, Rate(9, 9), Rate(0, 9), 0.0)], [nodes])
    assert {(role.node, role.variable) for role in found.node_roles} == {(node, N[1]) for node in nodes}
    assert found.groups == {frozenset(nodes)}


def test_probes_find_nothing_in_noise() -> None:
    features = torch.randn(20, 160, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(160) % 2
    gains = probe_gains(features, labels, seed=0)
    assert float(gains.abs().mean()) < 0.2
    features[:, :, 3] = labels.double() * 2 - 1
    assert float(probe_gains(features, labels, seed=0).min()) > 0.9


def test_a_probe_reads_one_of_three_variables_that_are_written_beside_each_other() -> None:
    values = torch.randint(0, 10, (3, 320), generator=torch.Generator().manual_seed(0))
    written = torch.cat([torch.nn.functional.one_hot(each, 10).double() for each in values], -1)
    gains = probe_gains(torch.stack([components(written)]), values[2], seed=0)
    assert float(gains[0]) > 0.95


def knows_all(given: Given) -> Found:
    return Found(role_scores={each: 0.7 if each in FULL else 0.2 for each in every(given)})


def every(given: Given) -> list[tuple[Node, Variable]]:
    return [(node, variable) for node in given.nodes for variable in candidate_variables(given.causal)]


def test_a_method_of_ones_own_is_scored_like_any_other() -> None:
    methods = [DiscoveryMethod("silent", lambda _given: Found()), DiscoveryMethod("all", knows_all)]
    run = BenchmarkRun([relay_circuit()], [relay_circuit("other")], methods, quick=True)
    silent, told = method_records(run)
    assert (silent["method"], silent["threshold"], silent["result"]["roles"]["n_found"]) == ("silent", None, 0)
    assert 0.2 < told["threshold"] < 0.7
    assert told["result"]["roles"] == {"n_true": 3, "n_found": 3, "n_both": 3}


def test_methods_are_picked_by_name_and_names_are_taken_once() -> None:
    assert chosen_methods([]) == GENERAL_METHODS
    assert [method.name for method in chosen_methods(["probe", OURS])] == ["probe", OURS]
    with pytest.raises(CarryLensError) as refusal:
        chosen_methods(["tea leaves"])
    names = [method.name for method in GENERAL_METHODS]
    assert [each for each in ("'tea leaves'", *names) if each not in str(refusal.value)] == []
    with pytest.raises(CarryLensError, match="probe"):
        chosen_methods(["probe", "probe"])


class _StoppedError(Exception):
    pass


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    evaluated: list[int] = []

    def method(given: Given) -> Found:
        evaluated.append(len(given.nodes))
        return Found()

    def stop(what: str, _done: int, _total: int) -> None:
        if what.endswith("second"):
            raise _StoppedError(what)

    models, methods = [relay_circuit("first"), relay_circuit("second", seed=1)], [DiscoveryMethod(OURS, method)]
    results = SavedResults(tmp_path)
    with pytest.raises(_StoppedError):
        list(method_records(BenchmarkRun(models, methods=methods, results=results, progress=stop)))
    assert len(evaluated) == 1
    run = BenchmarkRun(models, methods=methods, results=results)
    records = list(method_records(run))
    assert len(evaluated) == 2
    assert records == list(method_records(run))
    assert [record["model"] for record in records] == ["first", "second"]
    assert not list(tmp_path.rglob("*.sqlite*"))


def test_a_twin_has_no_roles_and_the_circuit_has_no_false_ones() -> None:
    circuit = relay_circuit()
    run = BenchmarkRun(circuits=[circuit], empty_models=[twin_of(circuit, "twins")], quick=True)
    (empty,) = empty_records(run)
    (row,) = empty_summary([empty])
    assert (empty["confirmed"], row["models"]["hits"], row["models"]["n"]) == (0, 0, 1)
    assert empty["tested"] >= empty["hit"] >= empty["weighed"]
    (record,) = false_role_records(run)
    (together,) = (each for each in false_role_summary([record]) if each["kind"] == "all")
    assert record["right"]["hits"] == record["right"]["n"]
    assert together["confirmed"] == 0 < together["all_confirmed"]
    assert all(each["true"] for each in record["cases"])


def test_a_twin_has_the_same_numbers_in_other_places() -> None:
    model = relay_circuit().build().model
    twin = permuted_twin(model, seed=1)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight.flatten().sort().values, twin.state_dict()[name].flatten().sort().values)
    assert not torch.equal(model.embed.W_E, twin.embed.W_E)
