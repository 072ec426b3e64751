"""A truth goes to JSON and comes back; a bad file is one clear line."""

from __future__ import annotations

import json

import pytest

from carrylens.benchmark.known_truth import KnownTruth, RunVerdict, TrueEdge, TrueGroup
from carrylens.benchmark.saved_truth import truth_from_json, truth_to_json
from carrylens.errors import CarryLensError
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

ST, HEAD, MLP = Variable("ST", 1), Node(3, 0, 0), Node(3, 0, None)
TRUTH = KnownTruth(
    (
        TrueGroup(ST, ((HEAD, MLP), (Node(4, 0, 0),)), (Variable("A", 2),), True, 0.7, True, {HEAD: ((1.0, 0.0),)}),
        TrueGroup.of("SA[0]", "P5L0H0"),
    ),
    (TrueEdge(HEAD, Node(9, 1, 0), "v", ST), TrueEdge(Node(9, 1, 0), None, "logits", ST)),
    {Node(3, 0, 1): frozenset({ST})},
    frozenset({(HEAD, Variable("D", 1))}),
    frozenset({Node(0, 0, 0)}),
    {"left-to-right add": RunVerdict.IN_PART},
)


def test_a_truth_comes_back_as_it_was() -> None:
    back = truth_from_json(truth_to_json(TRUTH))
    for name in ("groups", "edges", "decoys", "single_inputs", "idle", "deserved"):
        assert getattr(back, name) == getattr(TRUTH, name), name


def test_groups_alone_suffice_and_other_fields_are_left_alone() -> None:
    back = truth_from_json(b'{"groups": [{"variable": "SA[0]", "copies": ["P5L0H0"]}], "made": "by hand"}')
    assert back.groups == (TrueGroup.of("SA[0]", "P5L0H0"),)
    assert back.idle is None


@pytest.mark.parametrize("change", [{"groups": 3}, {"deserved": {"x": "perhaps"}}, {"groups": None}])
def test_a_file_of_another_form_is_refused_by_name(change: dict[str, object]) -> None:
    content = json.dumps({"groups": []} | change).encode()
    with pytest.raises(CarryLensError, match=r"mine\.json"):
        truth_from_json(content, "mine.json")


def test_a_share_of_nothing_is_refused() -> None:
    with pytest.raises(CarryLensError, match="share"):
        TrueGroup.of("SA[0]", "P5L0H0", share=0.0)
