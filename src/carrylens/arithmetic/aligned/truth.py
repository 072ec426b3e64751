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
from carrylens.arithmetic.aligned.named_algorithms import named_algorithms, weighted_by_units
from carrylens.arithmetic.aligned.sites import BINARY_CARRIES, is_held_by
from carrylens.arithmetic.hypotheses import rival_algorithms
from carrylens.arithmetic.mixtures import GATED_TENTHS, weighted_on_some
from carrylens.arithmetic.rivals import weighted_sum
from carrylens.benchmark.known_truth import KnownTruth, RunVerdict, TrueGroup
from carrylens.nodes import Node
from carrylens.tasks.causal import CausalModel

_GATES = (weighted_on_some, weighted_by_units)
_WEIGHED, _RESOLVED = ("WS", "WM", "WN"), ("ST", "SV", "MB", "MV", "NB", "NV")


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

    A mixture runs the left-to-right algorithm in part. No verdict is deserved under an algorithm that states less than
    what the model runs, or the same in another code: see `_is_open`.
    """
    operation, digits = model.operation, model.digits
    others = {
        **named_algorithms(operation, digits),
        **{each.name: each for each in rival_algorithms(operation, digits)},
    }
    usual = algorithm(operation, digits).name
    found = {}
    for name, other in others.items():
        if name != model.name and _is_open(model, other):
            continue
        in_part = RunVerdict.IN_PART if name == usual and model.name in _mixtures(model) else RunVerdict.DOES_NOT_RUN
        found[name] = RunVerdict.RUNS if is_held_by(other, model.name, alignment) else in_part
    return found


def _is_open(model: Algorithm, other: Algorithm) -> bool:
    """Whether what runs `model` may rightly be called running `other`, or not, as one takes it.

    - Weighted sums state less than the left-to-right algorithm and its mixtures: any resolved carry is such a sum's.
    - A gate on which nothing depends but where the same carry comes from can be read into all of these.
    - Two binary flags of a column are another code for its one tri-state value.
    """
    usual, weighed = (state(model.operation, model.digits).name for state in (algorithm, weighted_sum))
    binary, mixtures = f"{usual}{BINARY_CARRIES}", _mixtures(model)
    if model.name == weighed:
        return other.name in mixtures
    return model.name in {usual, binary} | mixtures and other.name in {weighed, binary} | mixtures


def _mixtures(model: Algorithm) -> set[str]:
    of = model.operation, model.digits
    return {gate(*of, tenths).name for gate in _GATES for tenths in GATED_TENTHS}


def _share(causal: CausalModel, name: str) -> float:
    # Behind a gate a carry counts in some questions only: in how many tenths, the mixture's name says.
    if not isinstance(causal, Algorithm):
        return 1.0
    for tenths in GATED_TENTHS:
        if causal.name in {gate(causal.operation, causal.digits, tenths).name for gate in _GATES}:
            return tenths / 10 if name in _WEIGHED else 1 - tenths / 10 if name in _RESOLVED else 1.0
    return 1.0
