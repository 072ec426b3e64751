"""Wrong account: does a map confirm an algorithm that a model does not run?

Takes  planted circuits of the left-to-right algorithm and of its rivals.
Gives  for each the verdict on the skeleton under every account, and whether that is right.
Never  counts an open verdict as right or as wrong: it is counted apart.

- A left-to-right circuit must have its own skeleton present and no rival's; a one-layer circuit likewise; a place-value
  circuit must have none.
- In a circuit with binary carries a fetching head holds what SC or what S9 is made from, not both: the tri-state ST is
  asked for there, and must not be given to such a head.

Circuits are mapped in full even where the work is light: on less evidence the judge lets no account fall for want of a
carrier. Only small work has small maps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.hypotheses import left_to_right, rivals_of
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Carry, Dials, describe, one_layer, place_value
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.benchmark.method_runs import Work
from carrylens.benchmark.saved_results import Plain
from carrylens.claims.judgement import judge
from carrylens.claims.verdicts import Skeleton
from carrylens.discovery.node_search import MapSettings, map_model
from carrylens.discovery.roles import find_roles
from carrylens.interventions.engine import Engine

RIGHT, WRONG, OPEN = "right", "wrong", "open"
_OWN = {"left-to-right": 0, "one-layer": 1, "place-value": None}  # which of the accounts each circuit runs


def account_records(work: Work, digits: int, n_seeds: int) -> Iterator[Plain]:
    """A record for each planted circuit and account."""
    circuits = [*_circuits(digits, n_seeds)]
    for at, (name, runs, description) in enumerate(circuits):
        work.say(f"accounts of {name}", at, len(circuits))

        def compute(runs: str = runs, description: CircuitDescription = description) -> Plain:
            return {"verdicts": _verdicts(work, runs, description)}

        kept = work.results.once(f"accounts/{name}", _about(work, circuit=name), compute)
        for verdict in kept["verdicts"]:
            yield {"part": "accounts", "circuit": name, "runs": runs, **verdict}


def binary_record(work: Work, digits: int) -> Plain:
    """How often ST is given to a head that holds only a part of it, in an addition with binary carries."""

    def compute() -> Plain:
        planted = plant(describe(Operation.ADD, digits, Dials(carry=Carry.BINARY, rotated=True)))
        halves = {n: v for n, v in planted.truth.roles.items() if {x.name for x in v} in ({"SC"}, {"S9"})}
        heads = sorted(node for node in halves if not node.is_mlp and any(v.digit for v in halves[node]))
        causal, settings = algorithm(Operation.ADD, digits), MapSettings.chosen(quick=work.small).roles
        roles = find_roles(Engine(planted.model), causal, [(head,) for head in heads], settings)
        given = sorted({f"{role.nodes[0]} {role.variable}" for role in roles if role.variable.name == "ST"})
        rates = {f"{r.nodes[0]} {r.variable} token {r.token}": r.hit.value for r in roles if r.variable.name == "ST"}
        return {"tested": len(heads), "given": given, "hits": rates}

    kept = work.results.once(f"accounts/binary_d{digits}", _about(work, digits=digits), compute)
    return {"part": "tri-state asked of binary carries", **kept}


def _about(work: Work, **more: Any) -> Plain:
    return work.about(**more) | {"quick": work.small}


def _circuits(digits: int, n_seeds: int) -> Iterator[tuple[str, str, CircuitDescription]]:
    for seed in range(n_seeds):
        turned = Dials(rotated=True, seed=seed)
        descriptions = {
            "left-to-right": describe(Operation.ADD, digits, turned),
            "one-layer": one_layer(digits, turned),
            "place-value": place_value(digits, turned),
        }
        for runs, description in descriptions.items():
            yield f"{runs}_d{digits}_s{seed}", runs, description


def _verdicts(work: Work, runs: str, description: CircuitDescription) -> list[Plain]:
    digits = description.digits
    settings = MapSettings.chosen(description.seed, quick=work.small)
    found = map_model(plant(description).model, "planted", Operation.ADD, settings).map
    accounts = [left_to_right(Operation.ADD, digits), *rivals_of(Operation.ADD, digits)]
    own = _OWN[runs]
    return [_verdict(account.name, at == own, judge(found, account).skeleton) for at, account in enumerate(accounts)]


def _verdict(account: str, is_own: bool, skeleton: Skeleton) -> Plain:
    decided = RIGHT if (skeleton is Skeleton.PRESENT) == is_own else WRONG
    verdict = OPEN if skeleton is Skeleton.UNCLEAR else decided
    return {"account": account, "is_own": is_own, "skeleton": skeleton.value, "verdict": verdict}
