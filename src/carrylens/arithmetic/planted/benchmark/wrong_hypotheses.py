"""Wrong hypotheses: does a map confirm an algorithm that a model does not run?

Takes  planted circuits of the left-to-right algorithm and of its rivals.
Gives  for each the verdict under every hypothesis, and whether that is right.
Never  counts an open verdict as right or as wrong: it is counted apart.

- A left-to-right circuit must be found to run its own algorithm and no rival's; a one-layer circuit likewise; a
  place-value circuit must be found to run none of them.
- In a circuit with binary carries a fetching head holds what SC or what S9 is made from, not both: such heads are
  evaluated on the tri-state ST, which must not be given to them.

Circuits are mapped in full even where the run is light: on less evidence the judge rejects no hypothesis for want of a
carrier. Only a small run has small maps.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from carrylens.arithmetic.hypotheses import left_to_right, rivals_of
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Carry, Dials, describe, one_layer, place_value
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.saved_results import Plain
from carrylens.claims.judgement import judge
from carrylens.claims.verdicts import ModelVerdict
from carrylens.discovery.node_search import MapSettings, map_model
from carrylens.discovery.roles import find_roles
from carrylens.discovery.search import SearchContext
from carrylens.interventions.engine import Engine

RIGHT, WRONG, OPEN = "right", "wrong", "open"
_OWN = {"left-to-right": 0, "one-layer": 1, "place-value": None}  # which of the hypotheses each circuit runs


def hypothesis_records(run: BenchmarkRun, digits: int, n_seeds: int) -> Iterator[Plain]:
    """A record for each planted circuit and hypothesis."""
    circuits = [*_circuits(digits, n_seeds)]
    for at, (name, runs, description) in enumerate(circuits):
        run.progress(f"hypotheses on {name}", at, len(circuits))
        compute = partial(_verdicts, run, runs, description)
        saved = run.results.once(f"accounts/{name}", _about(run, circuit=name), compute)
        for verdict in saved["verdicts"]:
            yield {"part": "accounts", "circuit": name, "runs": runs, **verdict}


def binary_carry_record(run: BenchmarkRun, digits: int) -> Plain:
    """How often ST is given to a head that holds only a part of it, in an addition with binary carries."""

    def compute() -> Plain:
        planted = plant(describe(Operation.ADD, digits, Dials(carry=Carry.BINARY, rotated=True)))
        halves = {n: v for n, v in planted.truth.roles.items() if {x.name for x in v} in ({"SC"}, {"S9"})}
        heads = sorted(node for node in halves if not node.is_mlp and any(v.index for v in halves[node]))
        task, settings = arithmetic_task(Operation.ADD, digits), MapSettings.chosen(quick=run.small).roles
        search = SearchContext(Engine(planted.model, task), task.causal, settings)
        roles = find_roles(search, [(head,) for head in heads])
        given = sorted({f"{role.nodes[0]} {role.variable}" for role in roles if role.variable.name == "ST"})
        rates = {f"{r.nodes[0]} {r.variable} token {r.token}": r.hit.value for r in roles if r.variable.name == "ST"}
        return {"tested": len(heads), "given": given, "hits": rates}

    saved = run.results.once(f"accounts/binary_d{digits}", _about(run, digits=digits), compute)
    return {"part": "tri-state asked of binary carries", **saved}


def verdict_on(found: ModelVerdict, is_own: bool) -> str:
    """Whether a verdict on a hypothesis is right, given whether the circuit runs it."""
    if found is ModelVerdict.NOT_SETTLED:
        return OPEN
    return RIGHT if (found is ModelVerdict.RUNS) == is_own else WRONG


def _about(run: BenchmarkRun, **more: object) -> Plain:
    return run.about(**more) | {"quick": run.small}


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


def _verdicts(run: BenchmarkRun, runs: str, description: CircuitDescription) -> Plain:
    digits, own = description.digits, _OWN[runs]
    settings = MapSettings.chosen(description.seed, quick=run.small)
    found = map_model(plant(description).model, "planted", arithmetic_task(Operation.ADD, digits), settings).map
    verdicts = []
    for at, hypothesis in enumerate((left_to_right(Operation.ADD, digits), *rivals_of(Operation.ADD, digits))):
        verdict, is_own = judge(found, hypothesis).verdict, at == own
        said = {"account": hypothesis.name, "is_own": is_own, "skeleton": verdict.value}
        verdicts.append({**said, "verdict": verdict_on(verdict, is_own)})
    return {"verdicts": verdicts}
