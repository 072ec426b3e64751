"""Not held: how often roles are found in models that answer right, at nodes that hold nothing of the variable.

Takes  planted circuits, of which it is known what every node holds.
Gives  how many false roles were tested and how many confirmed, by what the nodes hold instead, and the true ones too.
Never  leaves out a test: every node and every pair of heads of one layer at one place is asked, useful or not, and
       groups are searched for.

In a model that answers right, a swap can move a token to the right place for a wrong reason, which it hardly can in
one that answers nothing right. What a node may hold instead of the variable, from far to near:
1. idle: nothing that anybody reads; heads that only write noise are among these.
2. decoys: a right value that nobody reads.
3. other columns: variables that are made from other digits.
4. same columns: variables that are made from some of the same digits.
A set is as near as its nearest member; one with a member that does hold the variable is not asked about here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.variables import OPR
from carrylens.benchmark.circuits import Setting
from carrylens.benchmark.empty_models import FAMILIES, count_roles, plain_rate
from carrylens.benchmark.method_result import Tag
from carrylens.benchmark.method_runs import Work
from carrylens.benchmark.reliability import case_of, is_half, is_true
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import operand_halves, settle
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node, print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable

KINDS = ("idle", "decoys", "other columns", "same columns")
"""What nodes hold that do not hold a variable, from far to near."""

_COUNTED = ("tested", "hit", "weighed", "confirmed")


def held_records(work: Work) -> Iterator[Plain]:
    """For each circuit how many false roles were tested and confirmed, and every role confirmed as a case."""
    for at, setting in enumerate(work.settings):
        work.say(f"not held: {setting.name}", at, len(work.settings))
        kept = work.results.once(
            f"{setting.name}/not_held", work.about(setting=setting.name), partial(_held, work, setting)
        )
        yield {"part": "not held", "setting": setting.name, **kept}


def held_summary(records: list[Plain]) -> list[Plain]:
    """For each kind, and all: false roles confirmed of weighed, circuits with any, and the level they stand beside."""
    rows = []
    for name, kinds in (*((kind, (kind,)) for kind in KINDS), ("all", KINDS)):
        asked = [record for record in records if _sum(record, "tested", kinds)]
        counts = {what: sum(_sum(record, what, kinds) for record in asked) for what in _COUNTED}
        roles = Rate(counts["confirmed"], counts["weighed"])
        circuits = Rate(sum(_sum(record, "confirmed", kinds) > 0 for record in asked), len(asked))
        rates = {"roles": plain_rate(roles), "circuits": plain_rate(circuits)}
        rows.append({"part": "not held, summary", "kind": name, **counts, **rates, **_all_of(records)})
    return [row for row in rows if row["tested"]]


def kind_of(truth: Truth, causal: CausalModel, nodes: Nodes, variable: Variable, token: int) -> str | None:
    """What the nodes hold instead of the variable; None if one of them holds it."""
    near = [_nearness(truth, causal, node, variable, token) for node in nodes]
    return None if None in near else KINDS[max(each for each in near if each is not None)]


def _nearness(truth: Truth, causal: CausalModel, node: Node, variable: Variable, token: int) -> int | None:
    held = truth.roles.get(node)
    if not held:
        return 1 if node in truth.decoys else 0
    known = settle(truth, causal, Tag(node, variable, token)).variable in held
    if known or (node, variable) in operand_halves(truth):
        return None
    return 3 if any(_made_alike(causal, variable, other) for other in held) else 2


def _made_alike(causal: CausalModel, one: Variable, other: Variable) -> bool:
    # The operator is read for most variables: it makes none of them alike but itself.
    shared = causal.inputs_of(one) & causal.inputs_of(other)
    return bool(shared if OPR in (one, other) else shared - {OPR})


def _held(work: Work, setting: Setting) -> Plain:
    planted, causal = plant(setting.description), setting.causal
    given = work.given(planted, setting, setting.name)
    counted = count_roles(given)
    work.drop_store(setting)
    kinds: dict[str, Plain] = {kind: {**dict.fromkeys(_COUNTED, 0), "found": []} for kind in KINDS}
    for asked in counted.tested:
        if kind := kind_of(planted.truth, causal, *asked):
            kinds[kind]["tested"] += 1
            kinds[kind]["hit"] += asked in counted.hit
            kinds[kind]["weighed"] += asked in counted.weighed
    for role in counted.roles:
        if kind := kind_of(planted.truth, causal, role.nodes, role.variable, role.token):
            kinds[kind]["confirmed"] += 1
            kinds[kind]["found"].append(f"{print_nodes(role.nodes)} {role.variable} token {role.token}")
    roles = [role for role in counted.roles if not is_half(planted, role)]
    cases = [case_of(setting.name, role, is_true(planted, setting, role)) for role in roles]
    return {"right": plain_rate(counted.right), "level": counted.level, "kinds": kinds, "cases": cases}


def _sum(record: Plain, what: str, kinds: tuple[str, ...]) -> int:
    return sum(int(record["kinds"][kind][what]) for kind in kinds)


def _all_of(records: list[Plain]) -> Plain:
    right, level = [record["right"] for record in records], max(record["level"] for record in records)
    asked = Rate(sum(each["hits"] for each in right), sum(each["n"] for each in right))
    n_roles = sum(len(record["cases"]) for record in records)
    return {"right": plain_rate(asked), "all_confirmed": n_roles, "level": level, "bound": min(1.0, FAMILIES * level)}
