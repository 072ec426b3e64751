"""The run: one model trained from its plan to its end, however often it is stopped on the way.

Takes  a plan, a folder, and someone to report to.
Gives  the finished model folder.
Never  loses more than the steps since the last checkpoint, and never trains on after a loss that is not a number.

Step by step:
1. Draw the weights from the seed, or take them from the checkpoint.
2. For each step: the population's batch of that step, the loss over the outputs, one optimiser step.
3. Every LOG_STEPS steps note the mean losses since the last note (or since the run was resumed); when the timer says
   so write the history and a checkpoint.
4. Stop with a clear error if a loss is no number.
5. Save the model with its history, sealed, and drop the checkpoint. Where the recipe has a tail, the weights saved are
   their mean over the last steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Protocol

import torch

from carrylens.errors import CarryLensError, reason_of
from carrylens.files import make_folder, read_whole, write_whole
from carrylens.folders import MANIFEST, settle
from carrylens.model.answer_pass import answer_logits
from carrylens.model.folder import save_model
from carrylens.model.transformer import Transformer
from carrylens.model.weights import check_weights
from carrylens.tasks.layout import Layout
from carrylens.training.averaging import TailAverage
from carrylens.training.batches import Examples, draw_examples
from carrylens.training.checkpoint import CHECKPOINT, Checkpoint, load_checkpoint, save_checkpoint
from carrylens.training.devices import machine_of
from carrylens.training.history import HISTORY, HistoryNote, history_text, read_history
from carrylens.training.insertion import RESET_STEPS, insert, put_back
from carrylens.training.losses import answered_right, output_logits
from carrylens.training.objectives import objective_of
from carrylens.training.optimiser import Optimiser
from carrylens.training.plan import TrainingPlan
from carrylens.training.tally import LossTally

LOG_STEPS = 20
_HARD_QUESTIONS = 128  # of each population
_HARD_EVERY = 10  # notes
_HARD_SEED = 271828


class TrainingMonitor(Protocol):
    """Who is told how a run goes."""

    def note(self, step: int, n_steps: int, line: dict[str, object], /) -> None:
        """Called every LOG_STEPS steps with what was noted."""

    def stop_wanted(self) -> bool:
        """Whether to stop after the step at hand."""
        ...


@dataclass
class TrainingRun:
    """A run under way."""

    plan: TrainingPlan
    folder: Path
    device: torch.device
    model: Transformer
    optimiser: Optimiser
    average: TailAverage
    machine: dict[str, object]
    step: int = 0
    seconds: float = 0.0
    history: list[HistoryNote] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether all steps are behind it."""
        return self.step >= self.plan.n_steps

    def identity(self) -> dict[str, object]:
        """What is trained, and on what: the same of both gives the same bits on a CPU."""
        return self.plan.identity() | self.machine


def start(plan: TrainingPlan, folder: Path, device: torch.device) -> TrainingRun:
    """A run at its first step."""
    model = Transformer(plan.config)
    model.task = plan.task
    if plan.recipe.silent_start:
        _silence(model)
    if plan.insertion is not None:
        insert(model, plan.insertion.model, plan.insertion.placement)
    model.to(device)
    make_folder(folder, "Give another --out.")
    average = TailAverage(plan.recipe.tail, plan.n_steps)
    return TrainingRun(plan, folder, device, model, Optimiser(model, plan.recipe), average, machine_of(device))


def _silence(model: Transformer) -> None:
    for name, weight in model.named_parameters():
        if name.endswith((".W_O", ".W_out")):
            torch.nn.init.zeros_(weight)


def resume(plan: TrainingPlan, folder: Path, device: torch.device) -> TrainingRun:
    """A run at the step its checkpoint stands at."""
    kept = load_checkpoint(folder, plan.identity() | machine_of(device))
    run = start(plan, folder, device)
    try:
        check_weights(plan.config, kept.weights, str(folder / CHECKPOINT))
        run.model.load_state_dict(kept.weights)
        run.optimiser.load_state(kept.optimiser)
        run.average.load_state(kept.optimiser, run.model, kept.step)
    except CarryLensError:
        raise
    except (KeyError, ValueError, RuntimeError, TypeError) as error:
        reason = reason_of(error).rstrip(".")
        raise CarryLensError(
            f"{folder / CHECKPOINT} does not fit this run: {reason}. Train anew with --restart."
        ) from error
    run.step, run.seconds = kept.step, kept.seconds
    notes = _read_notes(folder) if kept.history is None else kept.history
    run.history = [line for line in notes if line["step"] <= kept.step]
    return run


def train(run: TrainingRun, monitor: TrainingMonitor, checkpoint_seconds: float) -> bool:
    """Train to the end and save, or stop when the monitor wants it; True if it came to the end."""
    saved_at = clock = monotonic()
    for line in _steps(run):
        now = monotonic()
        run.seconds, clock = run.seconds + now - clock, now
        if line is not None:
            run.history.append({"step": run.step, **line, "seconds": round(run.seconds, 2)})
            monitor.note(run.step, run.plan.n_steps, run.history[-1])
        stopping = monitor.stop_wanted() and not run.done
        if stopping or now - saved_at >= checkpoint_seconds:
            checkpoint(run)
            saved_at = monotonic()
        if stopping:
            return False
    finish(run)
    return True


def checkpoint(run: TrainingRun) -> None:
    """Write down where the run stands."""
    _write_history(run)
    weights = {name: tensor.detach().cpu() for name, tensor in run.model.state_dict().items()}
    state = {name: tensor.detach().cpu() for name, tensor in (run.optimiser.state() | run.average.state()).items()}
    save_checkpoint(run.folder, Checkpoint(run.step, run.identity(), run.seconds, weights, state, run.history))


def finish(run: TrainingRun) -> None:
    """Save the trained model, sealed with its history."""
    save_model(run.model, run.folder, beside={HISTORY: _history(run)})
    (run.folder / CHECKPOINT).unlink(missing_ok=True)


def prepare_folder(folder: Path, *, resume: bool, restart: bool) -> None:
    """Make sure that nothing is overwritten by mistake; with `restart`, drop what an earlier run left."""
    settle(folder)
    if resume and restart:
        raise CarryLensError("--resume continues a stopped run and --restart begins again. Write one of them.")
    if restart:
        for name in (MANIFEST, CHECKPOINT, HISTORY):
            (folder / name).unlink(missing_ok=True)
    if (folder / MANIFEST).exists():
        (folder / CHECKPOINT).unlink(missing_ok=True)  # of a run that was killed when it had saved its model
        raise CarryLensError(f"{folder} holds a finished model. Give another --out, or --restart to train it anew.")
    if not resume and (folder / CHECKPOINT).exists():
        raise CarryLensError(f"{folder} holds a stopped run. Add --resume to go on, or --restart to start anew.")


def _steps(run: TrainingRun) -> Iterator[dict[str, object] | None]:
    # One step at a time; a note after every LOG_STEPS steps.
    plan, recipe, layout = run.plan, run.plan.recipe, run.plan.task.layout
    objective = objective_of(plan, run.device)
    hard = [draw_examples(plan.task, each, _HARD_SEED, 0, _HARD_QUESTIONS).to(run.device) for each in plan.hard]
    tally = _tally(plan)
    while not run.done:
        losses = objective.losses(run.model, run.step)
        losses.total.backward()  # type: ignore[no-untyped-call]
        length = run.optimiser.step(recipe.rate_at(run.step, plan.n_steps))
        tally.add(losses.outputs.detach(), losses.condition, losses.also)
        if not (math.isfinite(length) and math.isfinite(float(losses.total.detach()))):
            raise CarryLensError(_not_a_number(run))
        run.step += 1
        if run.step % RESET_STEPS == 0:
            _restore(run)
        run.average.add(run.model, run.step)
        if run.done:
            run.average.apply(run.model)
        if run.step % LOG_STEPS and not run.done:
            yield None
            continue
        line = tally.line()
        if hard and (run.done or run.step // LOG_STEPS % _HARD_EVERY == 0):
            line["hard"] = _share_right(run.model, hard, layout)
        tally = _tally(plan)
        yield line


def _tally(plan: TrainingPlan) -> LossTally:
    return LossTally([condition.name for condition in plan.task.watched])


def _restore(run: TrainingRun) -> None:
    if insertion := run.plan.insertion:
        put_back(run.model, insertion.model.to(run.device), insertion.restored, insertion.placement)


def _not_a_number(run: TrainingRun) -> str:
    plan, kept = run.plan, (run.folder / CHECKPOINT).exists()
    left = f"The last checkpoint in {run.folder} is unharmed" if kept else "There was no checkpoint yet"
    return (
        f"The loss of {plan.name} is not a number after step {run.step}. {left}. "
        f"Train another seed, such as {plan.next_name or plan.seed + 1}."
    )


@torch.no_grad()
def _share_right(model: Transformer, hard: Sequence[Examples], layout: Layout) -> float:
    given = [(output_logits(answer_logits(model, each.tokens), layout), each.wanted) for each in hard]
    right = [answered_right(logits, wanted).all(1) for logits, wanted in given]
    each = torch.cat(right)
    return round(int(each.sum()) / len(each), 4)


def _write_history(run: TrainingRun) -> None:
    write_whole(run.folder / HISTORY, _history(run))


def _history(run: TrainingRun) -> bytes:
    return history_text(run.identity(), run.history).encode()


def _read_notes(folder: Path) -> list[HistoryNote]:
    # Of a run whose checkpoint is of an earlier version: it left them to this file.
    path = folder / HISTORY
    return read_history(read_whole(path), str(path))[1:] if path.exists() else []
