"""The truth about aligned models, in the form that methods are scored against.

Takes  an alignment, the algorithm it is of, and the nodes of the model.
Gives  `KnownTruth`: each site as a whole, all other nodes idle, and what each hypothesis deserves to be called.
Never  says which nodes of a site do the work: training decides that.
"""

from __future__ import annotations

from collections.abc import Iterable

from carrylens.alignment import Alignment
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.aligned.named_algorithms import named_algorithms
from carrylens.arithmetic.aligned.sites import is_held_by
from carrylens.arithmetic.mixtures import GATED_TENTHS, weighted_on_some
from carrylens.arithmetic.rivals import weighted_sum
from carrylens.benchmark.known_truth import KnownTruth, RunVerdict, TrueGroup
from carrylens.nodes import Node
from carrylens.tasks.causal import CausalModel


def aligned_truth(alignment: Alignment, causal: CausalModel, nodes: Iterable[Node]) -> KnownTruth:
    """All that is known of a model that was accepted."""
    groups = tuple(
        TrueGroup(variable, site.copies, site.outputs, as_whole=True, share=_share(causal, variable.name))
        for site in alignment.sites
        for variable in site.variables
    )
    deserved = aligned_verdicts(causal, alignment) if isinstance(causal, Algorithm) else {}
    return KnownTruth(groups, idle=frozenset(alignment.idle(nodes)), deserved=deserved)


def aligned_verdicts(model: Algorithm, alignment: Alignment) -> dict[str, RunVerdict]:
    """What a model that holds `model` by an alignment deserves to be called under each algorithm that has a name.

    A mixture runs each of its parts in part.
    """
    parts = {
        weighted_on_some(model.operation, model.digits, tenths).name: {
            algorithm(model.operation, model.digits).name,
            weighted_sum(model.operation, model.digits).name,
        }
        for tenths in GATED_TENTHS
    }.get(model.name, set())
    found = {}
    for name, other in named_algorithms(model.operation, model.digits).items():
        in_part = RunVerdict.IN_PART if name in parts else RunVerdict.DOES_NOT_RUN
        found[name] = RunVerdict.RUNS if is_held_by(other, model.name, alignment) else in_part
    return found


def _share(causal: CausalModel, name: str) -> float:
    # Behind a gate a carry counts in some questions only: in how many tenths, the mixture's name says.
    if not isinstance(causal, Algorithm):
        return 1.0
    for tenths in GATED_TENTHS:
        if causal.name == weighted_on_some(causal.operation, causal.digits, tenths).name:
            return {"WS": tenths / 10, "ST": 1 - tenths / 10, "SV": 1 - tenths / 10}.get(name, 1.0)
    return 1.0
