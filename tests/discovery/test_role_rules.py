"""What no role is: two values blurred into one, several routes at once, a product beside its part."""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic import Operation
from carrylens.arithmetic.planted.dials import Dials, describe, one_layer
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import ST
from carrylens.discovery.interchange_outcomes import blurred_sets, draw_stimuli, interchanges
from carrylens.discovery.joint_roles import has_product
from carrylens.discovery.node_map import Role
from carrylens.discovery.roles import set_parts
from carrylens.discovery.stimulus_spec import StimulusSpec
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine
from carrylens.interventions.waves import Waves
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, parse_nodes
from carrylens.tasks.balance import in_turns
from carrylens.tasks.variables import Variable

TASK = arithmetic_task(Operation.ADD, 3)
CAUSAL = TASK.causal


def nodes(text: str) -> tuple[Node, ...]:
    return tuple(sorted(parse_nodes(text)))


def blurred(model: Transformer, text: str, variable: Variable, output: str) -> bool:
    token = [str(each) for each in CAUSAL.outputs].index(output)
    stimuli = draw_stimuli(TASK, CAUSAL, variable, StimulusSpec(60, 0), token)
    (found,) = Waves(Engine(model, TASK)).run([interchanges([nodes(text)], stimuli.effect, token)])
    return bool(blurred_sets([nodes(text)], stimuli, found, 6))


def test_a_head_that_knows_a_binary_carry_only_blurs_two_values_of_the_carry_with_three() -> None:
    assert blurred(plant(one_layer(3, Dials())).model, "P9L0H1", ST[1], "A[2]")
    assert not blurred(plant(describe(Operation.ADD, 3, Dials())).model, "P5L0H0", ST[1], "A[2]")


def test_pairs_lead_between_every_two_values() -> None:
    stimuli = draw_stimuli(TASK, CAUSAL, ST[1], StimulusSpec(60, 0), 1)
    before, after = (CAUSAL.run(side)[ST[1]] for side in (stimuli.effect.base, stimuli.effect.source))
    _, counts = np.unique(3 * np.minimum(before, after) + np.maximum(before, after), return_counts=True)
    assert len(counts) == 3
    assert counts.min() >= 6
    assert in_turns(np.array([], dtype=np.int64)).tolist() == []


def test_a_set_has_its_members_and_its_places_as_parts() -> None:
    found = {frozenset(part) for part in set_parts(nodes("P4L0H0 P4L0H2 P8L0H1"))}
    assert found == {frozenset(nodes(text)) for text in ("P4L0H0", "P4L0H2", "P8L0H1", "P4L0H0 P4L0H2")}
    assert set_parts(nodes("P4L0H0")) == []


def test_a_set_with_a_member_that_carries_what_is_made_of_the_variable_does_not_carry_it() -> None:
    def role(text: str, variable: str) -> Role:
        return Role(nodes(text), Variable.parse(variable), 0, Rate(48, 48), Rate(0, 48), 1e-9)

    both = role("P4L0H0 P8L0H1", "ST[2]")
    assert has_product(CAUSAL, both, [role("P8L0H1", "SV[2]")])
    assert not has_product(CAUSAL, both, [role("P8L0H1", "ST[2]"), role("P9L0H1", "SV[2]")])
