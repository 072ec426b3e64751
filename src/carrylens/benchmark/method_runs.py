"""Method runs: every method on every circuit, one after the other.

Takes  a `BenchmarkRun`.
Gives  a record for each circuit and method, as soon as it is there.
Never  does again what is among the saved results.

1. For each method that needs one, choose a threshold on the training circuits.
2. Build each circuit's model, and let each method map it.
3. Score what it reports against the truth.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import BenchmarkCircuit, KnownModel
from carrylens.benchmark.method_interface import MethodInput, ReportedCircuit
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import score_report
from carrylens.benchmark.thresholds import Threshold, TrainingScores, choose_threshold


def score_methods(run: BenchmarkRun) -> Iterator[Plain]:
    """A record for each circuit and method."""
    names = run.methods.names
    thresholds = {name: threshold_of(run, name) for name in run.methods.scoring}
    for at, circuit in enumerate(run.circuits):
        known = circuit.build()
        for order, method in enumerate(names):
            run.progress(f"{circuit.name} {method}", at * len(names) + order, len(run.circuits) * len(names))
            yield _record(run, circuit, known, method, thresholds.get(method))


def threshold_of(run: BenchmarkRun, method: str) -> Threshold:
    """The method's threshold, chosen on the training circuits."""
    names = [circuit.name for circuit in run.training]

    def compute() -> Plain:
        training = []
        for at, circuit in enumerate(run.training):
            run.progress(f"choosing the threshold of {method}", at, len(run.training))
            known = circuit.build()
            given = MethodInput(known.model, known.task, known.causal, circuit.seed, run.quick)
            training.append(TrainingScores(run.methods.scoring[method](given), known.truth, known.causal))
        found = choose_threshold(training)
        return {"value": found.value, "balance": found.balance}

    return Threshold(**run.results.once(f"thresholds/{method}", run.about(training=names), compute))


def _record(
    run: BenchmarkRun, circuit: BenchmarkCircuit, known: KnownModel, method: str, threshold: Threshold | None
) -> Plain:
    # What was reported is saved; it is scored each time.
    value = None if threshold is None else threshold.value

    def compute() -> Plain:
        started = time.monotonic()
        given = run.method_input(known, circuit, f"{circuit.name} {method}")
        if threshold is None:
            report = run.methods.mapping[method](given)
        else:
            report = run.methods.scoring[method](given).above(threshold.value)
        run.drop_store(circuit)
        return {"found": report.plain(), "seconds": round(time.monotonic() - started, 1)}

    about = run.about(setting=circuit.name, method=method, threshold=value)
    saved = run.results.once(f"{circuit.name}/{method}", about, compute)
    result = score_report(known.truth, known.causal, ReportedCircuit.from_plain(saved["found"]))
    named = {"part": "scores", "setting": circuit.name, **circuit.labels, "method": method, "threshold": value}
    return {**named, **saved, "result": result.plain()}
