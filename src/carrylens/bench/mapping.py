"""The map benchmark: seconds of a whole map, and of one interchange in it.

Takes  a model with its task, how much evidence, and where an earlier version of carrylens lies.
Gives  seconds of this version's map and of the earlier one's on the same model in one run, and how they part into
       stages; seconds an interchange, beside the same interchanges as TransformerLens hooks.
Never  counts loading, and never compares interchanges whose answers differ.

Seconds of work are those of the process, whatever else the machine does; seconds by the clock stand beside them.
The earlier version runs in a process of its own, with its own code, on the same weights.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch

from carrylens.discovery.interchange_outcomes import draw_stimuli, interchanges
from carrylens.discovery.map_folder import STORE
from carrylens.discovery.node_search import MapSettings, map_model, nodes_of
from carrylens.discovery.roles import able_sets, searched_claims
from carrylens.discovery.stimulus_spec import Split
from carrylens.errors import CarryLensError
from carrylens.interventions.engine import Engine
from carrylens.interventions.waves import Waves
from carrylens.model.exchange import to_transformer_lens
from carrylens.model.source import ModelSource
from carrylens.model.transformer import Transformer
from carrylens.tasks.pairs import Pairs
from carrylens.tasks.task import Task

_CLAIMS = 12  # whose interchanges are timed one by one

_EARLIER = """
import json, sys, tempfile, time
from pathlib import Path
import torch
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.discovery.node_search import MapSettings, map_model
given = json.loads(sys.argv[1])
torch.set_num_threads(given["threads"])
source = find_source(given["model"])
model = source.load()
with tempfile.TemporaryDirectory() as folder:
    clock, work = time.perf_counter(), time.process_time()
    settings = MapSettings.chosen(0, quick=given["quick"])
    mapped = map_model(model, source.name, source.task, settings, store=Path(folder) / "outcomes.sqlite")
    said = {"clock": time.perf_counter() - clock, "work": time.process_time() - work, "roles": len(mapped.map.roles)}
print(json.dumps(said))
"""


@dataclass(frozen=True)
class TimedMap:
    """One map: seconds by the clock, seconds of work, how many roles it has, and seconds of work by stage."""

    clock: float
    work: float
    roles: int
    stages: Mapping[str, float]


@dataclass(frozen=True)
class TimedInterchanges:
    """So many interchanges, seconds for one of ours and one by TransformerLens hooks, and how many answers differ."""

    n_rows: int
    ours: float
    lens: float | None
    n_different: int | None


@dataclass(frozen=True)
class MapBench:
    """What one run measured; `earlier` is None where no earlier version was named."""

    model: str
    threads: int
    quick: bool
    ours: TimedMap
    earlier: TimedMap | None
    interchanges: TimedInterchanges

    @property
    def ratio(self) -> float | None:
        """How many times less work ours is than the earlier version."""
        return None if self.earlier is None else self.earlier.work / self.ours.work


def bench_map(source: ModelSource, *, quick: bool, earlier: Path | None = None) -> MapBench:
    """Map the model, with this version and with the earlier one; then time interchanges one by one."""
    model, task, threads = source.load(), source.task, torch.get_num_threads()
    before = None if earlier is None else _earlier(source, earlier, quick=quick, threads=threads)
    with tempfile.TemporaryDirectory() as folder:
        ours = timed_map(model, task, source.name, MapSettings.chosen(0, quick=quick), Path(folder) / STORE)
    return MapBench(source.name, threads, quick, ours, before, timed_interchanges(model, task))


def timed_map(model: Transformer, task: Task, name: str, settings: MapSettings, store: Path | None = None) -> TimedMap:
    """One map of a model."""
    clock, work = perf_counter(), process_time()
    stages: dict[str, float] = {}
    last = work

    def watch(what: str, _done: int, _total: int) -> None:
        nonlocal last
        now = process_time()
        stages[what] = stages.get(what, 0.0) + now - last
        last = now

    mapped = map_model(model, name, task, settings, store=store, watch=watch)
    return TimedMap(perf_counter() - clock, process_time() - work, len(mapped.map.roles), stages)


def timed_interchanges(model: Transformer, task: Task, n_claims: int = _CLAIMS) -> TimedInterchanges:
    """The interchanges of single nodes for some claims, in one wave, and each as hooks of a pass of its own.

    Each is asked for the output that its pairs were made for, as a map does, and compared there.
    """
    spec = MapSettings.chosen(0, quick=True).roles.stimuli(Split.FIND)
    claims = list(searched_claims(task.causal))
    calls = []
    for variable, token in claims[:: max(1, len(claims) // n_claims)]:
        sets = able_sets(task.causal, task.layout, variable, [(node,) for node in nodes_of(model)], token)
        if sets:
            calls.append((sets, draw_stimuli(task, task.causal, variable, spec, token).effect, token))
    asked = [interchanges(*call) for call in calls]
    n_rows = sum(len(call.edits) * len(call.questions) for call in asked)
    with Engine(model, task) as engine:
        work = process_time()
        found = [each.tokens for each in Waves(engine).run(asked)]
        ours = (process_time() - work) / n_rows
    if find_spec("transformer_lens") is None:
        return TimedInterchanges(n_rows, ours, None, None)
    run = _lens_loop(model, task)
    work = process_time()
    theirs = [run(sets, pairs) for sets, pairs, _ in calls]
    seconds = (process_time() - work) / n_rows
    outputs = [token for *_, token in calls]
    answers = zip(found, theirs, outputs, strict=True)
    different = sum(int((one[..., token] != other[..., token]).sum()) for one, other, token in answers)
    return TimedInterchanges(n_rows, ours, seconds, different)


def _lens_loop(model: Transformer, task: Task) -> Callable[[Any, Pairs], np.ndarray]:
    # One hooked pass a set over all pairs, the sources' activations from one cached pass.
    lens, read = to_transformer_lens(model), model.config.reads

    @torch.inference_mode()
    def run(sets: Any, pairs: Pairs) -> np.ndarray:
        base, source = (torch.from_numpy(task.token_ids(side)) for side in (pairs.base, pairs.source))
        _, cache = lens.run_with_cache(source)
        found = []
        for ((node,),) in ((nodes,) for nodes in sets):
            name = f"blocks.{node.layer}.{'hook_mlp_out' if node.head is None else 'attn.hook_z'}"
            site = (slice(None), node.position) if node.head is None else (slice(None), node.position, node.head)

            def put(activation: torch.Tensor, hook: Any, name: str = name, site: Any = site) -> torch.Tensor:  # noqa: ARG001
                activation[site] = cache[name][site]
                return activation

            logits = lens.run_with_hooks(base, fwd_hooks=[(name, put)])
            found.append(logits[:, read.start : read.stop].argmax(-1).to(torch.int8).numpy())
        return np.stack(found)

    return run


def _earlier(source: ModelSource, folder: Path, *, quick: bool, threads: int) -> TimedMap:
    if not (folder / "carrylens" / "__init__.py").is_file():
        raise CarryLensError(f"{folder} does not hold carrylens. Give the src folder of an earlier version's checkout.")
    given = json.dumps({"model": str(source.folder or source.name), "quick": quick, "threads": threads})
    known = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", _EARLIER, given], env=known, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CarryLensError(f"The earlier version in {folder} did not map {source.name}: {done.stderr.strip()[-300:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    return TimedMap(said["clock"], said["work"], said["roles"], {})


def map_lines(measured: MapBench) -> Iterator[str]:
    """What was measured, in words."""
    ours, many = measured.ours, measured.interchanges
    kind, threads = "quick map" if measured.quick else "map", f"{measured.threads} thread{'s' * (measured.threads > 1)}"
    yield f"{measured.model}, {kind}, {threads}: {ours.work:.1f} s of work, {ours.clock:.1f} s by the clock."
    if measured.earlier is not None:
        yield (
            f"The earlier version: {measured.earlier.work:.1f} s of work, {measured.earlier.clock:.1f} s by the clock: "
            f"{measured.ratio:.1f} times as much work."
        )
    for stage, seconds in sorted(ours.stages.items(), key=lambda each: -each[1]):
        yield f"{seconds:8.1f} s  {stage}"
    yield f"{many.n_rows:,} interchanges: {1e6 * many.ours:.0f} microseconds each." + (
        " TransformerLens is not installed here; make parity installs it."
        if many.lens is None
        else f" As TransformerLens hooks {1e6 * many.lens:.0f}: {many.lens / many.ours:.1f} times as many; "
        f"{many.n_different} answers differ."
    )
