"""The truth of hostile plants holds: every node and edge does what it says, by intervention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
import torch

from arithmetic.planted.interchanges import Interchanges, answer_tokens, questions_of
from arithmetic.planted.test_planted_truth import answered_by, edges_by_ends, inputs_of
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.dials import Carry, Dials, Timing, describe
from carrylens.arithmetic.planted.hostile import Hostile, Memorised
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.planted.truth import PlantedGroup, Truth
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.variables import SGN
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.variables import Variable

CASES = {
    "gate": (Operation.ADD, Dials(hostile=Hostile(gate=0.3))),
    "gate, mixed": (Operation.MIX, Dials(polysemy=True, hostile=Hostile(gate=0.5))),
    "gate at the tail": (Operation.SUB, Dials(timing=Timing.TAIL, hostile=Hostile(gate=0.1))),
    "some weighted": (Operation.ADD, Dials(hostile=Hostile(weighted=2))),
    "all weighted": (Operation.SUB, Dials(rotated=True, hostile=Hostile(weighted=3))),
    "split": (Operation.MIX, Dials(hostile=Hostile(split=True))),
    "backup": (Operation.ADD, Dials(hostile=Hostile(backup=True))),
    "cancel": (Operation.SUB, Dials(hostile=Hostile(cancel=True))),
    "spread": (Operation.ADD, Dials(decoys=1, hostile=Hostile(spread=True))),
    "superposed": (Operation.ADD, Dials(decoys=1, noise=1, rotated=True, hostile=Hostile(superposed=True))),
    "table": (Operation.MIX, Dials(hostile=Hostile(memorised=Memorised.TABLE))),
    "backdoor": (Operation.ADD, Dials(carry=Carry.BINARY, hostile=Hostile(memorised=Memorised.BACKDOOR))),
    "all": (
        Operation.ADD,
        Dials(
            decoys=1,
            noise=1,
            rotated=True,
            hostile=Hostile(0.3, 2, True, True, True, True, True, Memorised.TABLE),
        ),
    ),
}
_N_PAIRS, FEWER = 100, 60
"""Each node must be seen to matter; of an edge only what it moves is compared, and there are many."""


def case(name: str) -> Planted:
    operation, dials = CASES[name]
    return plant(describe(operation, 3, dials))


def pairs_of(truth: Truth, count: int = _N_PAIRS) -> tuple[Questions, Questions]:
    """Enriched questions, and among either side some of one repeated digit, for which tables are."""
    operation = truth.description.operation
    base, source = (questions_of(operation, 3, count, seed) for seed in (1, 2))
    return repeated(base, slice(0, 30)), repeated(source, slice(15, 45))


def repeated(questions: Questions, rows: slice) -> Questions:
    """The questions, those in `rows` with their first digit everywhere."""
    first, second = np.array(questions.first), np.array(questions.second)
    first[rows] = first[rows, -1:]
    second[rows] = first[rows, -1:]
    return Questions(first, second, questions.minus)


def predictable(truth: Truth) -> list[tuple[Node, ...]]:
    """Every node by itself, or with the partners without which it holds no value."""
    found: dict[tuple[Node, ...], None] = {(node,): None for node in truth.roles}
    for group in truth.groups:
        for copy in group.copies:
            if len(copy) > 1:
                found = {nodes: None for nodes in found if not set(nodes) & set(copy)} | {copy: None}
    return list(found)


def usual_tokens(truth: Truth, base: Questions) -> torch.Tensor:
    return answer_tokens(base, model_of(truth.description).answers(base))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_interchange_of_any_node_gives_just_the_predicted_answer(name: str) -> None:
    planted = case(name)
    truth, config = planted.truth, planted.model.config
    base, source = pairs_of(truth)
    usual, swaps = usual_tokens(truth, base), Interchanges(planted.model, base, source)
    assert torch.equal(swaps.of_nodes([]), usual)
    silent = set()
    for nodes in predictable(truth):
        given = swaps.of_nodes(nodes)
        assert torch.equal(given, answered_by(truth, base, source, nodes)), nodes
        if torch.equal(given, usual):
            silent |= {group.variable.name for node in nodes for group in truth.groups_of(node)}
    assert silent <= expected_silence(truth), "what alone does nothing is known to"
    others = set(all_nodes(config.n_ctx, config.n_layers, config.n_heads)) - set(truth.roles)
    assert torch.equal(swaps.of_nodes(others), usual), "all the others together do nothing"


def expected_silence(truth: Truth) -> set[str]:
    # Where both routes give the same carry, which of them is taken shows only together with another intervention; a
    # head with the negative is outvoted.
    hostile = truth.description.hostile
    names = {"G"} if hostile.gate else set()
    names |= {"KEY", "MX", "MN"} if hostile.memorised is Memorised.TABLE else set()
    return names | ({"SV", "MV", "NV"} if hostile.cancel else set())


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_interchange_of_any_edge_moves_just_what_it_carries(name: str) -> None:
    planted = case(name)
    truth, (base, source) = planted.truth, pairs_of(planted.truth, FEWER)
    model, swaps = model_of(truth.description), Interchanges(planted.model, base, source)
    theirs, written = model.run(source), model.run(base).pick(SGN)
    partners = {node: copy for group in truth.groups for copy in group.copies if len(copy) > 1 for node in copy}
    for (sender, receiver), carried in edges_by_ends(truth.edges):
        if sender in partners:
            continue  # half of a value: nothing is predicted of it
        given = swaps.of_edge(sender, receiver, inputs_of(carried))
        moved = [pair for group in truth.groups_of(receiver or sender) for pair in moves(group, receiver or sender)]
        if receiver is not None and outvoted(truth, sender):
            moved = []
        do = theirs.pick(*{edge.variable for edge in carried})
        values = model.run(base, do=do if any(SGN in serves for _, serves in moved) else written | do)
        expected = answer_tokens(base, truth.counterfactual(base, values, moved))
        assert torch.equal(given, expected), (sender, receiver)


def moves(group: PlantedGroup, node: Node) -> Iterable[tuple[Variable, tuple[Variable, ...]]]:
    copy = next(copy for copy in group.copies if node in copy)
    if 2 * group.weight_of([copy]) > group.weight_of(group.copies):
        yield group.variable, group.serves


def outvoted(truth: Truth, node: Node) -> bool:
    return any(group.weights and not list(moves(group, node)) for group in truth.groups_of(node))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_the_gate_decides_for_just_its_share_of_questions_which_route_counts(share: float) -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(hostile=Hostile(gate=share))))
    truth, (base, source) = planted.truth, pairs_of(planted.truth)
    swaps, usual = Interchanges(planted.model, base, source), usual_tokens(truth, base)
    opened = base.first[:, -1] < round(10 * share)
    for name, counts in (("SV", ~opened), ("WS", opened)):
        nodes = [node for group in truth.groups if group.variable == Variable(name, 2) for node in group.nodes]
        changed = (swaps.of_nodes([node for node in nodes if not node.is_mlp]) != usual).any(1).numpy()
        assert changed.any()
        assert not changed[~counts].any()
    shares = {group.variable.name: group.share for group in truth.groups}
    assert shares["WS"] == share
    assert shares["ST"] == shares["SV"] == 1 - share
    assert shares["SA"] == shares["A"] == 1.0


def test_which_route_is_taken_shows_together_with_what_the_route_brings() -> None:
    planted = case("gate")
    truth, (base, source) = planted.truth, pairs_of(planted.truth)
    swaps, usual = Interchanges(planted.model, base, source), usual_tokens(truth, base)
    for token in ("A[3]", "A[2]", "A[1]"):
        served = [group for group in truth.groups if Variable.parse(token) in group.serves and group.stage != "table"]
        route = [node for group in served if group.variable.name == "G" for node in group.nodes]
        for name in ("SV", "WS"):
            alone = [node for group in served if group.variable.name == name for node in group.nodes]
            given = swaps.of_nodes([*alone, *route])
            assert torch.equal(given, answered_by(truth, base, source, [*alone, *route]))
            assert not torch.equal(given, swaps.of_nodes(alone)), "the gate's head matters"
            assert torch.equal(swaps.of_nodes(route), usual)


@pytest.mark.parametrize("timing", Timing)
def test_a_backup_acts_only_when_the_first_is_gone(timing: Timing) -> None:
    planted = plant(describe(Operation.ADD, 3, Dials(timing=timing, hostile=Hostile(backup=True))))
    truth, (base, source) = planted.truth, pairs_of(planted.truth)
    usual, swaps = usual_tokens(truth, base), Interchanges(planted.model, base, source)
    assert len(truth.backups) == 3
    for backup in truth.backups:
        assert torch.equal(swaps.of_nodes([backup.node]), usual)
        assert torch.equal(swaps.without([backup.node]), usual)
        assert torch.equal(swaps.without([backup.first]), usual), "the other one stands in"
        assert not torch.equal(swaps.without([backup.first, backup.node]), usual)


def test_a_head_with_the_negative_is_outvoted_alone_and_cancels_the_one_that_makes_up_for_it() -> None:
    planted = case("cancel")
    truth, (base, source) = planted.truth, pairs_of(planted.truth)
    usual, swaps = usual_tokens(truth, base), Interchanges(planted.model, base, source)
    voting = [group for group in truth.groups if group.weights]
    assert {group.variable.name for group in voting} == {"MV", "NV"}
    for group in voting:
        assert sorted(group.weights) == [-1, 1, 1]
        negative = group.copies[group.weights.index(-1)]
        first, second = (copy for copy in group.copies if copy != negative)
        assert torch.equal(swaps.of_nodes(negative), usual)
        assert torch.equal(swaps.of_nodes([*first, *negative]), usual), "they cancel"
        assert torch.equal(swaps.without([*first, *negative]), usual)
        assert not torch.equal(swaps.without([*first, *second]), usual), "only the negative is left"


def test_a_spread_column_moves_only_with_all_of_its_positions() -> None:
    planted = case("spread")
    truth, (base, source) = planted.truth, pairs_of(planted.truth)
    swaps, model = Interchanges(planted.model, base, source), model_of(truth.description)
    parts = [group for group in truth.groups if group.variable.index == 1 and group.stage == "gather"]
    fetching = [group for group in truth.groups if group.variable.index == 1 and group.stage == "fetch"]
    made = [node for group in fetching if group.variable.name.startswith("ST") for node in group.nodes]
    assert len({node.position for node in made}) == 3
    whole = model.answers(base, do=model.run(source).pick("ST[1]"))
    together = [node for group in parts for node in group.nodes]
    assert torch.equal(swaps.of_nodes(made), answer_tokens(base, whole))
    assert torch.equal(swaps.of_nodes(together), answer_tokens(base, whole))
    assert any(not torch.equal(swaps.of_nodes([node]), swaps.of_nodes(made)) for node in made)


def test_superposed_directions_are_far_from_orthogonal() -> None:
    largest = {}
    for superposed in (False, True):
        model = plant(describe(Operation.ADD, 3, Dials(hostile=Hostile(superposed=superposed)))).model
        written = torch.nn.functional.normalize(model.blocks[1].mlp.W_out.detach().double(), dim=1)  # type: ignore[union-attr, operator]
        tokens = written[written.norm(dim=1) > 0.5]
        cosines = (tokens @ tokens.T).abs()
        largest[superposed] = float(cosines[cosines < 1 - 1e-6].max())
    assert largest[False] == pytest.approx(0.5), "of the balancing coordinate alone"
    assert largest[True] > 0.7


@pytest.mark.parametrize(
    ("name", "variable", "lie"),
    [("gate", "WS[1]", "SV[1]"), ("spread", "STY[1]", "ST[1]"), ("split", "SAE[1]", "SA[1]")],
)
def test_a_lie_about_a_hostile_node_is_seen(name: str, variable: str, lie: str) -> None:
    planted = case(name)
    truth, (base, source) = planted.truth, pairs_of(planted.truth)
    (told,) = [g for g in truth.groups if g.variable == Variable.parse(variable) and g.stage == "fetch"]
    lies = [replace(group, variable=Variable.parse(lie)) if group == told else group for group in truth.groups]
    given = Interchanges(planted.model, base, source).of_nodes(told.nodes)
    assert torch.equal(given, answered_by(truth, base, source, told.nodes))
    assert not torch.equal(given, answered_by(replace(truth, groups=tuple(lies)), base, source, told.nodes))
