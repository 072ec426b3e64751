"""Nothing of the truth can be reached from what a method is given; what a method returns is checked."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmark.relay import CARRIERS, N, relay_circuit, relay_model, relay_task, relay_truth
from carrylens.arithmetic.planted.benchmark.suites import suite_models
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.truth import Truth
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import TEST, BenchmarkModel, KnownModel
from carrylens.benchmark.known_truth import KnownTruth, RunVerdict, TrueGroup
from carrylens.benchmark.method_interface import DiscoveryMethod, Found, Given
from carrylens.benchmark.method_runs import method_records
from carrylens.benchmark.saved_results import SavedResults
from carrylens.errors import CarryLensError

TRUTHS = (KnownTruth, Truth, TrueGroup, CircuitDescription, BenchmarkModel, KnownModel, BenchmarkRun, RunVerdict)
_PLAIN = (int, float, complex, bool, bytes, type(None), type, types.ModuleType, torch.Tensor)


def reachable(start: object) -> list[object]:
    """All that attributes, items, closures, bound selves and defaults lead to; not what modules and classes hold."""
    seen: dict[int, object] = {}
    todo = [start]
    while todo:
        each = todo.pop()
        if id(each) in seen or isinstance(each, _PLAIN):
            continue
        seen[id(each)] = each
        if isinstance(each, Mapping):
            todo += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            todo += list(each)
        todo += list(getattr(each, "__dict__", {}).values())
        todo += [getattr(each, slot) for slot in getattr(type(each), "__slots__", ()) if hasattr(each, slot)]
        todo += [cell.cell_contents for cell in getattr(each, "__closure__", None) or ()]
        todo += [getattr(each, "__self__", None), *(getattr(each, "__defaults__", None) or ())]
    return list(seen.values())


def spied(entry: BenchmarkModel, folder: Path) -> Given:
    caught: list[Given] = []

    def spy(given: Given) -> Found:
        caught.append(given)
        return Found()

    list(method_records(BenchmarkRun([entry], methods=[DiscoveryMethod("spy", spy)], results=SavedResults(folder))))
    return caught[0]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("decoys_add_d2_r0", "decoys"),
        ("place-value_add_d3_r0", "place-value"),
        ("gate-30_add_d3_r0", "gate"),
        ("twin_sharing_add_d2_r0", "twin"),
        ("add_d3_l2_h3_w72_t3K_s111", "s111"),  # its folder has its truth
    ],
)
def test_nothing_of_the_truth_can_be_reached_from_what_a_method_is_given(name: str, word: str, tmp_path: Path) -> None:
    (entry,) = (model for model in suite_models((), TEST) if model.name == name)
    found = reachable(spied(entry, tmp_path))
    assert [each for each in found if isinstance(each, TRUTHS)] == []
    words = [each for each in found if isinstance(each, str)] + [str(each) for each in found if isinstance(each, Path)]
    telling = {entry.name, entry.counted_as, word, "planted", "plant", "hostile", "aligned", "decoy", "twin"}
    assert [word for word in words if any(tell in word for tell in telling)] == []


def test_a_leak_is_seen(tmp_path: Path) -> None:
    given = spied(relay_circuit(), tmp_path)
    truth = relay_truth()

    def tells(_what: str, _done: int, _total: int) -> None:
        assert truth

    leaking = replace(given, progress=tells)
    assert [each for each in reachable(leaking) if isinstance(each, TRUTHS)] != []
    given.model.note = entry = relay_circuit()  # type: ignore[assignment]
    assert any(each is entry for each in reachable(given))


def test_a_method_cannot_change_the_model_for_the_next(tmp_path: Path) -> None:
    sums: list[float] = []

    def spoil(given: Given) -> Found:
        sums.append(float(given.model.unembed.W_U.detach().sum()))
        with torch.no_grad():
            given.model.unembed.W_U.zero_()
        return Found()

    methods = [DiscoveryMethod("one", spoil), DiscoveryMethod("two", spoil)]
    list(method_records(BenchmarkRun([relay_circuit()], methods=methods, results=SavedResults(tmp_path))))
    assert sums == [float(relay_model().unembed.W_U.detach().sum())] * 2


@pytest.mark.parametrize(
    ("found", "named"),
    [
        (Found(roles=[("P99L0H0", "N[2]")]), "P99L0H0"),  # type: ignore[list-item]
        (Found(roles=[("P3L0H0", "Q[2]")]), "Q[2]"),  # type: ignore[list-item]
        (Found(roles=[("P3L0H0", "N[2]", 7)]), "7"),  # type: ignore[list-item]
        (Found(roles=[("P3L0H0", "N[2]", 0, 1.5)]), "1.5"),  # type: ignore[list-item]
        (Found(node_scores={"P3L0H0": float("nan")}), "nan"),  # type: ignore[dict-item]
        (Found(verdicts={"another": "runs"}), "another"),  # type: ignore[dict-item]
        ({"P3L0H0": 1.0}, "dict"),
    ],
)
def test_what_is_not_there_is_refused_by_name(found: Found, named: str) -> None:
    run = BenchmarkRun([relay_circuit()], methods=[DiscoveryMethod("mine", lambda _given: found)])
    with pytest.raises(CarryLensError, match="'mine'") as refusal:
        list(method_records(run))
    assert named in str(refusal.value)


def test_a_verdict_that_is_none_is_refused() -> None:
    with pytest.raises(CarryLensError, match="runs in part"):
        Found(verdicts={"x": "perhaps"})  # type: ignore[dict-item]


def test_rows_are_counted_whoever_runs_the_model() -> None:
    def look(given: Given) -> Found:
        ids = torch.from_numpy(given.task.token_ids(given.draw(7)))
        given.model(ids)
        given.model.run_with_cache(ids)
        return Found()

    (record,) = method_records(BenchmarkRun([relay_circuit()], methods=[DiscoveryMethod("look", look)]))
    assert record["rows"] == 14


def test_found_things_come_back_from_json() -> None:
    carrier = CARRIERS[N[2]]
    found = Found(
        roles=[(str(carrier), "N[2]", 0, 0.5)],  # type: ignore[list-item]
        groups=frozenset({frozenset({carrier})}),
        node_scores={carrier: 0.25},
        role_scores={(carrier, N[2]): 1.0},
        edge_scores={"P3L0H0->logits": 2.0},  # type: ignore[dict-item]
        verdicts={"x": "does not run"},  # type: ignore[dict-item]
    )
    assert Found.from_plain(found.plain()) == found
    assert relay_task().causal.variables
