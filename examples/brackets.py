"""Another task: balanced brackets, declared, trained, tested, mapped, judged against a rival, and a method scored.

    python examples/brackets.py [--small] [FOLDER]

A row of brackets is balanced if no prefix closes more than it opens, and all that is opened is closed. Nothing in
carrylens knows about brackets: this file declares the task, and everything else follows from what it declares.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import torch

from carrylens.benchmark.carrylens_map import as_found
from carrylens.benchmark.known_truth import KnownTruth, TrueGroup
from carrylens.benchmark.scores import CircuitScore, score_roles
from carrylens.claims.hypothesis import Hypothesis
from carrylens.claims.judgement import Judgement, judge
from carrylens.discovery.node_map import NodeMap
from carrylens.discovery.node_search import MapSettings, map_model
from carrylens.model import ModelConfig, Transformer
from carrylens.tasks import Batch, CausalModel, Family, Layout, Mechanism, Slot, Task, Uniform, VariableKind
from carrylens.tasks.batches import Column, Columns
from carrylens.tasks.draws import below, draw
from carrylens.training.exam import blank_results, population_parts, sit
from carrylens.training.exam_results import PartResult
from carrylens.training.plan import TrainingPlan
from carrylens.training.recipe import TrainingRecipe
from carrylens.training.run import start, train

# 1. The variables. A family owns its values, how they are written, what they mean and how they are coloured.
PREFIX = VariableKind("prefix", "what a prefix says", ("#fbeeb0", "#6b5600"), ("#4a3f0c", "#f3dd83"), "yellow")
T = Family("T", (0, 1), "bracket", labels=("(", ")"), title="bracket")
F = Family("F", (0, 1), "1 if the prefix up to here closes more than it opens", PREFIX, title="prefix fails")
ANY = Family("ANY", (0, 1), "1 if some prefix fails")
EQ = Family("EQ", (0, 1), "1 if as many are closed as opened")
S = Family("S", tuple(range(12)), "rival: how many are open after this bracket; 11 once a prefix has failed")
OK = Family("OK", (0, 1), "1 if the row is balanced", labels=("no", "yes"))
DEAD = 11


def fails(*row: Column) -> Column:
    """Whether more of these are closed than opened."""
    return 2 * np.sum(row, axis=0) > len(row)


def step(bracket: Column, before: Column | int = 0) -> Column:
    """The rival's rule: one more open, one less, or dead for ever."""
    after = before + 1 - 2 * bracket
    return np.where((np.asarray(before) == DEAD) | (after < 0), DEAD, after)


def prefix_checks(n: int) -> CausalModel:
    """Every prefix is checked by itself, then all the checks together, then the totals."""
    row = tuple(T[k] for k in range(n))

    def mechanisms() -> Iterator[Mechanism]:
        for k in range(n):
            yield Mechanism(F[k], row[: k + 1], fails)
        yield Mechanism(ANY.variable, tuple(F[k] for k in range(n)), lambda *checks: np.any(checks, axis=0))
        yield Mechanism(EQ.variable, row, lambda *brackets: 2 * np.sum(brackets, axis=0) == n)
        yield Mechanism(OK.variable, (ANY.variable, EQ.variable), lambda any_fails, equal: equal * (1 - any_fails))

    return CausalModel("prefix checks", (T, F, ANY, EQ, OK), row, (OK.variable,), tuple(mechanisms()), **_drawn(n))


def running_stack(n: int) -> CausalModel:
    """The rival: one counter goes through the row from left to right."""
    row = tuple(T[k] for k in range(n))
    steps = [Mechanism(S[k], (T[k], *S.below(k)), step) for k in range(n)]
    last = Mechanism(OK.variable, (S[n - 1],), lambda state: state == 0)
    return CausalModel("running stack", (T, S, OK), row, (OK.variable,), (*steps, last), **_drawn(n))


@dataclass(frozen=True)
class NearlyBalanced:
    """Rows of which half are balanced, and the others have one or two brackets turned."""

    n: int

    def draw(self, seed: int, start: int, count: int) -> Batch:
        """Rows `start` to `start + count - 1`: each depends on the seed and its own number alone."""
        draws = draw((seed, self.n), start, count, 4)
        chosen = _balanced_rows(self.n)
        rows = chosen[below(draws[:, 0], len(chosen))]
        for column, share in ((1, 0.5), (2, 0.25)):
            turned = np.arange(self.n) == below(draws[:, column], self.n)[:, None]
            rows = rows ^ (turned & (draws[:, 3] < share * 2.0**32)[:, None])
        return Batch([T[k] for k in range(self.n)], rows.astype(np.int8))


@cache
def _balanced_rows(n: int) -> Columns:
    every = np.array(list(product((0, 1), repeat=n)), dtype=np.int8)
    depth = np.cumsum(1 - 2 * every, axis=1)
    return every[(depth.min(axis=1) >= 0) & (depth[:, -1] == 0)]


def _drawn(n: int) -> dict[str, object]:
    return {"population": NearlyBalanced(n), "fed_back": False}


# 2. The task: where each bracket stands, where the answer is read, how rows are drawn.
def brackets(n: int) -> Task:
    """Balanced or not, of rows of `n` brackets; the answer is read at `?`."""
    slots = (*(Slot(f"T{k}", input=T[k]) for k in range(n)), Slot("?", token="?", reads=OK.variable))
    layout = Layout(("(", ")", "?"), slots, (T, OK), output_vocabulary=("no", "yes"))
    uniform = Uniform(tuple((T[k], (0, 1)) for k in range(n)))
    samplers = {"enriched": NearlyBalanced(n), "natural": uniform}
    return Task(f"{n} brackets", prefix_checks(n), layout, samplers, rivals=(running_stack(n),))


def task() -> Task:
    """What `--task examples/brackets.py` declares."""
    return brackets(12)


# 3. Train and test.
class Silent:
    """Watches a training run and says nothing."""

    def note(self, step: int, n_steps: int, line: dict[str, object], /) -> None:
        """Do nothing."""

    def stop_wanted(self) -> bool:
        """Never."""
        return False


def trained(task: Task, folder: Path, n_steps: int) -> Transformer:
    """A model of two layers that was trained on the task."""
    layout = task.layout
    config = ModelConfig(
        2, 2, 32, 16, 128, n_ctx=layout.n_positions, d_vocab=3, d_vocab_out=2, reads=layout.reads, seed=1
    )
    plan = TrainingPlan("brackets", task, config, TrainingRecipe(), task.samplers["enriched"], n_steps, seed=1)
    run = start(plan, folder, torch.device("cpu"))
    train(run, Silent(), checkpoint_seconds=60)
    run.model.task = task
    return run.model.eval()


def tested(model: Transformer, task: Task, count: int) -> list[PartResult]:
    """How often it is wrong, on each population."""
    parts = population_parts(task, count)
    results = blank_results(parts)
    for _ in sit(model, task, parts, results):
        pass
    return results


# 4. Map and judge.
def judged(found: NodeMap, n: int) -> Judgement:
    """Whether the model runs the prefix checks, beside the rival."""
    ours = Hypothesis("prefix checks", prefix_checks(n), required=("F", "ANY", "EQ", "OK"))
    rival = Hypothesis("running stack", running_stack(n), required=("S", "OK"))
    return judge(found, ours, [rival])


# 5. A circuit of known truth: weights that were written down, not trained.
def wired(task: Task, n: int) -> tuple[Transformer, KnownTruth]:
    """Heads of layer 0 average the row so far; their MLP checks the sign; a head of layer 1 gathers the checks."""
    config = ModelConfig(
        2, 1, 8, 2, 8, n_ctx=n + 1, d_vocab=3, d_vocab_out=2, reads=task.layout.reads, normalization="none"
    )
    model = Transformer(config)
    bracket, mean, fail, unequal, gathered, scale = 0, 1, 2, 3, 4, float(n + 1)
    state = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    state["embed.W_E"][:, bracket] = torch.tensor([1.0, -1.0, 0.0])
    for layer, (read, write) in enumerate(((bracket, mean), (fail, gathered))):
        state[f"blocks.{layer}.attn.W_V"][0, read, 0] = 1.0  # scores are 0, so attention is even over all before
        state[f"blocks.{layer}.attn.W_O"][0, 0, write] = 1.0
    signs, targets = (-1.0, -1.0, 1.0, 1.0, -1.0, -1.0), (fail, fail, *(unequal,) * 4)
    for neuron, (sign, target) in enumerate(zip(signs, targets, strict=True)):  # a step is one ReLU less another
        state["blocks.0.mlp.W_in"][mean, neuron] = sign * scale
        state["blocks.0.mlp.b_in"][neuron] = -float(neuron % 2)
        state["blocks.0.mlp.W_out"][neuron, target] = 1.0 - 2.0 * (neuron % 2)
    state["unembed.W_U"][unequal, 0], state["unembed.W_U"][gathered, 0] = 10.0, 10.0 * scale
    state["unembed.b_U"][1] = 5.0
    model.load_state_dict(state)
    model.task = task
    checks = [TrueGroup.of(F[k], f"P{k}L0MLP") for k in range(n)]
    brought = [TrueGroup.of(F[k], f"P{k}L0H0", brings_inputs=True) for k in range(n)]
    total = [TrueGroup.of("EQ", f"P{n}L0MLP"), TrueGroup.of("EQ", f"P{n}L0H0", brings_inputs=True)]
    return model.eval(), KnownTruth((*checks, *brought, *total, TrueGroup.of("ANY", f"P{n}L1H0")))


def scored(task: Task, n: int, settings: MapSettings) -> CircuitScore:
    """How much of the wired circuit our map finds, and how much of what it finds is there."""
    model, truth = wired(task, n)
    found = map_model(model, "wired", task, settings).map
    return score_roles(truth, task.causal, as_found(found.roles, [group.nodes for group in found.groups]))


def main(folder: Path, small: bool = False) -> list[str]:
    """The lines that are printed; the small form takes seconds and says less."""
    n, n_steps, count = (6, 300, 500) if small else (12, 2000, 20_000)
    settings = replace(MapSettings.chosen(quick=True), groups=not small)
    task = brackets(n)
    torch.set_num_threads(1)  # another number of threads rounds otherwise, and trains another model
    model = trained(task, folder, n_steps)
    lines = [f"{result.name}: {result.failed} of {result.asked} wrong" for result in tested(model, task, count)]
    row = "(" * (n // 2) + ")" * (n // 2)
    lines.append(f"is {row} balanced? {model.answer(row + '?')}")
    found = map_model(model, "brackets", task, settings).map
    lines.append(f"{len(found.useful)} of {len(found.nodes)} nodes are useful; {len(found.roles)} roles")
    verdict = judged(found, n)
    for each in (verdict, *(rival.judgement for rival in verdict.rivals)):
        lines.append(f"{each.hypothesis.name}: {each.verdict.name.replace('_', ' ').lower()}")
    score = scored(task, n, settings).roles
    lines.append(f"wired circuit: {score.n_both} of {score.n_true} true roles found, {score.n_found} reported")
    return lines


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--small"]
    with tempfile.TemporaryDirectory() as scratch:
        sys.stdout.write("\n".join(main(Path(words[0] if words else scratch), "--small" in sys.argv)) + "\n")
