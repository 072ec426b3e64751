"""Optional carries: does some node carry SC, MC or NC, the binary carry of one column that no answer needs?

Takes  a model with its map.
Gives  for each such variable and digit the set that carries it best, if one does, beside its null.
Never  takes a set that carries the three-valued carry, by which the binary one would be read, for one of these.

Sets are the single nodes and the sets of the map that carry the three-valued carry; found on some pairs, confirmed on
others (`discovery/optional_roles.py`).
"""

from __future__ import annotations

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.measurements import LabelledRate
from carrylens.arithmetic.paper.measures.measure import PaperMeasure, Rates
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.node_map import Role
from carrylens.discovery.optional_roles import find_optional
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.evidence.rates import Rate
from carrylens.tasks.optional_pairs import optional_claims

_SETTINGS = RoleSettings()
TESTED = "variables with a carrier"


def _measure(context: ExperimentContext) -> Rates:
    subject = context.subject
    task = arithmetic_task(subject.operation, subject.digits)
    roles = [] if subject.map is None else list(subject.map.roles)
    search = SearchContext(subject.engine, task.causal, _SETTINGS)
    found = find_optional(search, [(node,) for node in subject.nodes], roles)
    best: dict[str, Role] = {}
    for role in found:
        label = f"{role.variable} at {task.causal.outputs[role.token]}"
        if label not in best or role.hit.value > best[label].hit.value:
            best[label] = role
    asked = {str(claim.variable) for claim in optional_claims(task.causal)}
    carried = {str(role.variable) for role in found}
    rates = [LabelledRate(f"{label} by {_printed(role)}", role.hit, role.null) for label, role in sorted(best.items())]
    return [LabelledRate(TESTED, Rate(len(carried), len(asked))), *rates]


def _printed(role: Role) -> str:
    return " + ".join(map(str, role.nodes))


def _is_small(name: ModelName) -> bool:
    return name.n_layers > 1 and name.digits <= {Operation.ADD: 8, Operation.SUB: 6}.get(name.operation, 0)


OPTIONAL_CARRIES = PaperMeasure(
    "optional-carries", _is_small, _measure, {"find": _SETTINGS.n_find, "confirm": _SETTINGS.n_confirm}
)
