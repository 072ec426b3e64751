"""Descriptions can be read, written and edited, and what cannot work is refused with the reason."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from arithmetic.planted.interchanges import answer_tokens, answered, questions_of
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.planted.description import CircuitDescription, PlantedRole
from carrylens.arithmetic.planted.dials import Carry, Dials, Timing, describe, one_layer, place_value, right_to_left
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Variable

ADDITION = describe(Operation.ADD, 3)


def with_role(variable: str, nodes: str, description: CircuitDescription = ADDITION) -> CircuitDescription:
    """The description with a variable's roles replaced by one at other nodes."""
    kept = [role for role in description.roles if role.variable != Variable.parse(variable)]
    return replace(description, roles=(*kept, PlantedRole.of(variable, nodes)))


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("dials", [Dials(), Dials(redundancy=2, decoys=1, noise=1, timing=Timing.TAIL, rotated=True)])
def test_a_description_becomes_json_and_comes_back_equal(operation: Operation, dials: Dials) -> None:
    description = describe(operation, 4, dials)
    assert CircuitDescription.from_json(description.to_json()) == description


def test_the_shape_may_be_left_out() -> None:
    plain = json.loads(ADDITION.to_json())
    for key in ("n_layers", "n_heads", "decoys", "method", "noise", "rotated", "seed", "width"):
        del plain[key]
    assert CircuitDescription.from_json(json.dumps(plain)) == ADDITION


def test_ones_own_description_is_planted_where_it_says() -> None:
    six = describe(Operation.ADD, 6)
    own = with_role("ST[3]", "P9L0H1 + P9L0MLP", six)
    own = with_role("SA[3]", "P17L0H2", own)  # no MLP: the combiner reads the sum itself
    own = with_role("SV[2]", "P17L1H2", replace(own, n_heads=3))
    planted = plant(own)
    assert {str(node) for node in planted.truth.roles} >= {"P9L0H1", "P17L0H2", "P17L1H2", "P17L1MLP"}
    assert "P17L0MLP" not in {str(node) for node in planted.truth.roles}
    questions = questions_of(Operation.ADD, 6, 300, seed=4)
    assert bool((answered(planted.model, questions) == answer_tokens(questions, answers(questions))).all())


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        (
            with_role("ST[0]", "P5L0H0 + P5L0MLP"),
            r"^ST\[0\] at P5L0H0 \+ P5L0MLP\b.*D'\[0\].*\bP6\b",
        ),
        (with_role("ST[0]", "P9L0H0 + P9L0MLP"), r"^SV\[2\] at P8L1H0\b.*ST\[0\].*\bP9\b"),
        (with_role("ST[0]", "P6L0H0 + P6L1MLP"), r"^SV\[2\] at P8L1H0\b.*ST\[0\] at P6L0H0 \+ P6L1MLP.*\b2\b"),
        (with_role("ST[1]", "P6L0H0 + P6L0MLP"), r"^ST\[1\] at P6L0H0 \+ P6L0MLP\b.*P6L0H0.*ST\[0\] at P6L0H0"),
        (with_role("ST[0]", "P6L2H0 + P6L2MLP"), r"\b2\b.*\b13\b.*P6L2(H0|MLP)"),
        (with_role("ST[0]", "P6L0H7 + P6L0MLP"), r"^ST\[0\] at P6L0H7\b.*\b1\b.*\b0\b.*P6L0H7"),
        (with_role("ST[0]", "P6L0H0"), r"^ST\[0\] at P6L0H0 .*\b1\b.*ST\[0\] at P6L0H0 \+ P6L0MLP"),
        (with_role("ST[0]", "P6L0H0 + P7L0MLP"), r"^ST\[0\] at P6L0H0 \+ P7L0MLP\b.*places"),
        (with_role("SA[1]", "P5L0H0 + P5L0MLP"), r"^SA\[1\] at P5L0H0\b.*\bP10\b.*\bP10\b"),
        (with_role("SV[1]", "P10L1H0"), r"^A\[2\] at P9L1MLP\b.*SV\[1\].*\bP10\b"),
        (with_role("A[1]", "P10L0MLP"), r"^SA\[1\] at P10L0H0\b.*A\[1\].*P10L0MLP"),
        (with_role("A[1]", "P11L1MLP"), r"^A\[1\].*\bP10\b.*A\[1\] at P10L1MLP"),
        (
            replace(ADDITION, roles=tuple(r for r in ADDITION.roles if str(r.variable) != "SV[1]")),
            r"^A\[2\].*SV\[1\] at P9\b",
        ),
        (replace(ADDITION, roles=(*ADDITION.roles, PlantedRole.of("MD[1]", "P10L0H0"))), r"MD\[1\]"),
        (replace(ADDITION, roles=(*ADDITION.roles, *ADDITION.of("ST[1]"))), r"^SV\[2\].*\b1\b.*\bP8\b.*\b2\b.*ST\[1\]"),
        (describe(Operation.SUB, 3, Dials(delay=2)), r"^MV\[2\] at P7L1H0\b.*MB\[0\].*\bP8\b"),
        (right_to_left(Operation.ADD, 3), r"^C\[1\] at P10L0H0\b.*C\[0\].*\bP11\b"),
        (right_to_left(Operation.SUB, 3), r"^B\[1\] at P10L0H0\b.*B\[0\].*\bP11\b"),
        (replace(right_to_left(Operation.ADD, 1), roles=()), "right-to-left.*first digit.*last carry"),
        (replace(one_layer(3), operation=Operation.SUB), "one-layer.*sub.*add"),
        (replace(place_value(3), roles=place_value(3).roles[1:]), r"^A\[3\].*\bP8\b.*P8L0H0"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(description: CircuitDescription, reason: str) -> None:
    with pytest.raises(CarryLensError) as refusal:
        plant(description)
    assert re.search(reason, str(refusal.value))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "JSON"),
        ("[]", "circuit description"),
        ('{"operation": "add", "digits": 3, "roles": [], "colour": 1}', "at colour"),
        ('{"operation": "add", "digits": 3, "roles": ["ST[3]"]}', "at roles[0]"),
        ('{"operation": "add", "digits": 3, "roles": [{"variable": "ST[3]", "nodes": ""}]}', "ST[3] has no node"),
        ('{"operation": "times", "digits": 3, "roles": []}', "times"),
    ],
)
def test_json_that_is_no_description_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CarryLensError) as refusal:
        CircuitDescription.from_json(text)
    assert reason in str(refusal.value)


def test_dials_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CarryLensError, match="redundancy.*0.*1 to 9"):
        Dials(redundancy=0)
    with pytest.raises(CarryLensError, match="noise.*rotated.*seed"):
        one_layer(3, Dials(carry=Carry.BINARY))
