"""False roles: how often roles are confirmed in models that answer right, at nodes that do not hold the variable.

Takes  circuits of which it is known what every node holds.
Gives  how many false roles were tested and how many confirmed, by what the nodes hold instead, and the true ones too.
Never  leaves out a test: see `role_counts.py`.

In a model that answers right, an interchange can move an output to the right value for a wrong reason, which it hardly
can in one that answers nothing right. What a node may hold instead of the variable is `HeldInstead`, from far to near.
A set is as near as its nearest member; one with a member that does hold the variable is not counted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import partial

import msgspec

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import BenchmarkCircuit, KnownModel
from carrylens.benchmark.method_interface import NodeRole
from carrylens.benchmark.role_counts import N_TEST_FAMILIES, TestedRole, count_roles, plain_rate, role_text
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import is_single_input, is_true_role, settled_role
from carrylens.benchmark.weak_evidence import case_of, found_role
from carrylens.evidence.rates import Rate
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable


class HeldInstead(Enum):
    """What a node holds that does not hold a variable, from far to near. The values are the words of saved results.

    An idle node holds nothing that a later component reads; heads that only write noise are among these. A decoy holds
    a right value that no later component reads. Others hold variables made from inputs of other indices, or from some
    of the same indices.
    """

    IDLE = "idle"
    DECOY = "decoys"
    OTHER_INPUTS = "other columns"
    SAME_INPUTS = "same columns"


_NEARNESS = tuple(HeldInstead)
_COUNTED = ("tested", "hit", "weighed", "confirmed")


def false_role_records(run: BenchmarkRun) -> Iterator[Plain]:
    """For each circuit how many false roles were tested and confirmed, and every role confirmed as a case."""
    for at, circuit in enumerate(run.circuits):
        run.progress(f"not held: {circuit.name}", at, len(run.circuits))
        saved = run.results.once(
            f"{circuit.name}/not_held", run.about(setting=circuit.name), partial(_counted, run, circuit)
        )
        yield {"part": "not held", "setting": circuit.name, **saved}


def false_role_summary(records: Sequence[Plain]) -> list[Plain]:
    """For each kind, and all: false roles confirmed of weighed, circuits with any, and the level they stand beside."""
    rows = []
    every = tuple(kind.value for kind in HeldInstead)
    for name, kinds in (*((kind, (kind,)) for kind in every), ("all", every)):
        tested = [record for record in records if _sum(record, "tested", kinds)]
        counts = {what: sum(_sum(record, what, kinds) for record in tested) for what in _COUNTED}
        roles = Rate(counts["confirmed"], counts["weighed"])
        circuits = Rate(sum(_sum(record, "confirmed", kinds) > 0 for record in tested), len(tested))
        rates = {"roles": plain_rate(roles), "circuits": plain_rate(circuits)}
        rows.append({"part": "not held, summary", "kind": name, **counts, **rates, **_all_together(records)})
    return [row for row in rows if row["tested"]]


def held_instead(known: KnownModel, tested: TestedRole) -> HeldInstead | None:
    """What the nodes hold instead of the variable; None if one of them holds it."""
    nodes, variable, output = tested
    near = [_nearness(known, NodeRole(node, variable, output)) for node in nodes]
    return None if None in near else max((each for each in near if each is not None), key=_NEARNESS.index)


def _nearness(known: KnownModel, role: NodeRole) -> HeldInstead | None:
    truth, causal = known.truth, known.causal
    held = truth.roles.get(role.node)
    if not held:
        return HeldInstead.DECOY if role.node in truth.decoys else HeldInstead.IDLE
    if settled_role(truth, causal, role).variable in held or (role.node, role.variable) in truth.single_inputs:
        return None
    same = any(_share_inputs(causal, role.variable, other) for other in held)
    return HeldInstead.SAME_INPUTS if same else HeldInstead.OTHER_INPUTS


def _share_inputs(causal: CausalModel, one: Variable, other: Variable) -> bool:
    # A switch is read for most variables: it relates none of them but itself.
    switches = {each for each in causal.inputs if each.index is None}
    shared = causal.inputs_of(one) & causal.inputs_of(other)
    return bool(shared if one in switches or other in switches else shared - switches)


def _counted(run: BenchmarkRun, circuit: BenchmarkCircuit) -> Plain:
    known = circuit.build()
    counts = count_roles(run.given(known, circuit))
    run.drop_store(circuit.name)
    kinds: dict[str, Plain] = {kind.value: {**dict.fromkeys(_COUNTED, 0), "found": []} for kind in HeldInstead}
    for tested in counts.tested:
        if kind := held_instead(known, tested):
            kinds[kind.value]["tested"] += 1
            kinds[kind.value]["hit"] += tested in counts.hit
            kinds[kind.value]["weighed"] += tested in counts.weighed
    for role in counts.roles:
        if kind := held_instead(known, (role.nodes, role.variable, role.token)):
            kinds[kind.value]["confirmed"] += 1
            kinds[kind.value]["found"].append(role_text(role))
    roles = [role for role in counts.roles if not is_single_input(known.truth, found_role(role))]
    true = [is_true_role(known.truth, known.causal, found_role(role)) for role in roles]
    cases = [case_of(circuit.name, role, holds) for role, holds in zip(roles, true, strict=True)]
    found = {"right": plain_rate(counts.right), "level": counts.level, "kinds": kinds}
    return {**found, "cases": msgspec.to_builtins(cases)}


def _sum(record: Plain, what: str, kinds: tuple[str, ...]) -> int:
    return sum(int(record["kinds"][kind][what]) for kind in kinds)


def _all_together(records: Sequence[Plain]) -> Plain:
    right, level = [record["right"] for record in records], max(record["level"] for record in records)
    answered = Rate(sum(each["hits"] for each in right), sum(each["n"] for each in right))
    n_roles, bound = sum(len(record["cases"]) for record in records), min(1.0, N_TEST_FAMILIES * level)
    return {"right": plain_rate(answered), "all_confirmed": n_roles, "level": level, "bound": bound}
