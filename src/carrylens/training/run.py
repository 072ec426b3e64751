"""The run: one model trained from its name to its end, however often it is stopped on the way.

Takes  what to train, a folder, and someone to report to.
Gives  the finished model folder.
Never  loses more than the steps since the last checkpoint, and never trains on after a loss that is not a number.

Step by step:
1. Draw the weights from the seed, or take them from the checkpoint.
2. For each step: the stream's batch of that step, the loss over the answer's tokens, one optimiser step.
3. Every LOG_STEPS steps note the mean losses since the last note (or since the run was resumed); when the timer says
   so write the history and a checkpoint.
4. Stop with a clear error if a loss is no number.
5. Save the model with its history, sealed, and drop the checkpoint. Where the recipe has a tail, the weights saved are
   their mean over the last steps.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Protocol

import torch
from torch import Tensor

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.tokens import MINUS
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.folders import MANIFEST
from carrylens.model.answer_pass import answer_logits
from carrylens.model.config import ModelConfig
from carrylens.model.folder import save_model
from carrylens.model.transformer import Transformer
from carrylens.training.averaging import TailAverage
from carrylens.training.batches import Batches, sequences
from carrylens.training.checkpoint import CHECKPOINT, Checkpoint, load_checkpoint, save_checkpoint
from carrylens.training.hard import hard_streams
from carrylens.training.identity import hash_of, machine_of
from carrylens.training.insertion import RESET_STEPS, Placement, insert, put_back
from carrylens.training.losses import answered_right, token_losses
from carrylens.training.optimiser import Optimiser
from carrylens.training.recipes import RecipeKind, TrainingRecipe, recipe_for

HISTORY = "training.jsonl"
LOG_STEPS = 20
_HARD_QUESTIONS = 128  # of each kind
_HARD_EVERY = 10  # notes


@dataclass(frozen=True)
class Plan:
    """What is trained: a name, a recipe and, for insertion, the addition model and where it goes."""

    name: ModelName
    kind: RecipeKind = RecipeKind.COMPACT
    inserted: Transformer | None = None
    inserted_from: str | None = None
    placement: Placement = Placement.EARLY

    def __post_init__(self) -> None:
        if (self.inserted is not None) != bool(self.name.insertion):
            raise CarryLensError(
                f"{self.name} and the model to insert do not go together. "
                "Give one with --insert for a name that begins with ins, and only then."
            )
        if self.name.grokfast:
            raise CarryLensError(
                f"{self.name} asks for grokfast (gf), which no recipe here has. "
                f"Leave it out: {replace(self.name, grokfast=False)}."
            )

    @property
    def recipe(self) -> TrainingRecipe:
        """How it is trained."""
        return recipe_for(self.name, self.kind)

    @property
    def config(self) -> ModelConfig:
        """The shape of what is trained."""
        name = self.name
        return config_of_width(name.digits, name.n_layers, name.n_heads, name.width, name.seed)

    def identity(self) -> dict[str, object]:
        """What must be the same for a run to be resumed."""
        recipe = asdict(self.recipe) | {"kind": self.kind.value, "stream": self.recipe.stream.value}
        return {"name": str(self.name), **recipe, **self._insertion}

    @cached_property
    def _insertion(self) -> dict[str, object]:
        # Names are not enough: two models may have the same.
        if self.inserted is None:
            return {}
        where = {"inserted_from": self.inserted_from, "placement": self.placement.value}
        return {**where, "inserted_sha256": hash_of(self.inserted)}


class Watcher(Protocol):
    """Who is told how a run goes."""

    def note(self, step: int, n_steps: int, line: dict[str, object], /) -> None:
        """Called every LOG_STEPS steps with what was noted."""

    def stop_wanted(self) -> bool:
        """Whether to stop after the step at hand."""
        ...


@dataclass
class Run:
    """A run under way."""

    plan: Plan
    folder: Path
    device: torch.device
    model: Transformer
    optimiser: Optimiser
    average: TailAverage
    machine: dict[str, object]
    step: int = 0
    seconds: float = 0.0
    history: list[dict[str, object]] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether all steps are behind it."""
        return self.step >= self.plan.name.n_steps

    def identity(self) -> dict[str, object]:
        """What is trained, and on what: the same of both gives the same bits on a CPU."""
        return self.plan.identity() | self.machine


def start(plan: Plan, folder: Path, device: torch.device) -> Run:
    """A run at its first step."""
    model = Transformer(plan.config)
    if plan.recipe.silent_start:
        _silence(model)
    if plan.inserted is not None:
        insert(model, plan.inserted, plan.placement)
    model.to(device)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CarryLensError(f"{folder} cannot be made: {error.strerror}. Give another --out.") from error
    average = TailAverage(plan.recipe.tail, plan.name.n_steps)
    return Run(plan, folder, device, model, Optimiser(model, plan.recipe), average, machine_of(device))


def _silence(model: Transformer) -> None:
    for name, weight in model.named_parameters():
        if name.endswith((".W_O", ".W_out")):
            torch.nn.init.zeros_(weight)


def resume(plan: Plan, folder: Path, device: torch.device) -> Run:
    """A run at the step its checkpoint stands at."""
    kept = load_checkpoint(folder, plan.identity() | machine_of(device))
    run = start(plan, folder, device)
    run.model.load_state_dict(kept.weights)
    run.optimiser.load_state(kept.optimiser)
    run.average.load_state(kept.optimiser, run.model, kept.step)
    run.step, run.seconds = kept.step, kept.seconds
    run.history = [
        line for line in _read_history(folder) if isinstance(at := line.get("step"), int) and at <= kept.step
    ]
    return run


def train(run: Run, watcher: Watcher, checkpoint_seconds: float) -> bool:
    """Train to the end and save, or stop when the watcher wants it; True if it came to the end."""
    saved_at = clock = monotonic()
    for line in _steps(run):
        now = monotonic()
        run.seconds, clock = run.seconds + now - clock, now
        if line is not None:
            run.history.append({"step": run.step, **line, "seconds": round(run.seconds, 2)})
            watcher.note(run.step, run.plan.name.n_steps, run.history[-1])
        stopping = watcher.stop_wanted() and not run.done
        if stopping or now - saved_at >= checkpoint_seconds:
            checkpoint(run)
            saved_at = monotonic()
        if stopping:
            return False
    finish(run)
    return True


def checkpoint(run: Run) -> None:
    """Write down where the run stands."""
    _write_history(run)
    weights = {name: tensor.detach().cpu() for name, tensor in run.model.state_dict().items()}
    state = {name: tensor.detach().cpu() for name, tensor in (run.optimiser.state() | run.average.state()).items()}
    save_checkpoint(run.folder, Checkpoint(run.step, run.identity(), run.seconds, weights, state))


def finish(run: Run) -> None:
    """Save the trained model, sealed with its history."""
    _write_history(run)
    save_model(run.model, run.folder, also=(HISTORY,))
    (run.folder / CHECKPOINT).unlink(missing_ok=True)


def prepare_folder(folder: Path, *, resume: bool, restart: bool) -> None:
    """Make sure that nothing is overwritten by mistake; with `restart`, drop what an earlier run left."""
    if resume and restart:
        raise CarryLensError("--resume goes on and --restart starts anew. Write one of them.")
    if restart:
        for name in (MANIFEST, CHECKPOINT, HISTORY):
            (folder / name).unlink(missing_ok=True)
    if (folder / MANIFEST).exists():
        raise CarryLensError(f"{folder} holds a finished model. Give another --out, or --restart to train it anew.")
    if not resume and (folder / CHECKPOINT).exists():
        raise CarryLensError(f"{folder} holds a stopped run. Add --resume to go on, or --restart to start anew.")


def _steps(run: Run) -> Iterator[dict[str, object] | None]:
    # One step at a time; a note after every LOG_STEPS steps.
    plan, recipe, n_steps = run.plan, run.plan.recipe, run.plan.name.n_steps
    batches = Batches(recipe.questions(plan.name), recipe.batch, run.device)
    hard = [sequences(stream, 0, _HARD_QUESTIONS).to(run.device) for stream in hard_streams(plan.name)]
    tally = Tally(plan.name.operation, plan.name.digits)
    while not run.done:
        tokens = batches.at(run.step)
        losses = token_losses(answer_logits(run.model, tokens), tokens)
        loss = losses.mean()
        loss.backward()  # type: ignore[no-untyped-call]
        length = run.optimiser.step(recipe.rate_at(run.step, n_steps))
        tally.add(losses.detach(), tokens)
        if not (math.isfinite(length) and math.isfinite(float(loss.detach()))):
            raise CarryLensError(_not_a_number(run))
        run.step += 1
        if plan.inserted is not None and plan.name.insertion > 1 and run.step % RESET_STEPS == 0:
            put_back(run.model, plan.inserted.to(run.device), plan.name.insertion, plan.placement)
        run.average.add(run.model, run.step)
        if run.done:
            run.average.apply(run.model)
        if run.step % LOG_STEPS and not run.done:
            yield None
            continue
        line = tally.line()
        if run.done or run.step // LOG_STEPS % _HARD_EVERY == 0:
            line["hard"] = _share_right(run.model, hard)
        tally = Tally(plan.name.operation, plan.name.digits)
        yield line


def _not_a_number(run: Run) -> str:
    name, kept = run.plan.name, (run.folder / CHECKPOINT).exists()
    left = f"The last checkpoint in {run.folder} is unharmed" if kept else "There was no checkpoint yet"
    return (
        f"The loss of {name} is not a number after step {run.step}. {left}. "
        f"Train another seed, such as {replace(name, seed=name.seed + 1)}."
    )


class Tally:
    """Losses added up since the last note, for each operation and answer token."""

    def __init__(self, operation: Operation, digits: int) -> None:
        self._digits, self._operation = digits, operation
        self._sums: dict[str, list[Tensor]] = {"add": [], "sub": []}

    def add(self, losses: Tensor, tokens: Tensor) -> None:
        """Count one batch."""
        minus = tokens[:, self._digits] == MINUS
        for name, rows in (("add", ~minus), ("sub", minus)):
            if bool(rows.any()):
                self._sums[name].append(losses[rows])

    def line(self) -> dict[str, object]:
        """Mean loss, and the mean loss of each answer token by operation, sign first."""
        every = torch.cat([losses for batch in self._sums.values() for losses in batch])
        by_operation = {
            name: [float(f"{value:.3g}") for value in torch.cat(batch).mean(0).tolist()]
            for name, batch in self._sums.items()
            if batch
        }
        return {"loss": float(f"{float(every.mean()):.4g}"), "token_losses": by_operation}


@torch.no_grad()
def _share_right(model: Transformer, hard: list[Tensor]) -> float:
    right = [answered_right(answer_logits(model, tokens), tokens).all(1) for tokens in hard]
    each = torch.cat(right)
    return round(int(each.sum()) / len(each), 4)


def _write_history(run: Run) -> None:
    lines = [{"run": run.identity()}, *run.history]
    write_whole(run.folder / HISTORY, "".join(json.dumps(line) + "\n" for line in lines).encode())


def _read_history(folder: Path) -> Iterator[dict[str, object]]:
    path = folder / HISTORY
    for line in path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []:
        yield json.loads(line)
