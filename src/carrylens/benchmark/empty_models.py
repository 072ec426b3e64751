"""Empty models: how often roles are found in models that have none.

Takes  models of which it is known that no node carries anything: untrained ones, and twins with shuffled weights.
Gives  how many roles were tested and how many confirmed, and in how many models any was, beside the stated level.
Never  leaves out a test: see `role_counts.py`.

Here no node is useful, so a map of such a model would test nothing. The roles of sets count as those of single nodes
do: one for each set, variable and output that was tested.
The level is that of the correction: of all roles confirmed in one family of tests, at most that share is false on
average. Where nothing is true, that is the chance of confirming any at all. Single nodes, pairs of heads and groups are
corrected apart, and in each interchange apart from difference patching: up to six families, so the chance of any role
in a model is at most six times the level. That stands beside the share of models with any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from carrylens.benchmark.benchmark_run import BenchmarkRun, NamedProgress
from carrylens.benchmark.known_models import BenchmarkCircuit, EmptyModel, permuted_twin
from carrylens.benchmark.method_interface import Given
from carrylens.benchmark.role_counts import N_TEST_FAMILIES, count_roles, plain_rate, role_text
from carrylens.benchmark.saved_results import Plain
from carrylens.evidence.rates import Rate
from carrylens.model.transformer import Transformer
from carrylens.tasks.task import Task


def twin_of(circuit: BenchmarkCircuit, kind: str) -> EmptyModel:
    """The circuit's model with shuffled weights."""

    def build() -> tuple[Transformer, Task]:
        known = circuit.build()
        return permuted_twin(known.model, circuit.seed), known.task

    return EmptyModel(kind, f"twin_{circuit.name}", circuit.seed, build)


def empty_records(run: BenchmarkRun) -> Iterator[Plain]:
    """For each empty model how many roles were tested, and how many confirmed."""
    for at, empty in enumerate(run.empty_models):
        run.progress(f"nothing there: {empty.name}", at, len(run.empty_models))
        about = run.about(model=empty.name, seed=empty.seed)
        saved = run.results.once(f"nothing_there/{empty.name}", about, partial(_tested, run, empty))
        yield {"part": "nothing there", "kind": empty.kind, "model": empty.name, **saved}


def empty_summary(records: Sequence[Plain]) -> list[Plain]:
    """For each kind of model: roles confirmed of those weighed, models with any of all models, and the level."""
    rows = []
    for kind in dict.fromkeys(record["kind"] for record in records):
        some = [record for record in records if record["kind"] == kind]
        roles = Rate(sum(each["confirmed"] for each in some), sum(each["weighed"] for each in some))
        models = Rate(sum(each["confirmed"] > 0 for each in some), len(some))
        rates = {"roles": plain_rate(roles), "models": plain_rate(models)}
        level = some[0]["level"]
        stated: Plain = {name: sum(each[name] for each in some) for name in ("tested", "of_sets", "hit", "weighed")}
        stated |= {"level": level, "bound": min(1.0, N_TEST_FAMILIES * level)}
        rows.append({"part": "nothing there, summary", "kind": kind, **stated, **rates})
    return rows


def _tested(run: BenchmarkRun, empty: EmptyModel) -> Plain:
    model, task = empty.build()
    given = Given(model, task, task.causal, (), empty.seed, run.quick, progress=NamedProgress(run.progress, empty.name))
    counts = count_roles(given)
    found = sorted(map(role_text, counts.roles))
    n_sets = sum(len(nodes) > 1 for nodes, _, _ in counts.tested)
    numbers = {"tested": len(counts.tested), "of_sets": n_sets, "confirmed": len(found)}
    numbers |= {"hit": len(counts.hit), "weighed": len(counts.weighed)}
    return {**numbers, "found": found, "level": counts.level}
