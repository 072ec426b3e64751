"""The truth holds: every node and every edge does what it says, by interchange; nothing else does anything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

import pytest
import torch
from torch import Tensor

from arithmetic.planted.interchanges import Interchanges, answer_tokens, answered, questions_of
from carrylens.arithmetic.planted import permuted_twin
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.dials import Carry, Copies, Dials, Timing, describe, one_layer, place_value
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.planted.truth import PlantedEdge, PlantedGroup, Truth
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import encode
from carrylens.arithmetic.variables import SGN, ST
from carrylens.errors import CarryLensError
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.variables import Variable

CASES = {
    "add": (Operation.ADD, Dials()),
    "sub": (Operation.SUB, Dials()),
    "mix": (Operation.MIX, Dials()),
    "polysemy": (Operation.MIX, Dials(polysemy=True)),
    "binary": (Operation.MIX, Dials(carry=Carry.BINARY)),
    "tail": (Operation.SUB, Dials(timing=Timing.TAIL)),
    "delay": (Operation.ADD, Dials(delay=2)),
    "decoys, noise and rotation": (Operation.ADD, Dials(decoys=2, noise=1, rotated=True)),
}
COPIED = {
    "three heads": (Operation.ADD, Dials(redundancy=3)),
    "three heads, three places": (Operation.ADD, Dials(redundancy=3, copies=Copies.PLACES)),
    "tail": (Operation.ADD, Dials(redundancy=3, timing=Timing.TAIL)),
}


def pairs_for(truth: Truth, count: int = 60) -> tuple[Questions, Questions]:
    operation, digits = truth.description.operation, truth.description.digits
    return questions_of(operation, digits, count, seed=1), questions_of(operation, digits, count, seed=2)


def usual_tokens(truth: Truth, base: Questions) -> Tensor:
    return answer_tokens(base, model_of(truth.description).answers(base))


def case(name: str) -> Planted:
    if name in ("one layer", "place value"):
        return plant({"one layer": one_layer, "place value": place_value}[name](3))
    operation, dials = CASES[name]
    return plant(describe(operation, 3, dials))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CASES, "one layer", "place value"])
def test_an_interchange_of_any_node_gives_just_the_predicted_answer(name: str) -> None:
    planted = case(name)
    truth, config = planted.truth, planted.model.config
    base, source = pairs_for(truth)
    usual, interchanges = usual_tokens(truth, base), Interchanges(planted.model, base, source)
    for node in truth.roles:
        given = interchanges.of_nodes([node])
        assert torch.equal(given, answered_by(truth, base, source, [node])), node
        assert not torch.equal(given, usual), node
    others = set(all_nodes(config.n_ctx, config.n_layers, config.n_heads)) - set(truth.roles)
    assert len(others) > 10
    assert torch.equal(interchanges.of_nodes(others), usual), "all the others together do nothing"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_interchange_of_any_edge_moves_just_what_it_carries(name: str) -> None:
    planted = case(name)
    truth, (base, source) = planted.truth, pairs_for(planted.truth)
    model, interchanges = model_of(truth.description), Interchanges(planted.model, base, source)
    theirs, written, usual = model.run(source), model.run(base).pick(SGN), usual_tokens(truth, base)
    edges = list(edges_by_ends(truth.edges))
    n_seen = 0
    for (sender, receiver), carried in edges:
        given = interchanges.of_edge(sender, receiver, inputs_of(carried))
        moved = [(group.variable, group.serves) for group in truth.groups_of(receiver or sender)]
        # The receiver's own variables follow; a digit is made with the sign that was written before it.
        do = theirs.pick(*{edge.variable for edge in carried})
        values = model.run(base, do=do if any(SGN in serves for _, serves in moved) else written | do)
        expected = answer_tokens(base, truth.counterfactual(base, values, moved))
        assert torch.equal(given, expected), (sender, receiver)
        n_seen += not torch.equal(given, usual)
    assert n_seen > 0.9 * len(edges), "nearly all are seen to matter"


def test_an_edge_that_is_not_listed_carries_nothing() -> None:
    planted = plant(describe(Operation.ADD, 3))
    truth, (base, source) = planted.truth, pairs_for(planted.truth)
    interchanges, usual = Interchanges(planted.model, base, source), usual_tokens(truth, base)
    listed = {(edge.sender, edge.receiver) for edge in truth.edges}
    later = [node for node in truth.roles if node.layer == 1 and not node.is_mlp]
    pairs = [(s, r) for s in truth.roles for r in later if s.layer == 0 and s.position <= r.position]
    unlisted = [ends for ends in pairs if ends not in listed]
    assert len(unlisted) > 10
    for sender, receiver in unlisted:
        assert torch.equal(interchanges.of_edge(sender, receiver, "kv"), usual), (sender, receiver)


@pytest.mark.parametrize("name", COPIED)
def test_a_copy_alone_gives_nothing_and_all_copies_together_everything(name: str) -> None:
    operation, dials = COPIED[name]
    planted = plant(describe(operation, 3, dials))
    truth, (base, source) = planted.truth, pairs_for(planted.truth)
    usual, interchanges = usual_tokens(truth, base), Interchanges(planted.model, base, source)
    copied = [group for group in truth.groups if len(group.copies) > 1 and can_be_predicted(truth, group)]
    assert {(group.variable.name, group.stage) for group in copied} == {
        ("SA", "fetch"),
        ("ST", "fetch"),
        ("SV", "bring"),
    }
    for group in copied:
        for copy in group.copies:
            assert torch.equal(interchanges.of_nodes(copy), usual), copy
        together = interchanges.of_nodes(group.nodes)
        assert torch.equal(together, answered_by(truth, base, source, group.nodes)), group
        assert not torch.equal(together, usual), group


@pytest.mark.parametrize("redundancy", [2, 3])
def test_each_copy_suffices_when_the_others_write_nothing(redundancy: int) -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(redundancy=redundancy)))
    base, source = pairs_for(planted.truth)
    usual, interchanges = usual_tokens(planted.truth, base), Interchanges(planted.model, base, source)
    copied = [group for group in planted.truth.groups if len(group.copies) > 1]
    assert len(copied) == 9
    for group in copied:
        for kept in group.copies:
            assert torch.equal(interchanges.without(group.nodes - set(kept)), usual), group
        assert not torch.equal(interchanges.without(group.nodes), usual), group


def test_copies_of_two_columns_in_one_mlp_vote_together_and_are_not_predicted() -> None:
    truth = plant(describe(Operation.ADD, 3, Dials(redundancy=3, copies=Copies.PLACES))).truth
    with pytest.raises(CarryLensError, match=r"ST\[\d\].*ST\[\d\]"):
        truth.moved([Node.parse("P5L0MLP")])


def test_half_of_a_shared_role_is_no_role() -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(sharing=True)))
    truth = planted.truth
    base, source = pairs_for(truth)
    interchanges = Interchanges(planted.model, base, source)
    shared = [group for group in truth.groups if len(group.copies[0]) == 2]
    assert {group.variable.name for group in shared} == {"SA", "ST"}
    for group in shared:
        expected = answered_by(truth, base, source, group.nodes)
        assert torch.equal(interchanges.of_nodes(group.nodes), expected)
        for half in group.copies[0]:
            assert not torch.equal(interchanges.of_nodes([half]), expected)
            with pytest.raises(CarryLensError, match=re.escape(f"share {group.variable}")):
                truth.prediction(base, source, [half])


def test_decoys_hold_their_value_linearly_and_do_nothing() -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(decoys=2, rotated=True)))
    truth = planted.truth
    base, source = pairs_for(truth, 300)
    assert {variable.name for held in truth.decoys.values() for variable in held} == {"ST", "SA"}
    given = Interchanges(planted.model, base, source).of_nodes(list(truth.decoys))
    assert torch.equal(given, usual_tokens(truth, base))
    node = next(node for node in truth.decoys if node.is_mlp)
    wanted = next(iter(variable for variable in truth.decoys[node] if variable.name == "ST"))
    assert probe_accuracy(planted, base, node, wanted) == 1.0


def test_a_lie_about_a_node_is_seen() -> None:
    planted = plant(describe(Operation.ADD, 3))
    base, source = pairs_for(planted.truth)
    head = Node.parse("P5L0H0")
    assert planted.truth.roles[head] == {ST[1]}
    lies = [replace(group, variable=ST[0]) if head in group.nodes else group for group in planted.truth.groups]
    lie = replace(planted.truth, groups=tuple(lies))
    given = Interchanges(planted.model, base, source).of_nodes([head])
    assert torch.equal(given, answered_by(planted.truth, base, source, [head]))
    assert not torch.equal(given, answered_by(lie, base, source, [head]))


def test_a_permuted_twin_has_no_circuit() -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(rotated=True)))
    twin, truth = permuted_twin(planted.model, seed=1), planted.truth
    base, source = pairs_for(truth)
    interchanges = Interchanges(twin, base, source)
    assert sorted(twin.embed.W_E.flatten().tolist()) == sorted(planted.model.embed.W_E.flatten().tolist())
    assert not (answered(twin, base) == usual_tokens(truth, base)).all(1).any()
    for node in truth.roles:
        right = interchanges.of_nodes([node]) == answered_by(truth, base, source, [node])
        assert not right.all(1).any()


def answered_by(truth: Truth, base: Questions, source: Questions, nodes: Iterable[Node]) -> Tensor:
    return answer_tokens(base, truth.prediction(base, source, list(nodes)))


def can_be_predicted(truth: Truth, group: PlantedGroup) -> bool:
    # An MLP with copies of two columns in it moves both at once.
    try:
        for copy in (*group.copies, tuple(group.nodes)):
            truth.moved(copy)
    except CarryLensError:
        return False
    return True


def edges_by_ends(edges: Iterable[PlantedEdge]) -> Iterable[tuple[tuple[Node, Node | None], list[PlantedEdge]]]:
    ordered = sorted(edges, key=lambda edge: (str(edge.sender), str(edge.receiver)))
    for ends, found in groupby(ordered, key=lambda edge: (edge.sender, edge.receiver)):
        yield ends, list(found)


def inputs_of(edges: Iterable[PlantedEdge]) -> str:
    return "".join(sorted({edge.input for edge in edges if edge.input in ("q", "k", "v")}))


def probe_accuracy(planted: Planted, questions: Questions, node: Node, variable: Variable) -> float:
    """How often a least-squares probe on half of a node's outputs reads the variable off the other half."""
    values = torch.from_numpy(model_of(planted.truth.description).run(questions)[variable].copy()).long()
    _, cache = planted.model.run_with_cache(torch.from_numpy(encode(questions)))
    written = cache[f"blocks.{node.layer}.hook_mlp_out"][:, node.position].double()
    half = len(values) // 2
    wanted = torch.nn.functional.one_hot(values, 3).double()
    probe = torch.linalg.pinv(written[:half], rcond=1e-6) @ wanted[:half]
    return float((written[half:] @ probe).argmax(-1).eq(values[half:]).double().mean())
