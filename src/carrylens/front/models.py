"""Models: load one, train one, ask it, test it, see where it looks.

Takes  a name, a folder, `hf:owner/repository`, a file of weights, or a model in memory.
Gives  models, answers, tests, attention.
Never  imports PyTorch before a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.errors import CarryLensError
from carrylens.front.progress_display import progress_display, training_display

if TYPE_CHECKING:
    from carrylens.front.question_views import Asked, AttentionPicture
    from carrylens.front.views import Examined, Trained
    from carrylens.model.source import ModelSource
    from carrylens.model.transformer import Transformer
    from carrylens.progress import Progress
    from carrylens.tasks.task import Task
    from carrylens.training.run import TrainingMonitor


def load(
    model: str | Path,
    *,
    task: Task | str | None = None,
    digits: int | None = None,
    layout: Mapping[str, Any] | Sequence[str] = (),
    n_heads: int | None = None,
    act_fn: str | None = None,
    normalization: str | None = None,
    eps: float | None = None,
    folder: str | Path | None = None,
) -> Transformer:
    """The model called so: a shipped model, a model folder, `hf:owner/repository`, or a file of weights.

    A file that someone else saved (`.pt`, `.pth`, `.bin`, `.safetensors`; TransformerLens, GPT-2 or a plain state
    dict) needs a `task`: one of your own, or `add`, `sub` or `mix` with `digits` and, where questions are not written
    the paper's way, a `layout` such as `{"units_first": True}`. What weights do not show is given by the other names.
    With `folder` the model is also saved there, as a model folder that every command takes. A model folder needs a
    `task` where it is one of your own: the `Task`, or the Python file that declares it, which is then run.
    """
    from carrylens.workflow.given_models import is_foreign, load_file, load_folder
    from carrylens.workflow.importing import Unseen, save_imported

    if not is_foreign(model, task, digits):
        return load_folder(str(model), task)
    loaded = load_file(Path(model), task, digits, layout, Unseen(n_heads, act_fn, normalization, eps))
    if folder is not None:
        save_imported(loaded, Path(folder))
        loaded.given = str(folder)
    return loaded


def ask(model: str | Path | Transformer, *questions: str, skip_errors: bool = False) -> Asked:
    """What the model answers, decoded token by token, and whether that is right: `ask(model, "45+7", "99+1")`.

    A question that the model cannot take is an error; with `skip_errors` it is left out, and stands in `.results`.
    """
    from carrylens.front.question_views import Asked
    from carrylens.workflow.given_models import name_of, source_of
    from carrylens.workflow.questions import ask_texts

    loaded = source_of(model).load() if isinstance(model, str | Path) else model
    results = ask_texts(loaded, questions)
    for result in results:
        if isinstance(result, CarryLensError) and not skip_errors:
            raise result
    return Asked(name_of(model), tuple(results))


def attention(model: str | Path | Transformer, question: str) -> AttentionPicture:
    """Where every head looks while the model reads a question with its answer."""
    from carrylens.front.question_views import AttentionPicture
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.questions import attention_patterns

    loaded = source_of(model).load()
    tokens, patterns = attention_patterns(loaded, question)
    return AttentionPicture(question, tokens, patterns)


def train(
    name: str,
    *,
    out: str | Path | None = None,
    recipe: str = "compact",
    insert: str | None = None,
    placement: str = "early",
    layout: str = "paper",
    population: str | None = None,
    aligned: str | Path | None = None,
    resume: bool | None = None,
    restart: bool = False,
    device: str = "cpu",
    threads: int = 1,
    checkpoint_seconds: float = 30.0,
    progress: bool | Progress | TrainingMonitor = True,
) -> Trained:
    """Train the model that a name describes, such as `add_d3_l2_h3_w48_t1K_s1`, in `models/NAME` or in `out`.

    A finished model is only loaded, and a stopped run goes on, unless `restart` is True; with `resume` False a folder
    that holds either is an error. `aligned` is a file that states an alignment to train under. `layout` is how
    questions are written: paper, unsigned or equals; `population` which they are, if not the recipe's: natural, paper,
    enriched or structured.
    """
    from carrylens.files import place_here
    from carrylens.front.views import Trained
    from carrylens.workflow.training import train_in, training_plan

    stated = None if aligned is None else Path(aligned)
    plan = training_plan(name, recipe, insert, placement, stated, layout, population)
    usual = Path("models") / ".".join([name, *([] if layout == "paper" else [layout]), *filter(None, [population])])
    folder = place_here(usual) if out is None else Path(out)
    with training_display(name, progress) as monitor:
        done = train_in(plan, folder, device, threads, monitor, checkpoint_seconds, resume=resume, restart=restart)
    if done.finished:
        done.model.given = str(folder)
    return Trained(name, folder, done.model, done.history, done.finished, done.acceptance, done.step)


def test(
    model: str | Path | ModelSource | Transformer,
    *,
    questions: int = 10_000,
    per_class: int = 1_000,
    of: Sequence[str] = (),
    exhaustive: bool = False,
    keep: bool = True,
    own_folder: bool = False,
    restart: bool = False,
    device: str = "cpu",
    threads: int = 0,
    progress: bool | Progress = True,
) -> Examined:
    """How often the model fails: on `questions` of each population and operation, `per_class` of each class and depth.

    `of` sets the number of one population, such as `enriched=400000`; `exhaustive` takes every question there is
    instead. A saved test of these weights on as many questions is taken; a new one is kept beside the model, or in
    `maps/NAME`, unless `keep` is False, and with `own_folder` always in the model's own folder. Stopped work goes on
    when it is called again.
    """
    from carrylens.front.views import Examined
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.testing import start_exam, start_exhaustive, take_test

    source = source_of(model)
    if exhaustive:
        exam = start_exhaustive(source, device, threads)
    else:
        exam = start_exam(source, questions, per_class, device, threads, of)
    with progress_display(source.name, progress) as say:
        found = take_test(exam, say, keep=keep, own=own_folder, restart=restart)
    return Examined(found.figures, found.path, found.is_known, found.notes, found.not_saved)
