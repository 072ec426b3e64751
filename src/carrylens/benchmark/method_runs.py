"""DiscoveryMethod runs: every method on every model, one after the other.

Takes  a `BenchmarkRun`.
Gives  a record for each model and method, as soon as it is there; how much is found again with other questions.
Never  does again what is among the saved results, and never scores a method on what its threshold was chosen on.

1. Let each method work on a copy of each model that counts rows. What it finds is kept under a key made of the model's
   hash, the method's name and code, the task's code, the hypotheses, the questions' seed and the version, so it is
   found again whatever the suite, and computed anew once the search has changed.
2. For each method that gives role scores, choose a threshold for each suite on its models of `dev`.
3. Score what it found against the truth, each time anew.
"""

from __future__ import annotations

import hashlib
import json
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from types import CodeType

import msgspec

from carrylens.benchmark.benchmark_run import BenchmarkRun, NamedProgress
from carrylens.benchmark.forward_rows import metered_copy
from carrylens.benchmark.known_models import BenchmarkModel, KnownModel
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.method_interface import DiscoveryMethod, Found, Given
from carrylens.benchmark.run_records import FoundAtCost, ScoreRecord, StabilityRecord
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import node_scores_of, score_found, stated_roles
from carrylens.benchmark.source_hash import source_hash
from carrylens.benchmark.thresholds import DevScores, Threshold, choose_threshold
from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError, reason_of
from carrylens.interventions.keys import digest_of
from carrylens.tasks.fingerprint import fingerprint


@dataclass(frozen=True, eq=False)
class BuiltModel:
    """A model of a suite, built, with its hash."""

    entry: BenchmarkModel
    known: KnownModel

    @cached_property
    def sha256(self) -> str:
        """The hash of shape and weights."""
        return digest_of(self.known.model).hex()


def method_records(run: BenchmarkRun) -> Iterator[Plain]:
    """A record for each model and method; then one for each method and model that was run with several seeds."""
    thresholds: dict[tuple[str, str], Threshold] = {}
    dev: list[BuiltModel] = []  # built once, if a method needs a threshold
    total = len(run.models) * len(run.methods)
    for at, entry in enumerate(run.models):
        built = BuiltModel(entry, entry.build())
        for order, method in enumerate(run.methods):
            run.progress(f"{method.name} on {entry.name}", at * len(run.methods) + order, total)
            done = find_once(run, built, method, entry.seed)
            key = method.name, entry.suite
            if done.has_role_scores and key not in thresholds:
                dev = dev or [BuiltModel(each, each.build()) for each in run.dev]
                thresholds[key] = threshold_of(run, dev, method, entry.suite)
            yield _record(built, method, done, thresholds.get(key))
    for entry in run.repeated if run.n_seeds > 1 else ():
        built = BuiltModel(entry, entry.build())
        for method in run.methods:
            yield _stability(run, built, method, thresholds.get((method.name, entry.suite)))


def find_once(run: BenchmarkRun, built: BuiltModel, method: DiscoveryMethod, seed: int) -> FoundAtCost:
    """What the method finds in the model with questions of this seed, or what was saved of it."""
    entry = built.entry
    known = built.known if seed == entry.seed else replace(built.known, hypotheses=())  # only roles and nodes count
    about = run.about(model=built.sha256, method=method.name, source=method.code, seed=seed)
    about["algorithm"] = fingerprint(known.causal)
    about["hypotheses"] = [_stated(each) for each in known.hypotheses]
    about["questions"] = source_hash(type(known.task).__module__)
    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:24]

    def compute() -> Plain:
        twin, meter = metered_copy(known.model)
        given = replace(run.given(known, entry, key, method.name), model=twin, seed=seed)
        started = time.process_time()
        found = _checked(method, given)
        run.drop_store(key)
        seconds = round(time.process_time() - started, 2)
        plain: Plain = msgspec.to_builtins(FoundAtCost(found.plain(), meter.rows, seconds))
        return plain

    done = msgspec.convert(run.results.once(f"found/{method.name}/{key}", about, compute), FoundAtCost)
    run.spent[f"{method.name}/{key}"] = done.seconds
    return done


def _stated(hypothesis: Hypothesis) -> list[object]:
    """All that a verdict on a hypothesis depends on."""
    families = [hypothesis.required, hypothesis.optional, hypothesis.folded, sorted(hypothesis.places)]
    forms = [_stated(form) for form in hypothesis.forms]
    return [hypothesis.name, fingerprint(hypothesis.model), *families, list(map(str, hypothesis.gates)), forms]


def threshold_of(run: BenchmarkRun, built: list[BuiltModel], method: DiscoveryMethod, suite: str) -> Threshold:
    """The method's threshold, chosen on the suite's own models of the built `dev`; on all if those have no roles."""
    with_roles = [each for each in built if each.known.truth.groups]
    chosen = [each for each in with_roles if each.entry.suite == suite] or with_roles
    dev = []
    for at, each in enumerate(chosen):
        run.progress(f"choosing the threshold of {method.name}", at, len(chosen))
        found = find_once(run, each, method, each.entry.seed).whole
        dev.append(DevScores(found, each.known.truth, each.known.causal))
    if not dev:
        raise CarryLensError(
            f"The method {method.name!r} gives role scores, and there is no model to choose a threshold on. "
            "Give some with the dev split, or return roles."
        )
    return choose_threshold(dev)


def _checked(method: DiscoveryMethod, given: Given) -> Found:
    try:
        found = method.find(given)
    except (Exception, SystemExit) as error:  # whatever goes wrong in the user's code is the user's to mend
        frames = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
        was_stopped = any(code is NamedProgress.__call__.__code__ for code, _ in frames)
        if method.is_ours or was_stopped:
            raise
        raise CarryLensError(f"The method {method.name!r} fails{_place(method, frames)}: {_said(error)}") from error
    if not isinstance(found, Found):
        raise CarryLensError(f"The method {method.name!r} returned {type(found).__name__}. Return a Found.")
    found.check(given, method.name)
    return found


def _place(method: DiscoveryMethod, frames: Sequence[tuple[CodeType, int]]) -> str:
    # The last line of the method's own file that was reached.
    own = getattr(getattr(method.find, "__code__", None), "co_filename", None)
    lines = [line for code, line in frames if code.co_filename == own]
    return f" at {Path(own).name}, line {lines[-1]}" if own and lines else ""


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, CarryLensError) else f"{type(error).__name__}: {reason_of(error)}. Fix it."


def _record(built: BuiltModel, method: DiscoveryMethod, done: FoundAtCost, threshold: Threshold | None) -> Plain:
    known, entry, unthresholded = built.known, built.entry, done.whole
    found = _with_roles(unthresholded, threshold)
    given = Given(known.model, known.task, known.causal)
    deserved = known.truth.deserved
    record = ScoreRecord(
        model=entry.name,
        suite=entry.suite,
        split=entry.split,
        circuit=entry.counted_as,
        sha256=built.sha256,
        method=method.name,
        told=method.told,
        seed=entry.seed,
        threshold=None if threshold is None else threshold.value,
        gives=what_is_given(unthresholded),
        result=score_found(known.truth, given, found),
        verdicts={name: [deserved[name], said] for name, said in found.verdicts.items() if name in deserved},
        stated=list(stated_roles(known.truth, known.causal, found)),
        rows=done.rows,
        seconds=done.seconds,
    )
    return record.plain(entry.labels)


def what_is_given(found: Found) -> list[str]:
    """The fields that a method filled in."""
    names = ("roles", "groups", "role_scores", "node_scores", "edge_scores", "verdicts")
    return [name for name in names if getattr(found, name)]


def _with_roles(found: Found, threshold: Threshold | None) -> Found:
    return found if threshold is None else found.above(threshold.value)


def _stability(run: BenchmarkRun, built: BuiltModel, method: DiscoveryMethod, threshold: Threshold | None) -> Plain:
    sets = []
    for seed in range(run.n_seeds):
        run.progress(f"{method.name} on {built.entry.name}, questions of seed {seed}", seed, run.n_seeds)
        found = _with_roles(find_once(run, built, method, seed).whole, threshold)
        sets.append(_names(found, built.known.truth))
    between = [jaccard(one, other) for one, other in combinations(sets, 2)]
    shares = [each for each in between if each is not None]
    lowest, mean = (min(shares), sum(shares) / len(shares)) if shares else (None, None)
    record = StabilityRecord(
        model=built.entry.name,
        suite=built.entry.suite,
        method=method.name,
        circuit=built.entry.counted_as,
        n_seeds=run.n_seeds,
        sha256=built.sha256,
        jaccard=mean,
        lowest=lowest,
    )
    plain: Plain = msgspec.to_builtins(record)
    return plain


def jaccard(one: set[str], other: set[str]) -> float | None:
    """The share of what is in either that is in both; None of nothing.

    >>> jaccard({"a", "b"}, {"b", "c", "d"})
    0.25
    """
    return len(one & other) / len(one | other) if one | other else None


def _names(found: Found, truth: KnownTruth) -> set[str]:
    # Roles where a method has them; else as many of the highest nodes as the circuit has.
    if found.roles:
        return {f"{role} {role.output}" for role in found.roles}
    scores = node_scores_of(found)
    return {str(node) for node in sorted(scores, key=lambda node: (-scores[node], node))[: len(truth.roles)]}
